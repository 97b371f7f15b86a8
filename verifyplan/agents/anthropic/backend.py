"""Agents that are models: the backend that answers requests through the Messages API (rules G1, G3, A12, B4)."""

from __future__ import annotations

import asyncio
import copy
import importlib
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, suppress
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from verifyplan.agents.anthropic.answer_schemas import answer_schema
from verifyplan.agents.anthropic.conversation import Block, Conversation
from verifyplan.agents.anthropic.endpoints import Endpoints, check_logged
from verifyplan.agents.anthropic.key import PLACEHOLDER, Key, check_model, hide_key, misplaced_keys
from verifyplan.agents.anthropic.model_config import (
    Effort,
    ModelConfig,
    ModelConfigs,
    ModelSettings,
)
from verifyplan.agents.anthropic.rendering import Rendered, prompt_versions, render
from verifyplan.agents.anthropic.toolkits import ToolkitFactory, tools_of
from verifyplan.agents.base import Address, BatchClient, ModelReply, Request, SendRequest, Turns, UnrecordedTurns
from verifyplan.agents.evidence import open_evidence
from verifyplan.agents.prices import Price, PriceSource, price_of, usage_of
from verifyplan.agents.tools import ModelToolkit, tool_definitions
from verifyplan.errors import Problem, SettingsError, expect_mappings
from verifyplan.protocol.call import Reply, ToolUse, Usage, WorkerRequest

_WORDS = ("source", "date", "note")
"""What of a price is words, and no number."""

_CACHED = {"cache_control": {"type": "ephemeral"}}


class Anthropic:
    """Plays all roles and workers by models of Anthropic's Messages API, or of any endpoint that speaks it.

    Args:
        model: the model of everybody who has none of their own.
        models: by role (`challenger`, `synthesizer`, ..., `worker`; in debates `architect` and `builder`) another
            model, or a mapping of settings: model, max_tokens, effort, thinking, temperature, base_url.
        workers: the same by worker, for panels of different models; `style` is a worker's stance, if not the run's.
        base_url: the endpoint; ANTHROPIC_BASE_URL, or Anthropic's own, if left out.
        api_key: its key; else ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, or the keyring. It is written nowhere.
        api_keys: keys of other endpoints, by address.
        max_concurrency: calls under way at once.
        max_retries: how often one request is sent again after a lost connection, 408, 409, 429 or 5xx.
        timeout: seconds that one request may take; the run's own timeout is that of a whole call.
        max_tokens: tokens of one answer.
        effort: low, medium, high, xhigh or max; None leaves it to the model.
        thinking: "adaptive", "disabled", or tokens to think for; None leaves it to the model.
        temperature: 0-1, for models that take one.
        structured: whether the endpoint is to hold answers to their schema; False for one that refuses it. Answers are
            checked here in both cases.
        cache: whether what calls share (the plan, the record; of a debate task and documents) is marked for the
            endpoint's cache of prompts.
        web: whether the research roles may search and fetch, where rule A12 allows it; what they search for leaves
            this machine. Architect and builder have Read and Grep alone.
        memory: a folder of notes for memory_search (`pip install 'verifyplan[memory]'`).
        prices: a price table of your own, a mapping or a TOML file.
        root: the folder that tools read; `verify` and `crossverify` set it to theirs.

    Raises SettingsError, listing everything that does not fit. Each exchange is a fact in the run log; a run that
    died goes on within a call. Source: rules G1, G3, G4, A11, A12, B4.

    >>> Anthropic("claude-opus-4-5", api_key="the-key-of-this-example", workers={"ann": "claude-haiku-4-5"})
    Anthropic('claude-opus-4-5', key from api_key)
    """

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
        structured: bool = True,
        cache: bool = True,
        web: bool = False,
        memory: str | Path | None = None,
        prices: PriceSource | None = None,
        root: str | Path = ".",
    ) -> None:
        api_key = None if api_key is None else hide_key(api_key)
        api_keys = {address: hide_key(own, "api_keys") for address, own in (api_keys or {}).items()}
        expect_mappings(models=models, workers=workers)
        _refuse(misplaced_keys(models=models, workers=workers))
        _check_numbers(max_concurrency=max_concurrency, max_retries=max_retries, timeout=timeout)
        default: dict[str, Any] = {"model": model, "max_tokens": max_tokens, "effort": effort, "thinking": thinking}
        default["temperature"] = temperature
        self.max_concurrency, self.structured, self.cache = max_concurrency, structured, cache
        self._default, self._models, self._workers = default, dict(models or {}), dict(workers or {})
        self._voices = ModelConfigs(default, self._models, self._workers, base_url)
        self._endpoints = Endpoints(base_url, api_key, api_keys, timeout=timeout, max_retries=max_retries)
        _refuse(check_model(voice.model) for voice in self._voices.all)
        _refuse(self._endpoints.check(voice.base_url) for voice in self._voices.all)
        self._prices = {voice.model: price_of(voice.model, prices) for voice in self._voices.all}
        self._memory = Path(memory).absolute() if memory is not None else None
        self._toolkits = ToolkitFactory(Path(root), self._memory, web=web)
        self._send_request: SendRequest | None = None

    def __repr__(self) -> str:
        """The model, and where the key comes from; of one whose making has failed, nothing."""
        if not hasattr(self, "_endpoints"):
            return "<Anthropic: not made>"
        named = self._default["model"] or ", ".join(sorted({voice.model for voice in self._voices.all}))
        return f"Anthropic({named!r}, key from {self._endpoints.key_origin})"

    def at(self, root: str | Path) -> Self:
        """The same backend, its tools reading another folder."""
        moved = copy.copy(self)
        moved._toolkits = ToolkitFactory(Path(root), self._memory, web=self._toolkits.web, kind=self._toolkits.kind)
        return moved

    def with_tools(self, kind: type[ModelToolkit]) -> Self:
        """The same backend, its agents having tools of another kind, as in dry runs."""
        other = copy.copy(self)
        other._toolkits = ToolkitFactory(self._toolkits.root, self._memory, web=self._toolkits.web, kind=kind)
        return other

    def through(self, send: SendRequest) -> Self:
        """The same backend, sending its requests by `send`, as message batches do."""
        other = copy.copy(self)
        other._send_request = send
        return other

    @property
    def endpoints(self) -> Endpoints:
        """The connections."""
        return self._endpoints

    def batch_client(self, address: Address) -> BatchClient:
        """The message batches of an endpoint; within a session."""
        batches = importlib.import_module("verifyplan.agents.anthropic.batches")  # the SDK takes over a second
        client: BatchClient = batches.AnthropicBatches(self._endpoints.at(address))
        return client

    @property
    def prices(self) -> Mapping[str, Price | None]:
        """What each of its models costs; None for one that no table has."""
        return dict(self._prices)

    @property
    def memory(self) -> Path | None:
        """The folder of notes for memory_search."""
        return self._memory

    def describe(self) -> dict[str, Any]:
        """All settings but the key, the prompts by version and digest, prices with their sources, the SDK's version."""
        return {
            "name": "anthropic",
            **self._default,
            "models": {name: own if isinstance(own, str) else dict(own) for name, own in self._models.items()},
            "workers": {name: own if isinstance(own, str) else dict(own) for name, own in self._workers.items()},
            "base_url": self._endpoints.named,
            "max_concurrency": self.max_concurrency,
            "max_retries": self._endpoints.max_retries,
            "timeout": self._endpoints.timeout,
            "structured": self.structured,
            "cache": self.cache,
            "web": self._toolkits.web,
            "memory": str(self._memory) if self._memory else None,
            "sdk": version("anthropic"),
            "prompts": prompt_versions(),
            "prices": {
                model: price.model_dump(mode="json") if price else None for model, price in self._prices.items()
            },
        }

    @classmethod
    def described(cls, settings: Mapping[str, Any]) -> Self:
        """The backend that `describe` told of, with the key that is found now; SettingsError if there is none.

        The key goes to the endpoint of this environment, or to this machine: not to another that a log names.
        """
        _refuse([check_logged(settings.get("base_url"))])
        return cls(**cls.arguments_of(settings))

    @staticmethod
    def arguments_of(settings: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that `describe` told of, whoever wrote them: `described` looks at the endpoint first."""
        known = ("model", "max_tokens", "effort", "thinking", "temperature", "models", "workers", "base_url")
        known += ("max_concurrency", "max_retries", "timeout", "structured", "cache", "web", "memory")  # type: ignore[assignment]
        prices = {model: _logged(price) for model, price in (settings.get("prices") or {}).items() if price is not None}
        return {name: settings[name] for name in known if name in settings} | {"prices": prices or None}

    @classmethod
    def keyless(cls, **settings: Any) -> Self:
        """A backend with these settings for which no key is looked up: for dry runs, which send nothing."""
        key = Key(PLACEHOLDER, "nowhere: nothing is sent")
        expect_mappings(models=settings.get("models"), workers=settings.get("workers"))
        voices = [*(settings.get("models") or {}).values(), *(settings.get("workers") or {}).values()]
        addresses = {own["base_url"] for own in voices if isinstance(own, Mapping) and own.get("base_url")}
        return cls(**settings, api_key=key, api_keys=dict.fromkeys(addresses, key))

    def check_worker(self, worker: str) -> str | None:
        """None if the worker has a model, its own or that of all workers; else what is missing."""
        return self._voices.plays(worker)

    def budget_problem(self, limit: str) -> str | None:
        """None if every model has a price, where a run is to end at a cost; else which has none and how to add one."""
        unknown = [model for model, price in self._prices.items() if price is None]
        if limit != "max_cost" or not unknown:
            return None
        return f"no price is known for {', '.join(unknown)}"

    def session(self) -> AbstractAsyncContextManager[object]:
        """Holds the connections while a run is driven."""
        return self._endpoints.session()

    async def answer(self, request: Request) -> Reply:
        """The reply to one request, in turns that are recorded nowhere."""
        return await self.converse(request, UnrecordedTurns())

    async def converse(self, request: Request, turns: Turns) -> Reply:
        """The reply to one request; AgentError or TimeoutError where the model gave none that can be used."""
        voice = self._voices.of(request)
        opened, uses = await self._opened(request)
        kit = await asyncio.to_thread(self._kit, request)
        rendered = render(request, style=voice.style if isinstance(request, WorkerRequest) else None, opened=opened)
        return await Conversation(
            request=request,
            turns=turns,
            post=lambda turn, body: self._post(voice, turn, body),
            head=self._head(request, voice, rendered, kit),
            opening=self._opening(request, rendered),
            opened=uses,
            toolkit=kit,
            cache=self.cache,
            paid_calls=0 if isinstance(request, WorkerRequest) else sum(tools_of(request).values()),
        ).run()

    async def _opened(self, request: Request) -> tuple[dict[str, str] | None, tuple[ToolUse, ...]]:
        """What a worker of full reanalysis sees of the cited places; nothing for anybody else."""
        if not isinstance(request, WorkerRequest) or request.verification_mode == "lightweight":
            return None, ()
        plan = next(iter(request.documents.values()), "")
        fresh = request.round == 1 and not request.documents
        repository = await asyncio.to_thread(self._toolkits.repository, plan, fresh=fresh)
        return await asyncio.to_thread(open_evidence, request.items, repository, request.documents)

    def _kit(self, request: Request) -> ModelToolkit | None:
        return None if isinstance(request, WorkerRequest) or not tools_of(request) else self._toolkits.toolkit(request)

    def _head(
        self, request: Request, voice: ModelConfig, rendered: Rendered, kit: ModelToolkit | None
    ) -> dict[str, Any]:
        body = voice.body()
        if self.structured:
            shape = {"type": "json_schema", "schema": answer_schema(request)}
            body["output_config"] = {**body.get("output_config", {}), "format": shape}
        body["system"] = [{"type": "text", "text": rendered.system, **(_CACHED if self.cache else {})}]
        return body | {"tools": tool_definitions(kit.allowed())} if kit is not None and kit.allowed() else body

    def _opening(self, request: Request, rendered: Rendered) -> list[Block]:
        """The first message: all but its last block stay as they are from call to call, and are marked to be cached."""
        *lasting, last = ({"type": "text", "text": text} for text in rendered.blocks)
        worth = self.cache and not isinstance(request, WorkerRequest)
        return [*({**block, **(_CACHED if worth else {})} for block in lasting), last]

    async def _post(self, voice: ModelConfig, turn: str, body: dict[str, Any]) -> ModelReply:
        if self._send_request is not None:
            exchanged = await self._send_request(voice.base_url, turn, body)
        else:
            exchanged = ModelReply(await self._endpoints.send(voice.base_url, turn, body), Usage())
        used = usage_of(exchanged.message, self._prices[voice.model], batch=exchanged.batch is not None)
        return exchanged._replace(usage=used)


def _logged(price: Mapping[str, Any]) -> dict[str, Any]:
    """A price as it was before a log, which holds numbers of so many digits as texts."""
    known = {name: _logged(value) if isinstance(value, Mapping) else value for name, value in price.items()}
    with suppress(ArithmeticError):
        return {n: Decimal(v) if isinstance(v, str) and n not in _WORDS else v for n, v in known.items()}
    return known


def _refuse(problems: Any) -> None:
    found = dict.fromkeys(problem for problem in problems if problem is not None)
    if found:
        raise SettingsError(found)


def _check_numbers(*, max_concurrency: int, max_retries: int, timeout: float) -> None:
    """SettingsError listing the numbers that cannot be used."""
    problems = []
    if isinstance(max_concurrency, bool) or not isinstance(max_concurrency, int) or max_concurrency < 1:
        problems.append(Problem("max_concurrency", f"{max_concurrency!r} is no number of calls", "give 1 or more"))
    if isinstance(max_retries, bool) or not isinstance(max_retries, int) or not 0 <= max_retries <= 20:
        problems.append(Problem("max_retries", f"{max_retries!r} is no number of retries", "give 0 to 20"))
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < Decimal("Infinity"):
        fix = "give seconds above 0"
        problems.append(Problem("timeout", f"{timeout!r} is no time that a request can take", fix))
    if problems:
        raise SettingsError(problems)
