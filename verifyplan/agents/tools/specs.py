"""The tools as the API is told of them: names, descriptions in plain words, schemas of arguments (rules A12, G4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from verifyplan.agents.tools.arguments import ARGUMENTS
from verifyplan.protocol.call import Tool

DESCRIPTIONS: Mapping[Tool, str] = {
    "Read": (
        "Shows a text file of the repository, or a document of this task such as the plan, with line numbers in front:"
        " at most 400 lines unless last says more, and always at most 60,000 characters; it says how many lines there"
        " are. Use first and last to read further. Only files of the repository can be read: nothing outside it,"
        " nothing that git ignores, nothing that looks like keys or passwords, no binary file and none above 2 MB. Each"
        " call counts against your budget; to ask for exactly the same again, or for a document of this task, is free."
    ),
    "Grep": (
        "Looks for a regular expression in the files of the repository and in the documents of this task, line by line,"
        " and shows at most 200 lines as path:line: text. Keep the expression simple: letters, . [abc] * + ? | ( ) ^ $"
        " \\b \\w \\d \\s, and (?i) at its beginning for any case. Give path to look in one folder or file only. Each"
        " call counts against your budget, also one that finds nothing."
    ),
    "git_log": (
        "Shows the latest 20 commits that touched some files or folders, newest first: date, hash, subject and files."
        " Each call counts against your budget."
    ),
    "memory_search": (
        "Looks for words in the notes that earlier work left, and shows the 5 passages that fit best, each with its"
        " place. Each call counts against your budget, also one that finds nothing."
    ),
    "WebSearch": (
        "Searches the web. Allowed only for what the repository and the notes cannot answer; serves must name the"
        " unknown or the risk that it is for. Each call counts against your budget."
    ),
    "WebFetch": (
        "Fetches one page of the web. Allowed only for what the repository and the notes cannot answer; serves must"
        " name the unknown or the risk that it is for. Each call counts against your budget."
    ),
}
"""What a model reads about each tool; `tests/agents/tools` hold the numbers equal to those that are enforced."""

_BUDGET = " A call over your budget is refused, and the answer says so."


def tool_definitions(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """The definitions of some tools as `tools=` of a message takes them, in the order given.

    The schemas are those that `ToolKit.run` checks again. Nothing in them changes from call to call, so that a
    prompt's cache holds them. Source: rules A12, G4.

    >>> tool_definitions(["git_log"])[0]["input_schema"]["required"]
    ['paths']
    """
    return [
        {"name": tool, "description": DESCRIPTIONS[tool] + _BUDGET, "input_schema": _schema(tool)} for tool in tools
    ]


def _schema(tool: Tool) -> dict[str, Any]:
    """A closed object schema without the titles and the docstring that pydantic puts in."""
    schema = ARGUMENTS[tool].model_json_schema()
    properties = {
        name: {key: value for key, value in about.items() if key != "title"}
        for name, about in schema["properties"].items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": False,
    }
