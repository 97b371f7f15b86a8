"""The models of an endpoint, asked for once through the SDK: the only module of the doctor that loads it."""

from __future__ import annotations

import asyncio
from threading import Thread

import anthropic
import httpx2

from verifyplan.agents.anthropic.client import Endpoint
from verifyplan.agents.anthropic.key import Key
from verifyplan.agents.doctor.check import Check
from verifyplan.redaction import redact

MOST = 1000  # models a page
SHOWN = 20  # models that are named


def list_models(address: str, key: Key, timeout: float, model: str | None = None) -> Check:
    """Ask an endpoint for its models, without repetition; whatever it does, this ends within the timeout.

    Says how many there are; where `model` is not among them, that is wrong, and the first are named. Nothing else that
    the endpoint says is shown but its status, and the key is not.
    """
    found: list[Check] = []

    def ask() -> None:
        found.append(asyncio.run(_asked(address, key, timeout, model)))

    # A thread has no event loop of its own yet: this works in notebooks, too, whose loop is running.
    thread = Thread(target=ask, daemon=True)
    thread.start()
    thread.join(timeout + 5)
    return found[0] if found else _wrong(address, f"no answer within {timeout:g} s")


async def _asked(address: str, key: Key, timeout: float, model: str | None) -> Check:
    endpoint = Endpoint(address, key, timeout=timeout, max_retries=0)
    try:
        async with asyncio.timeout(timeout):
            page = await endpoint.sdk.models.list(limit=MOST)
        return _told(address, [one.id for one in page.data], model)
    except (TimeoutError, anthropic.APITimeoutError):
        return _wrong(address, f"no answer within {timeout:g} s")
    except anthropic.APIStatusError as error:
        return _status(address, error.status_code, key)
    except (anthropic.APIConnectionError, httpx2.TransportError) as error:
        return _wrong(address, f"no connection ({type(error.__cause__ or error).__name__})")
    except Exception:  # HTML, or JSON of another kind, which the SDK does not check and trips over somewhere
        return _wrong(address, "what it answers is no list of models", "name an endpoint of the Messages API")
    finally:
        await endpoint.close()


def _told(address: str, models: list[str], model: str | None) -> Check:
    if not all(isinstance(name, str) for name in models):  # the SDK gives what came, whatever its types say
        raise TypeError("models have no ids")
    answers = f"{address} answers and lists {len(models)} models"
    if model is None or model in models:
        return Check(name="endpoint", state="ok", message=answers)
    named = ", ".join(repr(redact(name))[:80] for name in models[:SHOWN])
    return _wrong(address, f"answers, and {model!r} is not among its {len(models)} models", f"use one of {named}")


def _status(address: str, code: int, key: Key) -> Check:
    match code:
        case 401 | 403:
            fix = "give a key that belongs to this endpoint"
            return _wrong(address, f"the key from {key.origin} was refused ({code})", fix)
        case 404:
            fix = (
                "check that the address ends before /v1; if it does, the endpoint has no such list, which does no harm"
            )
            message = f"{address} answers, but has no list of models (404)"
            return Check(name="endpoint", state="missing", message=message, fix=fix)
    return _wrong(address, f"it answered with status {code}", "try again later, or ask who runs it")


def _wrong(address: str, message: str, fix: str = "check the address, and the way there") -> Check:
    return Check(name="endpoint", state="wrong", message=f"{address}: {message}", fix=fix)
