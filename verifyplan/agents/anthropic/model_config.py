"""How each role and each worker is played: model, limits, thinking, and the prompt's stance (rules G3, F3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

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
    """One model and how it is asked; what is None is left to the endpoint."""

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

    def body(self) -> dict[str, Any]:
        """Its part of a request, as the API names it.

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
"""A model's name, or some of the settings of a voice."""


class ModelConfigs:
    """Who is played how: the default, and what roles and workers have of their own.

    A role or worker that is given by a text has another model; by a mapping, other settings. SettingsError listing
    everything that does not fit.
    """

    def __init__(
        self,
        default: Mapping[str, Any],
        models: Mapping[str, ModelSettings],
        workers: Mapping[str, ModelSettings],
        base_url: str | None,
    ) -> None:
        self._problems: list[Problem] = []
        self.default = dict(default)
        self.models, self.workers = _plain(models), _plain(workers)
        known = (*ROLES, *DEBATE_ROLES, "worker")
        for name in self.models:
            if name not in known:
                fix = f"use {one_of(known)}; name single workers in workers="
                self._problems.append(Problem("models", f"{name!r} is no role{did_you_mean(name, known)}", fix))
        everyone = {
            **{f"models[{n!r}]": own for n, own in self.models.items()},
            **{f"workers[{n!r}]": self._of_worker(n) for n in self.workers},
        }
        if default.get("model") is not None or not everyone:
            everyone = {"Anthropic": {}, **everyone}
        self._voices = {place: self._voice(place, own, base_url) for place, own in everyone.items()}
        if self._problems:
            raise SettingsError(self._problems)

    def of(self, request: Request) -> ModelConfig:
        """How a request is to be played; SettingsError where nothing says by which model."""
        if isinstance(request, WorkerRequest):
            places = [f"workers[{request.worker!r}]", "models['worker']"]
        else:
            places = [f"models[{request.role!r}]"]
        voice = next((self._voices[place] for place in (*places, "Anthropic") if place in self._voices), None)
        if voice is None:
            raise SettingsError(_no_model(places[0]))
        return voice

    def plays(self, worker: str) -> str | None:
        """None if a worker has a model, else what is missing."""
        has = {f"workers[{worker!r}]", "models['worker']", "Anthropic"} & self._voices.keys()
        return None if has else f"worker {worker!r} has no model"

    @property
    def all(self) -> list[ModelConfig]:
        """Every voice that may be heard, each once."""
        return list(dict.fromkeys(self._voices.values()))

    def _of_worker(self, name: str) -> dict[str, Any]:
        return {**self.models.get("worker", {}), **self.workers[name]}

    def _voice(self, place: str, own: Mapping[str, Any], base_url: str | None) -> ModelConfig:
        settings = {"base_url": base_url, **{k: v for k, v in self.default.items() if v is not None}, **own}
        if settings.get("model") is None:
            self._problems.append(_no_model(place))
            settings["model"] = "-"
        try:
            return self._checked(place, ModelConfig.model_validate(settings))
        except ValidationError as error:
            for one in error.errors(include_url=False):
                name = ".".join(str(part) for part in one["loc"][:1])
                known = list(ModelConfig.model_fields)
                fix = f"a voice has {one_of(known)}" if one["type"] == "extra_forbidden" else "see agents.Anthropic"
                self._problems.append(Problem(f"{place}: {name}", f"{one['input']!r} does not fit: {one['msg']}", fix))
            return ModelConfig(model="-")

    def _checked(self, place: str, voice: ModelConfig) -> ModelConfig:
        if isinstance(voice.thinking, int) and voice.thinking >= voice.max_tokens:
            fix = f"give fewer than {voice.max_tokens:,}, its max_tokens: thinking is a part of the answer"
            self._problems.append(Problem(f"{place}: thinking", f"{voice.thinking:,} tokens do not fit", fix))
        return voice


def _plain(given: Mapping[str, ModelSettings]) -> dict[str, dict[str, Any]]:
    return {str(n): {"model": own} if isinstance(own, str) else dict(own) for n, own in given.items()}


def _no_model(place: str) -> Problem:
    fix = "give model=, the id of a model as the endpoint knows it; `verifyplan doctor` lists those of an endpoint"
    return Problem(place, "no model is named", fix)
