"""Define the answers as a model writes them, and their JSON Schemas as the API takes them (rules B4, G3).

They are the protocol's own models, with lists where the API's schemas take no mappings. The names of the classes within
answers are in the schemas, whose digests are in logs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, StrictInt, StrictStr, create_model, model_validator
from pydantic_core import PydanticCustomError

from verifyplan.agents.base import Request
from verifyplan.protocol.base import Model
from verifyplan.protocol.call import Tool, WorkerRequest, WorkerVote
from verifyplan.protocol.message import DebateRole
from verifyplan.protocol.records import DIMENSIONS, DimensionScore, Directive
from verifyplan.protocol.role_call import (
    ArchitectAnswer,
    BuilderAnswer,
    ChallengerAnswer,
    ChallengesAnswer,
    ProbeAnswer,
    ResolverAnswer,
    Role,
    StatusChange,
    SurfaceAnswer,
    SynthesizerAnswer,
)
from verifyplan.protocol.vote import Mode
from verifyplan.rules.answers import read_basis, read_verdict, spelling

VERDICT_LABELS: dict[Mode, tuple[str, ...]] = {
    "adversarial": ("SURVIVES", "SURVIVES-WITH-CAVEAT", "REFUTED"),
    "collaborative": ("AGREE", "SUPPLEMENT", "DISAGREE"),
}
"""The verdicts that a worker is offered; all of the protocol's are read (rule B4)."""


MISSING_BASIS = "missing_basis"
"""The type of the error of an adversarial refutation without a basis."""


def _listed(key: str, *names: str) -> BeforeValidator:
    """Read a mapping as the list that is due: models that are not held to a schema often write one."""

    def entries(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return [
            (dict.fromkeys(names, entry) if names or not isinstance(entry, dict) else entry) | {key: name}
            for name, entry in value.items()
        ]

    return BeforeValidator(entries)


def _keys(*keys: str, **replaced: Any) -> ConfigDict:
    """Return the configuration of a model whose schema has these keys in this order: reasons before conclusions."""

    def order(schema: dict[str, Any]) -> None:
        properties = schema["properties"] | replaced
        schema["properties"] = {key: properties[key] for key in keys}

    return ConfigDict(json_schema_extra=order)


_VOTE_KEYS = ("finding_id", "explanation", "verdict", "disagree_basis")
_KEY_OF_SPELLING = {spelling(key): key for key in _VOTE_KEYS}


class _Vote(WorkerVote):
    """A worker's vote with the finding that it is on; keys, verdicts and bases are read in any spelling (rule B4)."""

    finding_id: StrictStr

    @model_validator(mode="before")
    @classmethod
    def _respell(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        fields = {_KEY_OF_SPELLING.get(spelling(str(key)), key): entry for key, entry in value.items()}
        for name, read in (("verdict", read_verdict), ("disagree_basis", read_basis)):
            if (word := read(fields.get(name))) is not None:
                fields[name] = word
        return fields


class AdversarialVote(_Vote):
    """A worker's vote in an adversarial run, in which a refutation has a basis."""

    model_config = _keys(*_VOTE_KEYS, verdict={"enum": list(VERDICT_LABELS["adversarial"])})

    @model_validator(mode="after")
    def _has_basis(self) -> Self:
        if self.verdict == "disagree" and self.disagree_basis is None:
            raise PydanticCustomError(MISSING_BASIS, "a refutation has a basis")
        return self


class CollaborativeVote(_Vote):
    """A worker's vote in a collaborative run; a basis is read and counts nothing."""

    model_config = _keys(*_VOTE_KEYS[:3], verdict={"enum": list(VERDICT_LABELS["collaborative"])})


class AdversarialVotes(Model):
    """A worker's answer in an adversarial run."""

    votes: Annotated[tuple[AdversarialVote, ...], _listed("finding_id")]


class CollaborativeVotes(Model):
    """A worker's answer in a collaborative run."""

    votes: Annotated[tuple[CollaborativeVote, ...], _listed("finding_id")]


class Grant(Model):
    """Further calls of one tool."""

    tool: Tool
    calls: StrictInt


class ListedDirective(Directive):
    """A directive whose grants are a list."""

    tools: Annotated[tuple[Grant, ...], _listed("tool", "calls")] = ()  # type: ignore[assignment]  # a list here


class Synthesis(SynthesizerAnswer):
    """The synthesizer's answer; as in all of these, the first field must be there: `{}` is no answer."""

    changes: tuple[StatusChange, ...]
    directives: tuple[ListedDirective, ...] = ()


_SIX: dict[str, Any] = dict.fromkeys(DIMENSIONS, (DimensionScore, ...))
SixScores: type[Model] = create_model("SixScores", __base__=Model, **_SIX)
"""A score for each of the six dimensions, whole and with evidence, so that a bad one is repaired, not refused."""


class Scores(Model):
    """The answer of whoever scores or audits."""

    scores: SixScores


class ArchitectMessage(ArchitectAnswer):
    """The architect's answer; `content`, which concludes, is written last."""

    model_config = _keys("reasons", "evidence", "risks", "content")


class BuilderMessage(BuilderAnswer):
    """The builder's answer: reasons, the diff, and its description."""

    model_config = _keys("reasons", "evidence", "risks", "diff", "content")


def _first_required(answer: type[Model]) -> type[BaseModel]:
    """Return the model of an answer whose first field must be there: `{}` is no answer."""
    name, field = next(iter(answer.model_fields.items()))
    required: Any = (field.annotation, ...)
    return create_model(answer.__name__, __base__=answer, **{name: required})


_MODEL_OF_ROLE: dict[Role | DebateRole, type[BaseModel]] = {
    "challenger": _first_required(ChallengerAnswer),
    "resolver": _first_required(ResolverAnswer),
    "surface": _first_required(SurfaceAnswer),
    "probe": _first_required(ProbeAnswer),
    "domain-expert": _first_required(ChallengesAnswer),
    "devils-advocate": _first_required(ChallengesAnswer),
    "synthesizer": Synthesis,
    "score": Scores,
    "audit": Scores,
    "architect": ArchitectMessage,
    "builder": BuilderMessage,
}


def answer_model(request: Request) -> type[BaseModel]:
    """Return the model of the answer that a request asks for: the same for all of a role, or of a mode of workers.

    Where its shape is not the protocol's (votes, scores, grants), `protocol_value` turns it back.
    """
    if isinstance(request, WorkerRequest):
        return AdversarialVotes if request.mode == "adversarial" else CollaborativeVotes
    return _MODEL_OF_ROLE[request.role]


def protocol_value(answer: BaseModel) -> dict[str, Any]:
    """Return an answer as JSON values that the loop expects: votes by finding, grants by tool, the rest as it is."""
    value = answer.model_dump(mode="json")
    if isinstance(answer, AdversarialVotes | CollaborativeVotes):
        value["votes"] = {vote.pop("finding_id"): vote for vote in value["votes"]}
    for directive in value.get("directives", ()):
        directive["tools"] = {grant["tool"]: grant["calls"] for grant in directive["tools"]}
    return value


_KEPT = ("$ref", "anyOf", "enum", "const", "type", "items", "properties", "description")
"""The parts of a schema that the API takes; the others (defaults, titles, patterns, bounds) are checked on reading."""


Structured = bool | Literal["shape", "counts"]
"""How an endpoint is held to the schema of an answer: see `agents.Anthropic`."""

MAX_LISTED_IDS = 100
"""Findings of a call whose ids its schema lists; of more, none: grammars of so many choices are refused or slow."""


def answer_schema(request: Request, structured: Structured = True) -> dict[str, Any]:
    """Return the JSON Schema that the endpoint is to hold the answer to: of `answer_model`, as the API takes it.

    A worker's lists the ids of the findings that it is asked about; with "counts" also how many votes there must be,
    a limit that the SDK of Anthropic's API leaves out; with "shape" neither, so that it is the same for all calls
    of a kind. Roles refer to ids, too, but theirs would differ from call to call and cost the cache of the plan.
    """
    schema = api_schema(answer_model(request))
    if not isinstance(request, WorkerRequest) or structured == "shape":
        return schema
    ids = [item.finding_id for item in request.items]
    if not 0 < len(ids) <= MAX_LISTED_IDS:
        return schema
    [(name, vote)] = schema["$defs"].items()
    vote = vote | {"properties": vote["properties"] | {"finding_id": {"enum": ids}}}
    size = {"minItems": len(ids), "maxItems": len(ids)} if structured == "counts" else {"minItems": 1}
    votes = schema["properties"]["votes"] | size
    votes["description"] = f"One vote for each finding_id: {len(ids)} in all."
    return schema | {"properties": {"votes": votes}, "$defs": {name: vote}}


def short_form(schema: Mapping[str, Any]) -> str:
    """Return a schema as a model without structured output is shown it, in one line.

    >>> short_form({"type": "object", "properties": {"id": {"enum": ["a", "b"]}, "why": {"type": "string"}}})
    '{"id": "a" | "b", "why": text}'
    """
    parts: Mapping[str, Any] = schema.get("$defs", {})

    def written(part: Mapping[str, Any]) -> str:
        if "$ref" in part:
            return written(parts[part["$ref"].rpartition("/")[2]])
        if "anyOf" in part:
            return " | ".join(map(written, part["anyOf"]))
        if "enum" in part or "const" in part:
            choices = part.get("enum", [part.get("const")])
            return " | ".join(json.dumps(choice, ensure_ascii=False) for choice in choices)
        if part["type"] == "object":
            return "{" + ", ".join(f'"{key}": {written(held)}' for key, held in part["properties"].items()) + "}"
        return f"[{written(part['items'])}, ...]" if part["type"] == "array" else _WORDS[part["type"]]

    return written(schema)


_WORDS = {"string": "text", "integer": "number", "number": "number", "boolean": "true | false", "null": "null"}


@cache  # pydantic takes milliseconds to make one; do not change what comes out
def api_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a model's JSON such that the API takes it, and the SDK's own transformation changes nothing.

    Every key is required, as the API refuses a schema with many optional ones as too large; one that may be left
    out is nullable, or empty. In a part, texts come before choices and numbers, and those before further parts: a model
    writes keys in this order, so it gives its reasons before it concludes. A part that begins with a choice, which says
    what the rest is about, keeps its order. Recursive models are not supported.
    """
    schema = model.model_json_schema()
    parts = schema.get("$defs", {})
    root = _transformed(schema)
    return root | {"$defs": {name: _ordered(_transformed(part)) for name, part in parts.items()}} if parts else root


def _transformed(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    new = {key: schema[key] for key in _KEPT if key in schema}
    if "enum" in new or "const" in new:
        new.pop("type", None)
    if "anyOf" in new:
        new["anyOf"] = [_transformed(choice) for choice in new["anyOf"]]
    if "items" in new:
        new["items"] = _transformed(new["items"])
    if "properties" in new:
        new.pop("description", None)  # the docstring of a class is for those who read the code
        new["properties"] = {key: _transformed(field) for key, field in new["properties"].items()}
        new |= {"required": list(new["properties"]), "additionalProperties": False}
    return new


def _ordered(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part with its keys in the order in which they should be written."""
    properties: dict[str, Any] = part.get("properties", {})
    if not properties or "enum" in next(iter(properties.values())):
        return part
    ordered = sorted(properties.items(), key=lambda item: _rank(item[1]))
    return part | {"properties": dict(ordered), "required": [key for key, _ in ordered]}


def _rank(schema: dict[str, Any]) -> int:
    """Return 0 for a text, 1 for a choice or a number, 2 for a part of its own."""
    kinds = schema.get("anyOf", [schema])
    if any(kind.get("type") == "string" for kind in kinds):
        return 0
    return 2 if any("$ref" in kind or kind.get("type") in ("array", "object") for kind in kinds) else 1
