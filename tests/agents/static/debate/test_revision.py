"""A plan under debate: each challenge settled by a small edit that a reader would make, or left."""

from __future__ import annotations

import time
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from static_debating import asked, challenge

from verifyplan.agents.repository.repository import Repository
from verifyplan.agents.static.debate.inspection import Inspector
from verifyplan.agents.static.debate.patch import apply
from verifyplan.agents.static.roles.known import Known
from verifyplan.documents import parse_plan

FILES = {
    "Makefile": "test:\n\tpytest\n\nlint:\n\truff check\n",
    "pyproject.toml": '[project]\nname = "shop"\ndependencies = ["pydantic"]\n',
    "frontend/package.json": '{"dependencies": {"react": "1"}, "scripts": {"test": "vitest"}}\n',
    "src/shop/prices.py": "def round_price(amount, digits):\n    return round(amount, digits)\n",
    "src/shop/orders.py": "from shop.prices import round_price\n\ndef place_order(basket):\n    return basket\n",
    "src/shop/till.py": "from shop.prices import round_price\n",
    "scripts/deploy.sh": 'case "$1" in\n  staging | production) go ;;\n  rollback) back ;;\nesac\n',
    "tests/test_orders.py": "def test_place_order():\n    assert True\n",
}
BACK = "back with `scripts/deploy.sh rollback production`.\n"
END = f"4. `scripts/deploy.sh staging`, look at it, `scripts/deploy.sh production`; {BACK}"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("revised")
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def plan(*steps, end=END):
    return "# Rounding\n\n## Goal\n\nPrices are rounded.\n\n## Steps\n\n" + "\n".join(steps) + "\n" + end


@cache
def looking(root):
    return Inspector(Known(Repository.open(root)), "plan.md")


def raised(root, text):
    """The challenges that the static agents raise against a plan."""
    found = looking(root).look(parse_plan(text).text).findings
    return [challenge(one.claim, one.alternative, at) for at, one in enumerate(found, 1)]


def revised(root, text, challenges, turns=2):
    """The plan after some turns of the builder, and what the architect then says."""
    diff = ""
    for turn in range(1, turns + 1):
        diff = asked(
            root,
            "builder",
            "implement",
            task="revise",
            documents={"plan.md": text},
            challenges=challenges,
            diff=diff,
            turn=turn,
        )["diff"]
    said = asked(
        root, "architect", "verify", task="revise", documents={"plan.md": text}, challenges=challenges, diff=diff
    )
    return apply(diff, {"plan.md": text}.get)["plan.md"] if diff else text, said["content"]


TESTED = "3. A test in `tests/test_orders.py`; `make test`."


@pytest.mark.parametrize(
    ("step", "line"),
    [
        ("1. Change `src/shop/price.py` so that it rounds.", "1. Change `src/shop/prices.py` so that it rounds."),
        ("1. Change `src/shop/prices.py`; or `scripts/deploy.sh revert staging`.", "deploy.sh rollback staging`"),
        ("1. Change `src/shop/prices.py`, then `make testt`.", "then `make test`."),
        ("1. `src/shop/prices.py`: round with the package `sqlalchemy`.", "declare `sqlalchemy` in `pyproject.toml`"),
        ("1. Create `src/shop/orders.py` with a discount.", "1. Extend `src/shop/orders.py` with a discount."),
        ("1. Remove `src/shop/prices.py`.", "What uses it is changed in the same step: 1 file"),
    ],
)  # fmt: skip
def test_a_challenge_is_settled_by_a_small_edit(root, step, line):
    text = plan(step, TESTED)
    challenges = raised(root, text)
    assert len(challenges) == 1, challenges
    after, said = revised(root, text, challenges)
    assert said.startswith("Verified"), said
    assert line in " ".join(after.split())
    assert not raised(root, after)
    kept = set(text.splitlines()) - set(after.splitlines())
    assert len(kept) <= 1


def test_code_gets_its_time_limit_and_the_way_down_its_statement(root):
    code = "set -e\n   if curl --fail https://shop.example/; then echo up; fi"
    step = f"1. New `scripts/ping.sh`:\n\n   ```bash\n   {code}\n   ```\n"
    text = plan(step, TESTED)
    after, said = revised(root, text, raised(root, text))
    assert said.startswith("Verified")
    assert "curl --max-time 10 --retry 3 --fail https://shop.example/" in after


def test_a_plan_without_a_test_gets_one_and_keeps_every_step(root):
    text = plan(
        "1. Change `src/shop/prices.py` to round.",
        "2. Change `src/shop/orders.py` to call it.",
        "3. Tell the shop.",
        end=f"4. `scripts/deploy.sh production`; {BACK}",
    )
    challenges = raised(root, text)
    after, said = revised(root, text, challenges)
    assert said.startswith("Verified"), said
    assert "`tests/test_prices.py` gets a test that fails without this change, and `make test` passes" in " ".join(
        after.split()
    )
    assert len(parse_plan(after).steps) == len(parse_plan(text).steps)


def test_what_takes_a_decision_is_left_and_named(root):
    text = plan(
        "1. `round_price` of `src/shop/prices.py` is in no case changed; it is left as it is.",
        "2. Change `src/shop/prices.py` to round.",
        TESTED,
    )
    left = challenge("The plan gives `digits` two values, `2` and `3`.", "Say which of them holds.")
    after, said = revised(root, text, [left])
    assert after == text
    assert said.startswith("Verification failed.")
    assert "C1 is settled" in said


@pytest.mark.parametrize("command", ["make accept", "python -m shop.prices --fast"])
def test_a_command_that_is_not_there_is_left_to_a_person(root, command):
    text = plan(f"1. Change `src/shop/prices.py`, then `{command}`.", TESTED)
    after, said = revised(root, text, [one for one in raised(root, text) if "command" in one.claim])
    assert after == text
    assert not said.startswith("Verified")


def test_an_order_is_not_sent_again_by_a_retry(root):
    code = "set -e\n   if curl --fail -X POST -d @order https://shop.example/; then echo sent; fi"
    text = plan(f"1. New `scripts/order.sh`:\n\n   ```bash\n   {code}\n   ```\n", TESTED)
    after, _ = revised(root, text, raised(root, text))
    assert "curl --max-time 10 --fail -X POST" in after
    assert "--retry" not in after


def test_free_words_that_leave_a_choice_are_not_taken_over(root):
    text = plan("1. Change `src/shop/prices.py` to round.", TESTED)
    for alternative in ("Use decimals or cents.", "Consider cents.", "Who rounds?"):
        after, said = revised(root, text, [challenge("Nobody knows who rounds.", alternative)])
        assert (after, said.startswith("Verified")) == (text, False)


def test_free_words_are_settled_by_their_alternative(root):
    text = plan("1. Change `src/shop/prices.py` to round.", TESTED)
    free = [challenge("Nobody knows who rounds.", "The till rounds, and nobody else."), challenge("Who pays?", "", 2)]
    after, said = revised(root, text, free)
    assert after.endswith("\n\n## Settled in review\n\n- The till rounds, and nobody else.\n")
    assert "C1" not in said
    assert "C2 is settled: it names no alternative: Who pays?" in said


def test_a_revision_that_loses_a_step_brings_something_up_or_changes_other_files_is_not_verified(root):
    text = plan("1. Change `src/shop/price.py` so that it rounds.", "2. Tell the shop.", TESTED)
    challenges = raised(root, text)

    def judged(diff):
        return asked(root, "architect", "verify", documents={"plan.md": text}, challenges=challenges, diff=diff)[
            "content"
        ]

    head = "--- a/plan.md\n+++ b/plan.md\n@@ -9,2 +9,{} @@\n"
    head += "-1. Change `src/shop/price.py` so that it rounds.\n-2. Tell the shop.\n"
    assert "the plan had 4 steps and now has" in judged(head.format(0))
    worse = head.format(2) + "+1. Change `src/shop/prices.py`, then `make nothing`.\n+2. Tell the shop.\n"
    assert "Nothing new comes up: SIGNIFICANT: The plan assumes that the command `make nothing` exists." in judged(
        worse
    )
    good = head.format(2) + "+1. Change `src/shop/prices.py` so that it rounds.\n+2. Tell the shop.\n"
    assert judged(good).startswith("Verified")
    assert "is not there" in judged(good + "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")


def test_line_ends_of_windows_stay_and_mixed_ones_are_left(root):
    text = plan("1. Change `src/shop/price.py` so that it rounds.", TESTED).replace("\n", "\r\n")
    challenges = raised(root, text)
    after, said = revised(root, text, challenges)
    assert said.startswith("Verified")
    assert after == text.replace("price.py", "prices.py")
    mixed = text.replace("\r\n", "\n", 1)
    answer = asked(root, "builder", "implement", documents={"plan.md": mixed}, challenges=challenges)
    assert answer["diff"] == ""
    assert "its line ends are mixed" in answer["risks"][0]


SNIPPETS = [
    *("1. Change `src/shop/price.py`.", "# Plan", "```bash", "```", "curl -f x", "| a | `make nope` |", "|---|---|"),
    *("- [ ] `make nope`, then deploy to production", "", "---", "<task>", "   `scripts/deploy.sh revert production`"),
    *("\t\x0c", "2. Delete `round_price`."),
]


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(st.text(max_size=80), st.lists(st.sampled_from(SNIPPETS), max_size=12).map("\n".join)),
    st.text(max_size=30),
    st.text(max_size=30),
)
def test_for_any_document_the_diff_applies_or_is_blank_and_is_the_same_again(root, text, claim, alternative):
    challenges = [challenge(claim, alternative), *raised(root, text)[:2]]
    told = {"documents": {"plan.md": text}, "challenges": challenges}
    first = asked(root, "builder", "implement", **told)
    assert first == asked(root, "builder", "implement", **told)
    if first["diff"]:
        assert list(apply(first["diff"], {"plan.md": text}.get)) == ["plan.md"]
    assert asked(root, "architect", "verify", diff=first["diff"], **told)["content"]


def test_a_plan_of_a_megabyte_is_left_in_a_moment(root):
    begun = time.monotonic()
    text = "1. Change `src/shop/price.py`, then `make nope`.\n" * 21_000
    told = {
        "documents": {"plan.md": text},
        "challenges": [challenge("The plan assumes that the command `make nope` exists.")],
    }
    assert asked(root, "builder", "implement", **told)["diff"] == ""
    asked(root, "architect", "verify", **told)
    assert time.monotonic() - begun < 20
