"""Agents that hypothesis plays: whatever a schema allows, and what it does not; settings and answers of people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from hypothesis import strategies as st

from tests.runs.plan.planning import PLAN
from verifyplan.protocol.call import Reply, ToolUse, Usage, WorkerRequest
from verifyplan.protocol.records import (
    CONFIDENCES,
    CONTEXT_IMPACTS,
    CONTEXT_SOURCES,
    CONVERGENCE_STATUSES,
    DIMENSIONS,
    PLAN_VERDICTS,
    SEVERITIES,
    STATUSES,
    UNKNOWN_RESOLUTIONS,
    UNKNOWN_TYPES,
    DirectiveKind,
    Trigger,
)
from verifyplan.protocol.role_call import ROLES, RoleRequest
from verifyplan.protocol.settings import PanelSettings
from verifyplan.rules.directives import TRIGGERS_OF
from verifyplan.runs.plan.pauses import Answer, Pause

USAGE = Usage(input_tokens=7, output_tokens=3)
"""What every reply of these agents costs."""

THIN = "# Tidy\n\nTidy up somewhere, some day.\n\nIt is unclear where.\n\nThen look.\n\nAnd look again.\n\nAnd stop.\n"
TRIVIAL = "# Fix a typo\n\nCorrect the spelling in `README.md`.\n"


class Acting:
    """A backend that answers by a function of the request and keeps what it was asked."""

    def __init__(self, play: Callable[[Any], Any]) -> None:
        self.play = play
        self.requests: list[Any] = []

    def describe(self) -> dict[str, Any]:
        return {"name": "acting"}

    def check_worker(self, worker: str) -> str | None:
        return "zoe is ill" if worker == "zoe" else None

    async def answer(self, request: Any) -> Reply:
        self.requests.append(request)
        value = self.play(request)
        return value if isinstance(value, Reply) else Reply(value=value, usage=USAGE)

    def roles(self) -> list[str]:
        """The roles that were called, in order, with their iterations."""
        return [r.call_id for r in self.requests if isinstance(r, RoleRequest)]


def some(values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(list(values))


words = some([f"w{number}" for number in range(40)])
texts = st.one_of(some(["", " ", "a.py:3", "[VERIFIED: a.py | has it | none]", "\u202e\x00<b>"]), words.map(str.upper))
findings = some([None, "[VERIFIED: a.py:1 | it is so | none]"])
challenges = st.builds(
    lambda word, rest: {"claim": f"`{word}` stays" if word else "", "concern": "it changes"} | rest,
    st.one_of(words, words, words, st.just("")),
    st.fixed_dictionaries(
        {"severity": some(SEVERITIES), "confidence": some(CONFIDENCES)},
        optional={"alternative": texts, "evidence": texts, "failure_scenario": texts},
    ),
)
no_entries = some([None, 3, {}, {"claim": "x"}, {"challenge": "C1", "status": "DONE"}])
entries = st.one_of(*[challenges] * 6, no_entries)
spawned = st.one_of(st.none(), challenges)
unknowns = st.fixed_dictionaries(
    {"description": words.map("how does `{}` behave?".format), "type": some(UNKNOWN_TYPES)},
    optional={"affects": some(["#1", "#9", "C1", "C99", "", None])},
)
contexts = st.fixed_dictionaries(
    {
        "source": some(CONTEXT_SOURCES),
        "location": words.map("{}.py:1".format),
        "relevance": words.map("`{}` too".format),
    }
    | {"impact": some(CONTEXT_IMPACTS), "challenge": spawned}
)
risks = st.fixed_dictionaries(
    {"risk": words.map("`{}` fails".format), "trigger": texts, "cascade": texts, "probability": some(["LOW", "MED"])}
    | {"severity": some(SEVERITIES), "challenge": spawned}
)
one_score = st.fixed_dictionaries(
    {},
    optional={
        "score": st.one_of(st.integers(1, 10), some([0, 11, 7.0, "7", True])),
        "evidence": st.one_of(st.just("C1"), some(["", " ", None, 3])),
    },
)
good_score = st.integers(1, 10).map(lambda number: {"score": number, "evidence": "U1"})
good_scores = st.fixed_dictionaries(dict.fromkeys(DIMENSIONS, good_score))
scores = st.one_of(good_scores, st.dictionaries(some([*DIMENSIONS, "style"]), one_score)).map(lambda s: {"scores": s})
broken = some(
    [
        None, 3, "PROCEED", [], [[[]]], {"scores": 3}, {"verdict": "PROCEED?"}, {"challenges": "none"}, {"extra": 1},
        {"challenges": [{"claim": "x"}]}, {"changes": [{"challenge": 3, "status": "OPEN"}]}, {"contexts": [None]},
        {"changes": [{"challenge": "C1", "status": "DONE"}]}, {"risks": {"P1": {}}}, {"answers": [{"id": "U1"}]},
        {"scores": {"a": {"score": "\ud800"}}}, {"scores": {"a": {"score": float("nan")}}}, {"votes": {"C1": None}},
        {"directives": [{"kind": "GRANT", "tools": {"rm": 1}}]}, {"promotions": [1]}, b"\xff", {1: 2}, {"x": object()},
    ]
)  # fmt: skip
mishaps = some([TimeoutError(), TimeoutError("upstream"), ValueError("\udcff"), RuntimeError("x" * 2000)])


def of_role(request: RoleRequest) -> st.SearchStrategy[Any]:
    """What the schema of a role allows, as far as the rules let it and beyond."""
    match request.role:
        case "challenger":
            return st.fixed_dictionaries(
                {"challenges": st.lists(entries, max_size=7)}, optional={"unknowns": st.lists(unknowns, max_size=3)}
            )
        case "domain-expert" | "devils-advocate":
            return st.fixed_dictionaries({"challenges": st.lists(entries, max_size=4)})
        case "resolver":
            ids = some([*(one.id for one in request.unknowns), "U99"])
            kinds = some(UNKNOWN_RESOLUTIONS)
            one = st.fixed_dictionaries({"id": ids, "resolution": kinds, "finding": findings})
            return st.lists(one, max_size=5).map(lambda answers: {"answers": answers})
        case "surface":
            return st.lists(contexts, max_size=4).map(lambda found: {"contexts": found})
        case "probe":
            return st.lists(risks, max_size=4).map(lambda found: {"risks": found})
        case "synthesizer":
            return settled(request)
        case _:
            return scores


def settled(request: RoleRequest) -> st.SearchStrategy[Any]:
    """A synthesizer's answer: any change, promotion and directive, of what exists and what does not."""
    ids = [one.id for one in request.challenges]
    waiting = [one.id for one in request.overflow]
    others = [one.id for one in (*request.unknowns, *request.contexts)]
    change = st.fixed_dictionaries(
        {"challenge": some([*ids, *waiting, "C99", ""]), "status": some(STATUSES), "resolution": texts}
    )
    directive = directives(ids, others)
    return st.fixed_dictionaries(
        {"changes": st.lists(st.one_of(*[change] * 6, no_entries), max_size=8)},
        optional={
            "promotions": st.lists(some([*waiting, *waiting, "C1", "C99"]), max_size=4),
            "directives": st.lists(directive, max_size=4),
            "status": some([*CONVERGENCE_STATUSES, None]),
            "verdict": some([*PLAN_VERDICTS, None]),
            "question": texts,
        },
    )


def directives(ids: list[str], others: list[str]) -> st.SearchStrategy[Any]:
    """Directives of any form, and as many that could be worth it."""
    items = st.lists(some([*ids, *ids, *others, *others, "C99"]), min_size=1, max_size=4)
    anything = st.fixed_dictionaries(
        {"kind": some(get_args(DirectiveKind))},
        optional={
            "trigger": some([*get_args(Trigger), None]),
            "items": items,
            "role": some([*ROLES, "cook", None]),
            "tools": st.dictionaries(some(["Read", "Grep", "WebSearch"]), st.integers(-1, 3), max_size=2),
            "note": texts,
        },
    )
    again = some([(kind, trigger) for kind, triggers in TRIGGERS_OF.items() for trigger in triggers])
    sound = st.builds(lambda pair, on: {"kind": pair[0], "trigger": pair[1], "items": on}, again, items)
    consult = some(["domain-expert", "devils-advocate"]).map(lambda role: {"kind": "CONSULT", "role": role})
    return st.one_of(anything, sound, sound, consult)


def of_worker(request: WorkerRequest) -> st.SearchStrategy[Any]:
    """A panel worker's votes, complete or not, on what was asked and what was not."""
    vote = st.fixed_dictionaries(
        {"verdict": some(["agree", "supplement", "disagree", "REFUTED", "SURVIVES"])},
        optional={"disagree_basis": some(["counter-evidence", "burden-not-met", None]), "explanation": texts},
    )
    asked = some([item.finding_id for item in request.items] + ["C99"])
    return st.dictionaries(asked, vote, max_size=9).map(lambda votes: {"votes": votes})


def playing(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Acting:
    """A backend whose answers are drawn as they are asked for; one call in about a dozen goes wrong."""

    def play(request: Any) -> Any:
        turn = draw(st.integers(0, 23))
        if turn == 23:
            raise draw(mishaps)
        if turn == 22:
            return Reply.model_construct(value=draw(broken), usage=USAGE, duration_ms=0, source="live", tools=())
        tools = (ToolUse(tool="Read", argument="a.py"),) if turn == 21 else ()
        strategy = of_worker(request) if isinstance(request, WorkerRequest) else of_role(request)
        return Reply(value=draw(strategy), usage=USAGE, tools=tools)

    return Acting(play)


def person(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Callable[[Pause], Answer | None]:
    """Somebody who answers any pause in any way that fits it, or not at all."""

    def answer(pause: Pause) -> Answer | None:
        names = some([challenge.id for challenge in pause.challenges])
        return draw(
            st.one_of(
                st.builds(Answer, st.just("acknowledge"), names, texts),
                st.builds(Answer, st.just("override"), names, texts),
                st.just(Answer("context", None, "there is a second store")),
                st.just(Answer("abort", None, "")),
                st.none(),
            )
        )

    return answer


panels = st.one_of(
    st.none(),
    st.builds(
        PanelSettings,
        workers=st.integers(1, 5).map(lambda size: tuple(f"panel-{n}" for n in range(1, size + 1))),
        mode=some(["adversarial", "collaborative"]),
        max_rounds=st.integers(1, 3),
    ),
)
settings_of_runs = st.fixed_dictionaries(
    {
        "plan": some([PLAN, PLAN, PLAN, PLAN, PLAN, THIN, THIN, TRIVIAL]),
        "panel": panels,
        "max_iterations": some([3, 1, 2, 3, 4]),
        "policy": some(["protocol", "deliberate"]),
        "on_blocked": some(["continue", "ask", "pause", "ask"]),
        "team": some(["base", "scaled", None]),
        "threshold": st.integers(0, 16),
        "max_tokens": some([None] * 12 + [1, 15, 45, 95, 160]),
    }
)
