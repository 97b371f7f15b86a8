"""A fake database connection, a fake network, and an API client with tokens."""

import httpx
import pytest
from fastapi.testclient import TestClient

from waybill import http_client
from waybill.app import app
from waybill.auth import sign
from waybill.db import get_connection


class FakeConnection:
    """Hands out prepared rows and counts, and remembers what was executed."""

    def __init__(self):
        self.rows = []
        self.counts = []
        self.executed = []
        self.rowcount = 0

    def execute(self, statement, parameters=None):
        self.executed.append((statement, parameters))
        self.rowcount = self.counts.pop(0) if self.counts else 0
        return self

    def fetchone(self):
        return self.rows.pop(0) if self.rows else None

    def fetchall(self):
        rows, self.rows = self.rows, []
        return rows

    def commit(self):
        pass


@pytest.fixture
def connection():
    return FakeConnection()


@pytest.fixture
def upstream(monkeypatch):
    """Answers for outgoing calls, in order; no pause between attempts."""
    answers = []
    http_client.use_transport(httpx.MockTransport(lambda request: answers.pop(0)))
    monkeypatch.setattr(http_client, "BACKOFF", 0)
    yield answers
    http_client.use_transport(None)


@pytest.fixture
def api(connection, monkeypatch):
    for name in ("DATABASE_URL", "MAIL_URL", "TOKEN_KEY"):
        monkeypatch.setenv(f"WAYBILL_{name}", "http://mail.test" if name == "MAIL_URL" else "test")
    app.dependency_overrides[get_connection] = lambda: connection
    yield TestClient(app)
    app.dependency_overrides.clear()


@pytest.fixture
def as_role():
    return lambda role, caller_id=1: {"Authorization": f"Bearer {sign(caller_id, role, 'test')}"}
