"""A phase of two plans in which nothing is wrong, to be broken in one place at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from verifyplan.documents.dimensions.plan_check import PlanCheck, plan_check
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.reading.source import read_source

FIRST = """---
phase: "02-auth"
plan: "02-01"
wave: 1
depends_on: []
files_modified: ["src/tokens.py", "tests/test_tokens.py"]
must_haves:
  truths:
    - "A token that has expired is refused"
  artifacts:
    - "src/tokens.py: issues and checks tokens"
  key_links:
    - "tests/test_tokens.py imports src/tokens.py"
provides: ["signed tokens"]
consumes: []
requirement_ids: ["AUTH-01"]
---

# Tokens

<task id="02-01-T1" type="auto" tdd="false" complexity="simple">
<name>Issue signed tokens</name>
<files>
src/tokens.py
tests/test_tokens.py
</files>
<action>
1. Write `issue` in src/tokens.py, which signs the user's id and an expiry.
2. Write in tests/test_tokens.py a test that an expired token is refused.
</action>
<verify>pytest -q tests/test_tokens.py</verify>
<done>An expired token raises ExpiredError in the test</done>
</task>
"""

SECOND = """---
phase: "02-auth"
plan: "02-02"
wave: 2
depends_on: ["02-01"]
files_modified: ["src/login.py", "tests/test_login.py"]
must_haves:
  truths:
    - "A user who gives the right password gets a token"
  artifacts:
    - "src/login.py: the login endpoint"
  key_links:
    - "src/login.py imports src/tokens.py"
provides: ["login endpoint"]
consumes: ["signed tokens"]
requirement_ids: ["AUTH-02"]
---

# Login

<task id="02-02-T1" type="auto" tdd="false" complexity="simple">
<name>Add the login endpoint</name>
<files>
src/login.py
</files>
<action>
1. Write the endpoint in src/login.py; it compares the password of the user.
2. Answer with a token from `issue` of src/tokens.py.
</action>
<verify>pytest -q -k endpoint</verify>
<done>The endpoint answers 200 with a token, and 401 without a password</done>
</task>

<task id="02-02-T2" type="auto" tdd="false" complexity="simple">
<name>Test the login endpoint</name>
<files>
tests/test_login.py
</files>
<action>
1. Write tests for the right and the wrong password.
2. Run them.
</action>
<verify>pytest -q tests/test_login.py</verify>
<done>Both tests are green</done>
</task>

<task id="02-02-T3" type="checkpoint:human-verify" gate="blocking">
<what-built>The login of the application</what-built>
<how-to-verify>Open the page and log in.</how-to-verify>
<resume-signal>Type "approved"</resume-signal>
</task>
"""

CONTEXT = """# Phase 2: Auth

## Locked Decisions

- A token expires after one hour
- The endpoint answers in JSON

### Claude's Discretion

- Where the secret for signing lies

## Deferred Ideas

- Refresh tokens that are rotated by a nightly background job
- SSO-01 single sign-on
"""

ROADMAP = """# Roadmap

### Phase 2: Auth

**Requirements**: AUTH-01..AUTH-02

### Phase 3: API

**Requirements**: API-01, SSO-01
"""

FILES = {"02-01-PLAN.md": FIRST, "02-02-PLAN.md": SECOND, "02-CONTEXT.md": CONTEXT}


@pytest.fixture
def phase(tmp_path):
    """Writes the phase, with some of its files changed, and gives its folder."""

    def write(**changed: str) -> Path:
        folder = tmp_path / ".planning" / "phases" / "02-auth"
        folder.mkdir(parents=True, exist_ok=True)
        texts = FILES | {name.replace("_", "-") + ".md": text for name, text in changed.items()}
        (tmp_path / ".planning" / "ROADMAP.md").write_text(texts.pop("ROADMAP.md", ROADMAP))
        for name, text in texts.items():
            (folder / name).write_text(text)
        return folder

    return write


@pytest.fixture
def broken(phase):
    """Checks the phase with one text of one file replaced; the check, and the number of a line of that file."""

    def check(name: str, old: str, new: str, line: str = "") -> tuple[PlanCheck, int]:
        text = FILES[f"{name}.md"]
        assert old in text
        text = text.replace(old, new, 1)
        folder = phase(**{name.replace("-", "_"): text})
        numbers = [number for number, one in enumerate(text.split("\n"), 1) if line and line in one]
        return plan_check(folder), numbers[0] if numbers else 1

    return check


@pytest.fixture(scope="session")
def documents():
    """Plan documents from texts, as if they lay in the folder of phase 2."""

    def read(*texts: str) -> list[PlanDocument]:
        return [
            PlanDocument.read(read_source(text, f".planning/phases/02-auth/02-{at:02}-PLAN.md"))
            for at, text in enumerate(texts, 1)
        ]

    return read
