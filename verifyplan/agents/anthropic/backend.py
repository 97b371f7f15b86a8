"""Play roles and workers by models: the backend that answers through the Messages API (rules G1, G3, A12, B4)."""

from __future__ import annotations

import asyncio
import copy
import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from decimal import Decimal
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self

from verifyplan.agents.anthropic.answer_schemas import Structured, answer_schema
from verifyplan.agents.anthropic.conversation import Conversation, EndpointCalls
from verifyplan.agents.anthropic.endpoints import Endpoints, check_logged
from verifyplan.agents.anthropic.key import PLACEHOLDER, Key, check_model, hide_key, misplaced_keys
from verifyplan.agents.anthropic.model_config import Effort, ModelConfig, ModelConfigs, ModelSettings, request_metadata
from verifyplan.agents.anthropic.rendering import prompt_versions, render
from verifyplan.agents.anthropic.toolkits import ToolkitFactory, tools_of
from verifyplan.agents.base import (
    Address,
    BatchClient,
    ModelReply,
    Request,
    Room,
    Sending,
    SendRequest,
    Turns,
    UnrecordedTurns,
)
from verifyplan.agents.evidence import open_evidence
from verifyplan.agents.prices import Price, PriceSource, logged_price, price_of, turn_estimate, unpriced, usage_of
from verifyplan.agents.tools import tool_definitions
from verifyplan.errors import Problem, SettingsError, expect_mappings, without_keys_in_tracebacks
from verifyplan.protocol.call import Reply, ToolUse, Usage, WorkerRequest

_CACHED = {"cache_control": {"type": "ephemeral"}}
_ARGUMENTS = (
    *("model", "max_tokens", "effort", "thinking", "temperature", "context", "prompt", "models", "workers", "base_url"),
    *("max_concurrency", "max_retries", "timeout", "structured", "cache", "web", "memory", "allow_files"),
)
"""The arguments that `describe` holds under their names."""


class Anthropic:
    """A backend of models, for all roles and workers: Anthropic's Messages API, or any endpoint that speaks it.

    Args:
        model: the model of all roles and workers without their own.
        models: by role (`challenger`, `synthesizer`, ..., `worker`; in debates `architect` and `builder`) another
            model, or a mapping of settings: model, max_tokens, effort, thinking, temperature, context, prompt,
            base_url, structured, max_concurrency (of its endpoint).
        workers: the same by worker, for panels of different models; `style` is a worker's stance, if not the run's.
        base_url: the endpoint; by default ANTHROPIC_BASE_URL, else Anthropic's own.
        api_key: its key; by default ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, or the keyring. It is never written. None
            is needed if all roles and workers have their own endpoints.
        api_keys: keys of other endpoints, by address.
        max_concurrency: calls that run at the same time.
        max_retries: how often one request is sent again after a lost connection, 408, 409, 429 or 5xx.
        timeout: seconds that one request may take; the timeout of a run is for a whole call.
        max_tokens: tokens of one answer.
        effort: low, medium, high, xhigh or max; None leaves it to the model.
        thinking: "adaptive", "disabled", or tokens to think for; None leaves it to the model.
        temperature: 0-1, for models that take one.
        context: tokens of prompt and answer together, if they are few: `crossverify` then asks about as many findings
            at once as fit, unless `items_per_call` is set.
        prompt: "short" for workers whose model has a small context: about a quarter of the words of "full".
        structured: True: the endpoint is to hold answers to their schema, of votes with the ids of the call's findings.
            "counts": the schema also says how many votes (the SDK of Anthropic's API leaves such limits out). "shape":
            one schema for all calls of a kind, for endpoints that take long over each new one. False: the prompt shows
            the form. Where the endpoint refuses the schema, the prompt shows the form from then on; where an answer is
            not JSON, its repair does. `run.frames.turns` says which it was. Answers are checked here in all cases.
        cache: whether what calls share (the plan, the record; of a debate task and documents) is marked for the
            endpoint's cache of prompts.
        web: whether the research roles may search and fetch, where rule A12 allows it; what they search for leaves
            this machine. Architect and builder have Read and Grep alone.
        allow_files: patterns of files that may be opened although their names look secret: `["hosts.yml"]`. What looks
            like a secret in them is redacted nevertheless.
        memory: a folder of notes for memory_search (`pip install 'verifyplan[memory]'`).
        prices: a price table of your own, a mapping or a TOML file.
        repo: the folder that tools read; `verify` and `crossverify` set it to theirs.

    Raises SettingsError, listing everything that does not fit. Each exchange is recorded in the run log; an interrupted
    run continues within a call. Source: rules G1, G3, G4, A11, A12, B4.

    >>> Anthropic("claude-opus-5-5", api_key="secret", workers={"ann": "claude-haiku-5-5"})
    Anthropic('claude-opus-5-5', key from api_key)
    """

    @without_keys_in_tracebacks
    def __init__(
        self,
        model: str | None = None,
        *,
        models: Mapping[str, ModelSettings] | None = None,
        workers: Mapping[str, ModelSettings] | None = None,
        base_url: str | None = None,
        api_key: str | Key | None = None,
        api_keys: Mapping[str, str | Key] | None = None,
        max_concurrency: int = 8,
        max_retries: int = 2,
        timeout: float = 600.0,
        max_tokens: int = 16_000,
        effort: Effort | None = None,
        thinking: str | int | None = None,
        temperature: float | None = None,
        context: int | None = None,
        prompt: Literal["full", "short"] | None = None,
        structured: Structured = True,
        cache: bool = True,
        web: bool = False,
        memory: str | Path | None = None,
        allow_files: Sequence[str] = (),
        prices: PriceSource | None = None,
        repo: str | Path = ".",
    ) -> None:
        api_key = None if api_key is None else hide_key(api_key)
        expect_mappings(models=models, workers=workers, api_keys=api_keys)
        api_keys = {address: hide_key(own, "api_keys") for address, own in (api_keys or {}).items()}
        _raise_problems(misplaced_keys(models=models, workers=workers))
        _raise_problems(_patterns_problem(allow_files))
        self.structured, self.max_concurrency, self.cache = structured, max_concurrency, cache
        _check_numbers(max_concurrency=max_concurrency, max_retries=max_retries, timeout=timeout)
        default: dict[str, Any] = {"model": model, "max_tokens": max_tokens, "effort": effort, "thinking": thinking}
        default |= {"temperature": temperature, "context": context, "prompt": prompt}
        self._default, self._models, self._workers = default, dict(models or {}), dict(workers or {})
        self._configs = ModelConfigs(default, self._models, self._workers, base_url)
        asked = {config.base_url for config in self._configs.all}
        self.endpoints = Endpoints(base_url, api_key, api_keys, timeout=timeout, max_retries=max_retries, asked=asked)
        _raise_problems(check_model(config.model) for config in self._configs.all)
        _raise_problems(self.endpoints.check(config.base_url) for config in self._configs.all)
        priced = {config.model: price_of(config.model, prices) for config in self._configs.all}
        _raise_problems(unpriced(priced) if web else ())
        self.prices: Mapping[str, Price | None] = MappingProxyType(priced)
        self.memory: Path | None = Path(memory).absolute() if memory is not None else None
        self._toolkits = ToolkitFactory(Path(repo), self.memory, web=web, allow_files=tuple(allow_files))
        self._send_request: SendRequest | None = None
        self._repetition = 1
        self._refusing: set[tuple[Address, str]] = set()
        """Endpoints with models that have refused a schema in this run."""

    def __repr__(self) -> str:
        """Return the model, and where the key comes from; of one whose making has failed, nothing."""
        if not hasattr(self, "endpoints"):
            return "<Anthropic: not made>"
        names = self._default["model"] or ", ".join(sorted({config.model for config in self._configs.all}))
        return f"Anthropic({names!r}, key from {self.endpoints.key_origin})"

    def at(self, repo: str | Path) -> Self:
        """Return the same backend for one run over another folder, whose files are listed at the first call."""
        other = copy.copy(self)
        other._refusing = set()
        other._toolkits = ToolkitFactory(
            Path(repo), self.memory, web=self._toolkits.web, allow_files=self._toolkits.allow_files, of_run=True
        )
        return other

    def in_repetition(self, repetition: int) -> Self:
        """Return the same backend for one of several runs of the same inputs, whose number its requests then name."""
        other = copy.copy(self)
        other._repetition = repetition
        return other

    def through(self, send: SendRequest) -> Self:
        """Return the same backend, sending its requests by `send`, as message batches do."""
        other = copy.copy(self)
        other._send_request = send
        return other

    def batch_client(self, address: Address) -> BatchClient:
        """Return the message batches of an endpoint; call it within a session."""
        batches = importlib.import_module("verifyplan.agents.anthropic.batches")  # the SDK takes over a second
        client: BatchClient = batches.AnthropicBatches(self.endpoints.at(address))
        return client

    def describe(self) -> dict[str, Any]:
        """Return all settings but the key, the prompts by version and digest, the prices, and the SDK's version."""
        return {
            "name": "anthropic",
            **self._default,
            "models": {name: own if isinstance(own, str) else dict(own) for name, own in self._models.items()},
            "workers": {name: own if isinstance(own, str) else dict(own) for name, own in self._workers.items()},
            "base_url": self.endpoints.default_address,
            "max_concurrency": self.max_concurrency,
            "max_retries": self.endpoints.max_retries,
            "timeout": self.endpoints.timeout,
            "structured": self.structured,
            "cache": self.cache,
            "web": self._toolkits.web,
            "memory": str(self.memory) if self.memory else None,
            "allow_files": list(self._toolkits.allow_files),
            "sdk": version("anthropic"),
            "prompts": prompt_versions(),
            "prices": {model: price.model_dump(mode="json") if price else None for model, price in self.prices.items()},
        }

    @classmethod
    @without_keys_in_tracebacks
    def described(cls, settings: Mapping[str, Any], base_url: Address = None) -> Self:
        """Return the backend that `describe` described, with the key of now; SettingsError if there is none.

        The key goes to the endpoint of this environment, or to `base_url`: not to another that a log names, nor to
        another port of this machine.
        """
        if base_url is None:
            _raise_problems([check_logged(settings.get("base_url"))])
        return cls(**cls.arguments_of(settings) | ({"base_url": base_url} if base_url else {}))

    @staticmethod
    def arguments_of(settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments in a description, whoever wrote it: `described` checks its endpoint first."""
        logged = (settings.get("prices") or {}).items()
        prices = {model: logged_price(price) for model, price in logged if price is not None}
        return {name: settings[name] for name in _ARGUMENTS if name in settings} | {"prices": prices or None}

    @classmethod
    @without_keys_in_tracebacks
    def keyless(cls, model: str | None = None, **settings: Any) -> Self:
        """Return a backend with these settings for which no key is looked up: for estimates and previews.

        Estimates and previews send nothing. A run with this backend does send its requests: an endpoint that takes no
        key answers them; for Anthropic's own host the run is refused before anything is sent.
        """
        key = Key(PLACEHOLDER, "nowhere: nothing is sent")
        expect_mappings(models=settings.get("models"), workers=settings.get("workers"))
        configs = [*(settings.get("models") or {}).values(), *(settings.get("workers") or {}).values()]
        addresses = {own["base_url"] for own in configs if isinstance(own, Mapping) and own.get("base_url")}
        return cls(model, **settings, api_key=key, api_keys=dict.fromkeys(addresses, key))

    def check_worker(self, worker: str) -> str | None:
        """Return None if the worker has a model, its own or that of all workers; else what is missing."""
        return self._configs.worker_problem(worker)

    def budget_problem(self, limit: str) -> str | None:
        """Return None if every model has a price, where a run is to end at a cost; else which models have none."""
        unknown = [model for model, price in self.prices.items() if price is None]
        if limit != "max_cost" or not unknown:
            return None
        return f"no price is known for {', '.join(unknown)}"

    def session(self) -> AbstractAsyncContextManager[object]:
        """Hold the connections while a run is driven; SettingsError where an endpoint needs a key that is missing."""
        _raise_problems(self.endpoints.missing_key(config.base_url) for config in self._configs.all)
        return self.endpoints.session()

    async def answer(self, request: Request) -> Reply:
        """Return the reply to one request, in turns that are recorded nowhere."""
        return await self.converse(request, UnrecordedTurns())

    async def converse(self, request: Request, turns: Turns) -> Reply:
        """Return the reply to one request; AgentError or TimeoutError where the model gave no usable one."""
        conversation = await asyncio.to_thread(self._conversation, request, turns)
        return await conversation.run()

    def first_request(self, request: Request) -> dict[str, Any]:
        """Return the body of the first request of a call, as it would be sent: model, limits, prompt, tools.

        Nothing is sent; the places that a worker's findings cite are opened. Source: rule G3.

        >>> from verifyplan.protocol.call import WorkerRequest
        >>> vote = {"mode": "adversarial", "verification_mode": "lightweight", "items": ()}
        >>> request = WorkerRequest(call_id="r1/ann", worker="ann", round=1, **vote)
        >>> backend = Anthropic.keyless(model="claude-haiku-5-5", max_tokens=900)
        >>> backend.first_request(request)["max_tokens"]
        900
        """
        return self._conversation(request, UnrecordedTurns()).first_body()

    def room(self, request: Request) -> Room | None:
        """Return the tokens that the prompt and the answer to a request may have; None where no context is named."""
        config = self._configs.of(request)
        return None if config.context is None else Room(config.context - config.max_tokens, config.max_tokens)

    @property
    def call_limits(self) -> Mapping[str, int]:
        """How many calls an endpoint has under way at once, where a role or worker there says so: the fewest.

        In message batches there is no such limit.
        """
        limits: dict[str, int] = {}
        for config in () if self._send_request else self._configs.all:
            if config.max_concurrency is not None:
                address = config.base_url or self.endpoints.default_address
                limits[address] = min(config.max_concurrency, limits.get(address, config.max_concurrency))
        return limits

    def address_for(self, request: Request) -> str:
        """Return the endpoint that a request goes to."""
        return self._configs.of(request).base_url or self.endpoints.default_address

    def _conversation(self, request: Request, turns: Turns) -> Conversation:
        """Return the conversation of a call before its first turn: the prompt rendered, the tools made."""
        config = self._configs.of(request)
        is_worker = isinstance(request, WorkerRequest)
        opened, uses = self._open_evidence(request) if isinstance(request, WorkerRequest) else (None, ())
        toolkit, paid_calls = None, 0
        if not isinstance(request, WorkerRequest) and (tools := tools_of(request)):
            toolkit, paid_calls = self._toolkits.toolkit(request), sum(tools.values())
        style = config.style if is_worker else None
        rendered = render(request, style=style, opened=opened, short=config.prompt == "short")
        head = {**config.body(), "metadata": request_metadata(request, self._repetition)}
        model = (config.base_url, config.model)
        structured = self.structured if config.structured is None else config.structured
        cached: dict[str, Any] = _CACHED if self.cache else {}
        head["system"] = [{"type": "text", "text": rendered.system, **cached}]
        if toolkit is not None and toolkit.allowed():
            head["tools"] = tool_definitions(toolkit.allowed())
        # All blocks but the last are the same in every call of a role, and are marked to be cached.
        *lasting, last = ({"type": "text", "text": text} for text in rendered.blocks)
        return Conversation(
            request=request,
            turns=turns,
            endpoint=EndpointCalls(partial(self._post, config), partial(self._estimate, config.model)),
            head=head,
            opening=[*({**block, **({} if is_worker else cached)} for block in lasting), last],
            schema=answer_schema(request, structured),
            answer_form="schema" if structured and model not in self._refusing else "prompt",
            refused=lambda: self._refusing.add(model),
            opened=uses,
            toolkit=toolkit,
            cache=self.cache,
            paid_calls=paid_calls,
        )

    def _open_evidence(self, request: WorkerRequest) -> tuple[dict[str, str] | None, tuple[ToolUse, ...]]:
        """Return the cited places as a worker of full reanalysis sees them; nothing for others."""
        if request.verification_mode == "lightweight":
            return None, ()
        plan = next(iter(request.documents.values()), "")
        fresh = request.round == 1 and not request.documents
        return open_evidence(request.items, self._toolkits.repository(plan, fresh=fresh), request.documents)

    async def _post(self, config: ModelConfig, turn: str, body: dict[str, Any], sending: Sending) -> ModelReply:
        if self._send_request is not None:
            reply = await self._send_request(config.base_url, turn, body)
        else:
            reply = ModelReply(await self.endpoints.send(config.base_url, turn, body, sending), Usage())
        batched, price = reply.batch is not None, self.prices[config.model]
        return reply._replace(usage=usage_of(reply.message, body, price, batch=batched))

    def _estimate(self, model: str, body: dict[str, Any]) -> Usage:
        return turn_estimate(body, self.prices[model], batch=self._send_request is not None)


def _raise_problems(problems: Iterable[Problem | None]) -> None:
    if unique := dict.fromkeys(problem for problem in problems if problem is not None):
        raise SettingsError(unique)


def _patterns_problem(patterns: object) -> Iterator[Problem]:
    """Yield the problem of `allow_files` where it is no list of patterns."""
    listed = isinstance(patterns, list | tuple)
    if not listed or not all(isinstance(each, str) and each.strip() for each in patterns):  # type: ignore[attr-defined]
        fix = 'give patterns of names or paths, such as ["hosts.yml", "deploy/*.env"]'
        yield Problem("allow_files", f"must be a list of patterns, got {patterns!r}", fix)


def _check_numbers(*, max_concurrency: int, max_retries: int, timeout: float) -> None:
    """Raise SettingsError listing the numbers that cannot be used."""
    problems = []
    if isinstance(max_concurrency, bool) or not isinstance(max_concurrency, int) or max_concurrency < 1:
        message = f"must be an integer of at least 1, got {max_concurrency!r}"
        problems.append(Problem("max_concurrency", message, "give 1 or more"))
    if isinstance(max_retries, bool) or not isinstance(max_retries, int) or not 0 <= max_retries <= 20:
        message = f"must be an integer from 0 to 20, got {max_retries!r}"
        problems.append(Problem("max_retries", message, "give 0 to 20"))
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < Decimal("Infinity"):
        message = f"must be a finite number of seconds above 0, got {timeout!r}"
        problems.append(Problem("timeout", message, "give seconds above 0"))
    if problems:
        raise SettingsError(problems)
