"""Frontmatter of plan documents: YAML between two lines of three hyphens, read without trust (rule H3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

MAX_FRONTMATTER_CHARACTERS = 100_000  # characters; PyYAML reads some 50,000 a second
FENCE = "---"


class PlainLoader(yaml.SafeLoader):
    """Plain values alone: no aliases, by which a few lines could stand for gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """The next node; an alias is refused."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("it holds an alias")
        return super().compose_node(parent, index)


def frontmatter(lines: Sequence[str]) -> tuple[dict[str, Any], int, list[str]]:
    """The values at the head of a document, the number of lines they take, and notes.

    Frontmatter that is damaged, too long, or no mapping is empty, and a note says why; it is still no part of
    the plan's body. Without a closing line there is none. Keys are texts.

    >>> frontmatter(["---", "wave: 1", "---", "# Plan"])
    ({'wave': 1}, 3, [])
    """
    end = frontmatter_end(lines)
    if end is None:
        return {}, 0, []
    values, problem = _values("\n".join(lines[1:end]))
    notes = [f"line 1: the frontmatter is not read: {problem}"] if problem else []
    return values, end + 1, notes


def frontmatter_end(lines: Sequence[str]) -> int | None:
    """The line, from 0, that closes the frontmatter; a line `---` far below, or behind prose, is a rule of the text."""
    if not lines or lines[0].rstrip() != FENCE:
        return None
    end = next((number for number in range(1, len(lines)) if lines[number].rstrip() in (FENCE, "...")), None)
    return end if end is not None and _looks_like_yaml(lines[1:end]) else None


def _looks_like_yaml(lines: Sequence[str]) -> bool:
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    return ":" in first or not any(line.strip() for line in lines)


def _values(text: str) -> tuple[dict[str, Any], str]:
    if len(text) > MAX_FRONTMATTER_CHARACTERS:
        return {}, f"it is longer than {MAX_FRONTMATTER_CHARACTERS:,} characters"
    try:
        values = yaml.load(text, Loader=PlainLoader)  # noqa: S506  (a SafeLoader, made stricter)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        return {}, f"it is not YAML at line {line} ({error.problem})"
    except yaml.YAMLError as error:
        return {}, " ".join(str(error).split())[:200]
    except (ValueError, TypeError, OverflowError, RecursionError) as error:  # numbers, dates, keys, nesting
        return {}, f"it holds a value that is none ({type(error).__name__})"
    if values is None:
        return {}, ""
    if not isinstance(values, dict):
        return {}, "it is no list of names and values"
    return {str(key): value for key, value in values.items()}, ""
