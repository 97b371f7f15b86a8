"""A small repository of a bookshop, its git history, and what asks the static agents about plans for it."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from verifyplan.agents.static import StaticBackend
from verifyplan.plans import assess, parse_plan
from verifyplan.protocol.call import Item, WorkerRequest
from verifyplan.protocol.records import Challenge
from verifyplan.protocol.role_call import ANSWER_OF_ROLE, RoleRequest
from verifyplan.rules.budgets import LIMITS, OTHERS

FILES = {
    "shop/__init__.py": "",
    "shop/orders.py": '''"""Orders and their totals."""

MAX_LINES = 40


class Order:
    """One order of a customer."""

    id: int
    owner_id: int

    def total(self) -> int:
        """The sum in cents."""
        return 0


def find_order(connection, number):
    """The order with a number."""
    return connection.execute("SELECT * FROM orders WHERE number = %s", (number,)).fetchone()


def in_chunks(connection, statement, parameters, size=500):
    """Repeat a limited statement until it changes nothing."""
    return 0
''',
    "shop/client.py": '''"""Every call to other services."""

TIMEOUT = 7
ATTEMPTS = 4


def send_json(url, body, headers=None):
    """POST a JSON body, with a timeout and retries."""
''',
    "shop/routes.py": '''"""Routes."""

from shop import orders
from shop.access import require_role


@router.get("/orders/{number}")
def show_order(number, caller=Depends(require_role("clerk"))):
    order = orders.find_order(connection, number)
    return order
''',
    "shop/access.py": 'def require_role(*roles):\n    """Who may call."""\n',
    "shop/jobs/report.py": "from shop.orders import find_order\n\n\ndef main():\n    return find_order(None, 1)\n",
    "shop/jobs/sweep.py": "from shop.orders import in_chunks\n",
    "tests/test_orders.py": "from shop.orders import find_order\n\n\ndef test_it_finds():\n    assert find_order\n",
    "migrations/0001_orders.sql": "CREATE TABLE orders (id serial, number text, owner_id integer);\n",
    "migrations/0002_lines.sql": "CREATE TABLE lines (id serial, order_id integer);\n",
    "scripts/release.sh": '#!/bin/sh\ncase "$1" in\n  staging | production) echo "$1" ;;\n  undo) echo back ;;\nesac\n',
    "config/flags.yaml": "gift_wrap: false\n",
    "docs/operations.md": "# Operations\n\nAbout 4 million rows in `orders`.\n",
    "Makefile": "test:\n\tpytest\n\nmigrate:\n\tdbmate up\n",
    "pyproject.toml": '[project]\nname = "shop"\ndependencies = ["httpx==0.27", "pyyaml==6"]\n',
    "AGENTS.md": """# Rules

- R1. Never edit a file in `migrations/` that is on `main`; add the next number.
- R2. All HTTP calls go through `shop/client.py`; nothing else in `shop/` imports `httpx`.
- R3. Every route takes `Depends(require_role(...))` from `shop/access.py`.
- R4. Do not add a dependency without a record in `docs/operations.md`.
- R5. Tests never sleep.
- R6. No `arrow`: dates are those of the standard library.
- R7. Money is an integer of cents, never `float`.
- R8. Do not run `pip install --user`.
- R9. Every dependency is pinned to a version.
""",
}

PLAN = """# {title}

## Goal

Clerks see more of an order.

## Facts

{facts}

## Steps

{steps}
8. Tests in `tests/test_orders.py`; `make test`.
9. `scripts/release.sh staging`, look at it, then `scripts/release.sh production`. Way back: `scripts/release.sh undo`.
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write(tmp_path_factory.mktemp("shop"), FILES)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Import the shop")
    (folder / "shop/client.py").write_text(FILES["shop/client.py"] + "\nCACHE = {}\n", encoding="utf-8")
    git(folder, "commit", "-qam", "Cache answers of suppliers")
    (folder / "shop/client.py").write_text(FILES["shop/client.py"], encoding="utf-8")
    git(folder, "commit", "-qam", "Revert caching of suppliers: answers were stale")
    return folder


@pytest.fixture(scope="session")
def backend(shop: Path) -> StaticBackend:
    return StaticBackend(shop)


def request(role: str, text: str, name: str = "plan.md", **given: Any) -> RoleRequest:
    found = assess(parse_plan(text, name))
    tools = {"resolver": LIMITS["resolve"], "surface": LIMITS["surface"], "probe": LIMITS["probe"]}.get(role, OTHERS)
    values: dict[str, Any] = {
        "call_id": f"i1/{role}",
        "role": role,
        "iteration": 1,
        "max_iterations": 3,
        "plan_name": name,
        "plan_text": text,
        "plan_quality": found.quality,
        "domains": found.domains,
        "may_raise": 5,
        "tools": {tool: calls for tool, calls in tools.items() if tool != "memory_search"},
    }
    return RoleRequest(**values | given)


@pytest.fixture
def ask(backend: StaticBackend) -> Callable[..., Any]:
    """The answer of a role, checked against its schema; `reply=True` gives the reply as it came."""

    def asked(role: str, text: str, *, reply: bool = False, of: StaticBackend | None = None, **given: Any) -> Any:
        came = asyncio.run((of or backend).answer(request(role, text, **given)))
        return came if reply else ANSWER_OF_ROLE[came_role(role)].model_validate(came.value)

    return asked


def came_role(role: str) -> Any:
    return role


@pytest.fixture
def plan() -> Callable[..., str]:
    def written(steps: str, facts: str = "Orders are found by their number.", title: str = "A change") -> str:
        return PLAN.format(title=title, facts=facts, steps=steps)

    return written


@pytest.fixture
def raised(ask: Callable[..., Any], plan: Callable[..., str]) -> Callable[..., list[tuple[str, str]]]:
    """Severity and claim of each challenge that the challenger raises against a plan of some steps."""

    def of(steps: str, facts: str = "Orders are found by their number.") -> list[tuple[str, str]]:
        return [(one.severity, one.claim) for one in ask("challenger", plan(steps, facts)).challenges]

    return of


@pytest.fixture
def vote(backend: StaticBackend) -> Callable[..., dict[str, Any]]:
    """One panel worker's vote on one challenge."""

    def cast(worker: str, summary: str, evidence: str, text: str, mode: str = "adversarial") -> dict[str, Any]:
        lightweight = mode == "collaborative"
        asked = WorkerRequest(
            call_id=f"i1/{worker}",
            worker=worker,
            round=1,
            mode=mode,
            verification_mode="lightweight" if lightweight else "full-reanalysis",
            items=(Item(finding_id="C1", summary=summary, evidence=evidence),),
            documents={} if lightweight else {"plan.md": text},
        )
        return asyncio.run(backend.answer(asked)).value["votes"]["C1"]

    return cast


def challenge(number: int, **given: Any) -> Challenge:
    values: dict[str, Any] = {
        "id": f"C{number}",
        "origin": "challenger",
        "claim": "The plan assumes that the file `shop/stock.py` exists.",
        "concern": "It is not there.",
        "failure_scenario": "",
        "alternative": "",
        "severity": "SIGNIFICANT",
        "confidence": "HIGH",
        "iteration_introduced": 1,
    }
    return Challenge(**values | given)


@pytest.fixture
def made() -> Callable[..., Challenge]:
    return challenge


@pytest.fixture
def role_request() -> Callable[..., RoleRequest]:
    return request


@pytest.fixture(scope="session")
def role_request_of() -> Callable[..., RoleRequest]:
    return request
