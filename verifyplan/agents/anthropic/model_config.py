"""Configure the model of each role and worker, and name worker and repetition in each request (rules G3, F3)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from verifyplan.agents.anthropic.answer_schemas import Structured
from verifyplan.agents.base import Request
from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.protocol.base import Model
from verifyplan.protocol.call import WorkerRequest
from verifyplan.protocol.message import DEBATE_ROLES
from verifyplan.protocol.role_call import ROLES
from verifyplan.protocol.vote import Mode
from verifyplan.text import did_you_mean

Effort = Literal["low", "medium", "high", "xhigh", "max"]

MAX_OUTPUT_TOKENS = 21_000
"""Tokens of one answer: above, the API wants answers streamed."""


class ModelConfig(Model):
    """One model and its settings; what is None is left to the endpoint."""

    model: Annotated[str, Field(min_length=1, max_length=200, pattern=r"^\S+$")]
    max_tokens: Annotated[int, Field(ge=1, le=MAX_OUTPUT_TOKENS)] = Field(
        default=16_000, description="Tokens of one answer, thinking included."
    )
    effort: Effort | None = None
    thinking: Literal["adaptive", "disabled"] | Annotated[int, Field(ge=1024)] | None = Field(
        default=None, description="Or the tokens that it may think for."
    )
    temperature: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="Newer models take none, and say so."
    )
    style: Mode | None = Field(default=None, description="A worker's stance, where it is not that of the run.")
    base_url: str | None = Field(default=None, description="An endpoint of its own.")
    context: Annotated[int, Field(ge=256)] | None = Field(
        default=None, description="Tokens of prompt and answer together; calls about findings are fitted into them."
    )
    prompt: Literal["full", "short"] | None = Field(
        default=None, description="A worker's prompt: `short` has about a quarter of the words, for small contexts."
    )

    structured: Structured | None = Field(
        default=None, description="How its endpoint is to hold answers to their form, where it is not as the others."
    )
    max_concurrency: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="Calls that its endpoint has under way at once in a run; the fewest of any there count.",
    )

    def body(self) -> dict[str, Any]:
        """Return its part of a request, as the API names it.

        >>> ModelConfig(model="m", thinking=2048, effort="low").body()["thinking"]
        {'type': 'enabled', 'budget_tokens': 2048}
        """
        body: dict[str, Any] = {"model": self.model, "max_tokens": self.max_tokens}
        if isinstance(self.thinking, int):
            body["thinking"] = {"type": "enabled", "budget_tokens": self.thinking}
        elif self.thinking:
            body["thinking"] = {"type": self.thinking}
        if self.effort:
            body["output_config"] = {"effort": self.effort}
        if self.temperature is not None:
            body["temperature"] = self.temperature
        return body


ModelSettings = str | Mapping[str, Any]
"""A model's name, or some of the settings of a `ModelConfig`."""


class ModelConfigs:
    """The model configuration of each role and worker: the default, and what they have of their own.

    A text in `models` or `workers` names another model; a mapping, other settings. SettingsError listing everything
    that does not fit.
    """

    def __init__(
        self,
        default: Mapping[str, Any],
        models: Mapping[str, ModelSettings],
        workers: Mapping[str, ModelSettings],
        base_url: str | None,
    ) -> None:
        self._problems: list[Problem] = []
        self._default = dict(default)
        own_models, own_workers = _as_mappings(models), _as_mappings(workers)
        known = (*ROLES, *DEBATE_ROLES, "worker")
        for name in own_models:
            if name not in known:
                fix = f"use {one_of(known)}; name single workers in workers="
                self._problems.append(Problem("models", f"{name!r} is not a role{did_you_mean(name, known)}", fix))
        worker = own_models.get("worker", {})
        settings = {
            **{f"models[{n!r}]": own for n, own in own_models.items()},
            **{f"workers[{n!r}]": {**worker, **own} for n, own in own_workers.items()},
        }
        if default.get("model") is not None or not settings:
            settings = {"Anthropic": {}, **settings}
        self._configs = {place: self._config(place, own, base_url) for place, own in settings.items()}
        self.all = list(dict.fromkeys(self._configs.values()))
        if self._problems:
            raise SettingsError(self._problems)

    def of(self, request: Request) -> ModelConfig:
        """Return the configuration for a request; SettingsError where no model is named for it."""
        if isinstance(request, WorkerRequest):
            places = [f"workers[{request.worker!r}]", "models['worker']"]
        else:
            places = [f"models[{request.role!r}]"]
        config = next((self._configs[place] for place in (*places, "Anthropic") if place in self._configs), None)
        if config is None:
            raise SettingsError(_no_model(places[0]))
        return config

    def worker_problem(self, worker: str) -> str | None:
        """Return None if a worker has a model, else what is missing."""
        places = {f"workers[{worker!r}]", "models['worker']", "Anthropic"}
        return None if places & self._configs.keys() else f"worker {worker!r} has no model"

    def _config(self, place: str, own: Mapping[str, Any], base_url: str | None) -> ModelConfig:
        settings = {"base_url": base_url, **{k: v for k, v in self._default.items() if v is not None}, **own}
        if settings.get("model") is None:
            self._problems.append(_no_model(place))
            settings["model"] = "-"
        try:
            config = ModelConfig.model_validate(settings)
        except ValidationError as error:
            for details in error.errors(include_url=False):
                name = ".".join(str(part) for part in details["loc"][:1])
                unknown = details["type"] == "extra_forbidden"
                fix = f"use {one_of(list(ModelConfig.model_fields))}" if unknown else "see agents.Anthropic"
                message = f"{details['input']!r} does not fit: {details['msg']}"
                self._problems.append(Problem(f"{place}: {name}", message, fix))
            return ModelConfig(model="-")
        if isinstance(config.thinking, int) and config.thinking >= config.max_tokens:
            fix = f"give fewer than {config.max_tokens:,}, its max_tokens: thinking is a part of the answer"
            self._problems.append(Problem(f"{place}: thinking", f"{config.thinking:,} tokens do not fit", fix))
        if config.context is not None and config.context <= config.max_tokens:
            fix = f"give max_tokens of less than {config.context:,}, which prompt and answer share"
            message = f"{config.context:,} tokens have no room for an answer of max_tokens={config.max_tokens:,}"
            self._problems.append(Problem(f"{place}: context", message, fix))
        return config


def _as_mappings(settings: Mapping[str, ModelSettings]) -> dict[str, dict[str, Any]]:
    return {str(n): {"model": own} if isinstance(own, str) else dict(own) for n, own in settings.items()}


def _no_model(place: str) -> Problem:
    fix = "give model=, the id of a model as the endpoint knows it; `verifyplan doctor` lists those of an endpoint"
    return Problem(place, "no model is named", fix)


DIGEST_CHARACTERS = 12
"""Characters of the digest that stands for a worker's name."""


def request_metadata(request: Request, repetition: int) -> dict[str, str]:
    """Return the `metadata` of a request: its worker or role, and which repetition of the run it is for.

    `user_id` is its only field. The API wants no names of people in it, and a roster may hold some: a worker is named
    by the first 12 hexadecimal digits of its name's SHA-256. It is no part of what endpoints cache of prompts. Source:
    rule G3; types/metadata_param.py of the SDK.

    >>> vote = {"mode": "adversarial", "verification_mode": "lightweight", "items": ()}
    >>> request_metadata(WorkerRequest(call_id="r1/ann", worker="ann", round=1, **vote), 2)
    {'user_id': 'verifyplan worker=49915e0d7d4b repetition=2'}
    """
    if isinstance(request, WorkerRequest):
        who = f"worker={hashlib.sha256(request.worker.encode()).hexdigest()[:DIGEST_CHARACTERS]}"
    else:
        who = f"role={request.role}"
    return {"user_id": f"verifyplan {who} repetition={repetition}"}
