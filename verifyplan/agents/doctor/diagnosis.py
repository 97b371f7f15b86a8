"""All checks in one go: the installation first, then the way to a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from verifyplan.agents import doctor
from verifyplan.agents.anthropic.key import OFFLINE_VARIABLE, Key, address_of, check_address, find_key, is_forbidden
from verifyplan.agents.doctor.check import Check, State
from verifyplan.agents.doctor.installation import installation, is_installed
from verifyplan.agents.prices import price_of, unknown_price
from verifyplan.errors import SettingsError
from verifyplan.redaction import redacted

SELF_EVIDENT = ("api_key", "base_url")
"""Places of problems that the name of their check tells already."""

TIMEOUT = 10.0
"""Seconds that an endpoint has for its list of models."""


def diagnose(
    *,
    base_url: str | None = None,
    model: str | None = None,
    log_dir: str | Path = "runs",
    network: bool = True,
    timeout: float = TIMEOUT,
) -> tuple[Check, ...]:
    """Look at all that this package can use, and say of each thing how it stands and what to do.

    Only the endpoint is asked over the network, once, for its list of models; not where `network` is False, where
    VERIFYPLAN_OFFLINE forbids it, and without a key. Nothing is raised and nothing changed; no check holds the key.
    """
    checks = (*installation(Path(log_dir)), *_way_to_a_model(address_of(base_url), model, network, timeout))
    return tuple(redacted(check) for check in checks)


def _way_to_a_model(address: str, model: str | None, network: bool, timeout: float) -> Iterator[Check]:
    try:
        check_address(address)
    except SettingsError as error:
        yield _of(error, "endpoint", "wrong")
        return
    key: Key | None = None
    try:
        key = find_key(base_url=address)
        yield Check(name="key", state="ok", message=f"found: {key.origin}; it is not shown")
    except SettingsError as error:
        yield _of(error, "key", "missing" if error.problems[0].place == "api_key" else "wrong")
    yield _endpoint(address, key, model, network, timeout)
    if model is not None:
        yield _price(model)


def _endpoint(address: str, key: Key | None, model: str | None, network: bool, timeout: float) -> Check:
    reasons = {
        "--no-network": not network,
        f"{OFFLINE_VARIABLE} is set": is_forbidden(address),
        "there is no key": key is None,
        "the package anthropic is not installed": not is_installed("anthropic"),
    }
    reason = next((reason for reason, holds in reasons.items() if holds), None)
    if reason or key is None:
        return Check(name="endpoint", state="skipped", message=f"{address} was not asked: {reason}")
    return doctor.listing.list_models(address, key, timeout, model)


def _price(model: str) -> Check:
    try:
        price = price_of(model)
    except SettingsError as error:
        return _of(error, "prices", "wrong")
    if price is None:
        return _of(unknown_price(model), "prices", "missing")
    seen = f", {price.source} of {price.date}" if price.source else ""
    message = f"{model}: ${price.input:f} in, ${price.output:f} out per million tokens{seen}"
    return Check(name="prices", state="ok", message=message)


def _of(error: SettingsError, name: str, state: State) -> Check:
    first, *others = error.problems
    place = "" if first.place in SELF_EVIDENT else f"{first.place}: "
    more = f" (and {len(others)} more)" if others else ""
    return Check(name=name, state=state, message=f"{place}{first.message}{more}", fix=first.fix)
