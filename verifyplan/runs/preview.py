"""`preview`: what a run would send first, to read before anything leaves this machine (rules G3, H3)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from inspect import unwrap
from typing import Any

import pandas as pd

from verifyplan.agents.base import ModelBackend, Request
from verifyplan.agents.evidence import read_evidence
from verifyplan.agents.tools.file_access import withheld
from verifyplan.errors import Problem, SettingsError, without_keys_in_tracebacks
from verifyplan.field_docs import with_field_docs
from verifyplan.protocol.call import WorkerRequest
from verifyplan.redaction import MARK
from verifyplan.repository.listing import HIDDEN_FOLDER
from verifyplan.repository.repository import Repository
from verifyplan.runs.call_use import CASES
from verifyplan.runs.cross.crossverify import PreparedCrossRun
from verifyplan.runs.debate.debate import PreparedDebate
from verifyplan.runs.debate.loop import debate_request
from verifyplan.runs.debate.pair import Pair
from verifyplan.runs.expected_calls import CrossCalls, PlanCalls
from verifyplan.runs.plan.verify import PreparedPlanRun
from verifyplan.text import counted

MAX_NAMED_FILES = 50
"""Files that look secret and are named in the text of a preview; `withheld` has all."""

_LATER = "Later requests also hold what was answered until then{more}, redacted in the same way."
_TOOLS = "Roles with tools may read, search and list every file of the folder that is not withheld."
_NO_TOOLS = "No request has tools: of the folder, models see what is shown above and nothing else."
_SHOWN = ("model", "metadata", "system", "messages", "tools", "output_config")
"""The parts of a request that have lines of their own."""
_SCHEMA = "schema of the answer"
_NOTHING = "Nothing is sent: static agents, scripts and functions run on this machine."


@with_field_docs
@dataclass(frozen=True, eq=False)
class Preview:
    """The first requests of a run, one a role or worker, as they would be sent; nothing was sent."""

    requests: pd.DataFrame
    """`call_id, role, model, address, characters, redactions, max_tokens, schema_characters, tools`: one row a request;
    characters are those of its system prompt and its message, redactions the marks in these."""
    bodies: tuple[dict[str, Any], ...]
    """The requests themselves, as JSON values: model, limits, metadata, system prompt, message, tools, schema."""
    withheld: tuple[tuple[str, str], ...]
    """Files and hidden folders that no model may open, each with the reason; `allow_files` allows some of the files."""
    notes: tuple[str, ...]
    """What a reader must know: that later requests hold more, and who may read the folder."""

    def __str__(self) -> str:
        """Return all texts as they would be sent, each system prompt and each part of a message once."""
        return "\n".join(self._lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the same for a notebook."""
        return f"<pre style='white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere'>{escape(str(self))}</pre>"

    def _lines(self) -> Iterator[str]:
        redactions = int(self.requests["redactions"].sum())
        yield f"{counted(len(self.bodies), 'first request')}, {counted(redactions, 'redaction')}; nothing was sent."
        shown: dict[str, str] = {}
        for row, body in zip(self.requests.itertuples(), self.bodies, strict=True):
            yield f"\n== {row.call_id!s} ({row.role!s}): {row.model!s} at {row.address!s}"
            yield f"tools: {str(row.tools) or 'none'}"
            yield from (f"metadata: {name} {value}" for name, value in body.get("metadata", {}).items())
            yield from (f"{name}: {json.dumps(value)}" for name, value in _settings(body))
            for title, text in (*_texts(body), *_definitions(body)):
                if (before := shown.setdefault(text, str(row.call_id))) != str(row.call_id):
                    yield f"-- {title}: as in {before}"
                else:
                    yield f"-- {title}\n{text}"
        if self.withheld:
            yield f"\n== {counted(len(self.withheld), 'file')} that no model may open"
            yield from (f"{path}: {reason}" for path, reason in self.withheld[:MAX_NAMED_FILES])
            if (more := len(self.withheld) - MAX_NAMED_FILES) > 0:
                yield f"... and {more} more"
        yield from ("", *self.notes)


@without_keys_in_tracebacks
def preview(run: Callable[..., Any], *arguments: Any, **settings: Any) -> Preview:
    """Return all that a run would send first, by role and worker, with its redactions; nothing is sent.

    Args:
        run: `vp.crossverify`, `vp.verify` or `vp.debate`.
        arguments: those of the run, in their order.
        settings: those of the run, by their names. A backend without a key is `vp.agents.Anthropic.keyless(model=...)`.

    Of votes these are the requests of the first round, with the cited places opened; of a plan run the first request
    of each role, of a debate the architect's first. Raises what the run itself would raise for its arguments, and
    SettingsError for another function. Source: rules G3, H3.

    >>> import verifyplan as vp
    >>> claim = {
    ...     "finding_id": "F-1",
    ...     "summary": "it logs in with password = 'hunter2!'",
    ...     "worker": "cy",
    ... }
    >>> models = vp.agents.Anthropic.keyless(model="m")
    >>> shown = vp.preview(vp.crossverify, [claim], ["ann", "bob", "cy"], backend=models)
    >>> list(shown.requests["call_id"]), "hunter2" in str(shown)
    (['r1/ann', 'r1/bob'], False)
    """
    prepare = unwrap(run) if callable(run) else None
    if getattr(prepare, "__name__", "") not in ("crossverify", "verify", "debate") or prepare is run:
        fix = "give vp.crossverify, vp.verify or vp.debate, and then its arguments"
        raise SettingsError(Problem("run", f"must be the function of a run, got {run!r}", fix))
    assert prepare is not None  # noqa: S101  (it has a name)
    prepared = prepare(*arguments, **{**settings, "log_dir": None})
    backend = prepared.backend
    folder = _folder(prepared)
    if isinstance(backend, Pair):
        backend = backend.player("architect")
    if not isinstance(backend, ModelBackend):
        return _preview((), backend, folder)
    return _preview(tuple(_first_requests(prepared, backend)), backend, folder)


def _first_requests(prepared: Any, backend: ModelBackend) -> Iterator[Request]:
    """Yield the first requests of a run that was prepared."""
    if isinstance(prepared, PreparedPlanRun):
        inputs = prepared.started.plan
        yield from PlanCalls(prepared.plan, _folder(prepared), inputs.settings, backend).first_requests()
    elif isinstance(prepared, PreparedCrossRun):
        calls = CrossCalls(prepared.started.cross, prepared.matcher, backend)
        yield from (request for request in calls.requests(CASES["low"]) if request.round == 1)
    elif isinstance(prepared, PreparedDebate):
        yield debate_request(prepared.started.debate)


def _folder(prepared: PreparedPlanRun | PreparedCrossRun | PreparedDebate) -> str:
    if isinstance(prepared, PreparedCrossRun):
        return prepared.started.cross.root
    inputs = prepared.started.plan if isinstance(prepared, PreparedPlanRun) else prepared.started.debate
    return str(inputs.repository["root"])


def _preview(requests: tuple[Request, ...], backend: Any, folder: str) -> Preview:
    bodies = tuple(backend.first_request(request) for request in requests)
    rows = [_row(request, body, backend) for request, body in zip(requests, bodies, strict=True)]
    columns = ["call_id", "role", "model", "address", "characters", "redactions", "max_tokens", "schema_characters"]
    allowed = tuple(backend.describe().get("allow_files") or ()) if requests else ()
    repository = Repository.open(folder, allowed_files=allowed)
    closed = tuple((path, why) for path in repository.files if (why := withheld(repository, path)))
    closed += tuple((f"{one.path}/", one.reason) for one in repository.skipped if one.reason == HIDDEN_FOLDER)
    notes = tuple(_notes(requests, bodies, repository))
    return Preview(pd.DataFrame(rows, columns=[*columns, "tools"]), bodies, closed if requests else (), notes)


def _notes(requests: tuple[Request, ...], bodies: tuple[dict[str, Any], ...], repository: Repository) -> Iterator[str]:
    """Yield what a reader must know: cited places that are withheld, what comes later, who may read the folder."""
    if not requests:
        yield _NOTHING
        return
    cited = {
        f"{place} ({why})"
        for request in requests
        if isinstance(request, WorkerRequest) and request.verification_mode == "full-reanalysis"
        for item in request.items
        for place in read_evidence(item.evidence).places
        if place.path not in request.documents and (why := withheld(repository, place.path))
    }
    if cited:
        yield f"Workers see nothing of cited places whose files are withheld: {', '.join(sorted(cited))}."
    has_tools = any(body.get("tools") for body in bodies)
    yield _LATER.format(more=" and what tools return" if has_tools else "")
    yield _TOOLS if has_tools else _NO_TOOLS


def _row(request: Request, body: Mapping[str, Any], backend: Any) -> dict[str, Any]:
    texts = [text for _, text in _texts(body)]
    return {
        "call_id": request.call_id,
        "role": "worker" if isinstance(request, WorkerRequest) else request.role,
        "model": body["model"],
        "address": _address(backend, request),
        "characters": sum(map(len, texts)),
        "redactions": sum(text.count(MARK) for text in texts),
        "max_tokens": body["max_tokens"],
        "schema_characters": sum(len(text) for title, text in _definitions(body) if title == _SCHEMA),
        "tools": ", ".join(tool["name"] for tool in body.get("tools", ())),
    }


def _address(backend: Any, request: Request) -> str:
    """Return the endpoint of a request; blank where the backend does not say it."""
    address: Callable[[Request], str] = getattr(backend, "address_for", lambda _: "")
    return address(request)


def _settings(body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what a request sets beside its texts and definitions: max_tokens, effort, thinking ..."""
    for name, value in body.items():
        if name not in _SHOWN:
            yield name, value
    yield from ((name, value) for name, value in body.get("output_config", {}).items() if name != "format")


def _definitions(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the tools and the schema of the answer with their titles, as JSON."""
    for tool in body.get("tools", ()):
        yield f"tool {tool['name']}", json.dumps(tool, ensure_ascii=False)
    if schema := body.get("output_config", {}).get("format", {}).get("schema"):
        yield _SCHEMA, json.dumps(schema, ensure_ascii=False)


def _texts(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the texts of a request with their titles."""
    for block in body.get("system", ()):
        yield "system prompt", block["text"]
    for message in body["messages"]:
        for number, block in enumerate(message["content"], 1):
            yield f"{message['role']} message, part {number}", block["text"]
