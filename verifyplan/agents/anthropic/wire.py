"""Answers as a model writes them: the protocol's own models, with lists where the API's schemas take no mappings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, StrictInt, StrictStr, create_model, model_validator
from pydantic_core import PydanticCustomError

from verifyplan.agents.base import Request
from verifyplan.protocol.base import Model
from verifyplan.protocol.call import Tool, WorkerRequest, WorkerVote
from verifyplan.protocol.debate_call import ArchitectAnswer, BuilderAnswer, DebateRequest
from verifyplan.protocol.directive import Directive
from verifyplan.protocol.message import DebateRole
from verifyplan.protocol.plan_call import (
    ChallengerAnswer,
    ChallengesAnswer,
    ProbeAnswer,
    RaisedChallenge,
    RaisedContext,
    RaisedRisk,
    ResolverAnswer,
    Role,
    StatusChange,
    SurfaceAnswer,
    SynthesizerAnswer,
    UnknownAnswer,
)
from verifyplan.protocol.score import DIMENSIONS, DimensionScore
from verifyplan.protocol.vote import Mode, read_basis, read_verdict, spelling

VERDICT_LABELS: dict[Mode, tuple[str, ...]] = {
    "adversarial": ("SURVIVES", "SURVIVES-WITH-CAVEAT", "REFUTED"),
    "collaborative": ("AGREE", "SUPPLEMENT", "DISAGREE"),
}
"""The verdicts that a worker is offered; all of the protocol's are read (rule B4)."""


MISSING_BASIS = "missing_basis"
"""The type of the error of an adversarial refutation without a basis."""


def _listed(key: str, *names: str) -> BeforeValidator:
    """Reads a mapping as the list that was asked for: models that are not held to a schema often write one."""

    def entries(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return [
            (dict.fromkeys(names, held) if names or not isinstance(held, dict) else held) | {key: name}
            for name, held in value.items()
        ]

    return BeforeValidator(entries)


def _labelled(mode: Mode) -> Callable[[dict[str, Any]], None]:
    """Offers the labels of a mode, and a basis in adversarial runs alone; reasons come before the verdict."""

    def offer(schema: dict[str, Any]) -> None:
        given = schema["properties"]
        keys = ["finding_id", "explanation", "verdict", *(["disagree_basis"] if mode == "adversarial" else [])]
        schema["properties"] = {key: given[key] for key in keys}
        schema["properties"]["verdict"] = {"enum": list(VERDICT_LABELS[mode])}

    return offer


class _Vote(WorkerVote):
    """A worker's vote with the finding that it is on; keys, verdicts and bases are read in any spelling (rule B4)."""

    finding_id: StrictStr

    @model_validator(mode="before")
    @classmethod
    def _respell(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        fields = {_KEY_OF_SPELLING.get(spelling(str(key)), key): held for key, held in value.items()}
        for name, read in (("verdict", read_verdict), ("disagree_basis", read_basis)):
            if (word := read(fields.get(name))) is not None:
                fields[name] = word
        return fields


_KEY_OF_SPELLING = {spelling(key): key for key in ("finding_id", "verdict", "disagree_basis", "explanation")}


class AdversarialVote(_Vote):
    """A worker's vote in an adversarial run, in which a refutation has a basis."""

    model_config = ConfigDict(json_schema_extra=_labelled("adversarial"))

    @model_validator(mode="after")
    def _has_basis(self) -> Self:
        if self.verdict == "disagree" and self.disagree_basis is None:
            raise PydanticCustomError(MISSING_BASIS, "a refutation has a basis")
        return self


class CollaborativeVote(_Vote):
    """A worker's vote in a collaborative run; a basis is read and counts nothing."""

    model_config = ConfigDict(json_schema_extra=_labelled("collaborative"))


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


class Challenges(ChallengesAnswer):
    """The answer of a domain expert or a devil's advocate."""

    challenges: tuple[RaisedChallenge, ...]


class ChallengesAndUnknowns(ChallengerAnswer):
    """The challenger's answer."""

    challenges: tuple[RaisedChallenge, ...]


class UnknownAnswers(ResolverAnswer):
    """The resolver's answer."""

    answers: tuple[UnknownAnswer, ...]


class Contexts(SurfaceAnswer):
    """The researcher's answer in mode 2."""

    contexts: tuple[RaisedContext, ...]


class Risks(ProbeAnswer):
    """The researcher's answer in mode 3."""

    risks: tuple[RaisedRisk, ...]


_SIX: dict[str, Any] = dict.fromkeys(DIMENSIONS, (DimensionScore, ...))
SixScores: type[Model] = create_model("SixScores", __base__=Model, **_SIX)
"""A score for each of the six dimensions, whole and with evidence, so that a bad one is repaired, not refused."""


class Scores(Model):
    """The answer of whoever scores or audits."""

    scores: SixScores


def _spoken_last(*last: str) -> Callable[[dict[str, Any]], None]:
    """Asks for reasons before what rests on them: the other keys first, in their order."""

    def order(schema: dict[str, Any]) -> None:
        given = schema["properties"]
        schema["properties"] = {key: given[key] for key in (*(one for one in given if one not in last), *last)}

    return order


class ArchitectMessage(ArchitectAnswer):
    """The architect's answer; `content`, which concludes, is written last."""

    model_config = ConfigDict(json_schema_extra=_spoken_last("content"))


class BuilderMessage(BuilderAnswer):
    """The builder's answer: reasons, the diff, and what it says of it."""

    model_config = ConfigDict(json_schema_extra=_spoken_last("diff", "content"))


_MODEL_OF_DEBATE_ROLE: dict[DebateRole, type[BaseModel]] = {"architect": ArchitectMessage, "builder": BuilderMessage}

_MODEL_OF_ROLE: dict[Role, type[BaseModel]] = {
    "challenger": ChallengesAndUnknowns,
    "resolver": UnknownAnswers,
    "surface": Contexts,
    "probe": Risks,
    "domain-expert": Challenges,
    "devils-advocate": Challenges,
    "synthesizer": Synthesis,
    "score": Scores,
    "audit": Scores,
}


def answer_model(request: Request) -> type[BaseModel]:
    """The model of the answer as it is asked of a model: the same for all requests of a role, or of a mode of workers.

    Where its shape is not the protocol's (votes, scores, grants), `protocol_value` turns it back.
    """
    if isinstance(request, WorkerRequest):
        return AdversarialVotes if request.mode == "adversarial" else CollaborativeVotes
    if isinstance(request, DebateRequest):
        return _MODEL_OF_DEBATE_ROLE[request.role]
    return _MODEL_OF_ROLE[request.role]


def protocol_value(answer: BaseModel) -> dict[str, Any]:
    """An answer as the JSON values that the loop expects: votes by finding, grants by tool, the rest as it is."""
    value = answer.model_dump(mode="json")
    if isinstance(answer, AdversarialVotes | CollaborativeVotes):
        value["votes"] = {vote.pop("finding_id"): vote for vote in value["votes"]}
    for directive in value.get("directives", ()):
        directive["tools"] = {grant["tool"]: grant["calls"] for grant in directive["tools"]}
    return value
