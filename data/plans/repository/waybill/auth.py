"""Who calls: signed tokens of the form id:role:signature, and the roles that a route asks for."""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass

from fastapi import Header, HTTPException

from waybill.settings import load_settings

ROLES = ("customer", "operator", "admin")


@dataclass(frozen=True)
class Caller:
    """The customer or member of staff behind a request."""

    id: int
    role: str


def sign(caller_id: int, role: str, key: str) -> str:
    """A token for a caller."""
    signature = hmac.new(key.encode(), f"{caller_id}:{role}".encode(), hashlib.sha256).hexdigest()
    return f"{caller_id}:{role}:{signature}"


def decode_token(token: str, key: str) -> Caller:
    """The caller that a token names; ValueError if it was not signed with the key."""
    caller_id, role, _ = token.split(":")
    if role not in ROLES or not hmac.compare_digest(sign(int(caller_id), role, key), token):
        raise ValueError("bad token")
    return Caller(int(caller_id), role)


def require_role(*roles: str) -> Callable[[str], Caller]:
    """A dependency that answers 401 without a good token and 403 for another role."""

    def dependency(authorization: str = Header(default="")) -> Caller:
        try:
            caller = decode_token(authorization.removeprefix("Bearer "), load_settings().token_key)
        except ValueError:
            raise HTTPException(401, "a token is needed") from None
        if caller.role not in roles:
            raise HTTPException(403, "not for this role")
        return caller

    return dependency
