"""Each check of the challenger: a plan that has the defect, and a near one that has not."""

import pytest

from verifyplan.agents.static import StaticBackend

ROUTE = '@router.get("/gifts")'
CODE = "\n\n   ```{}\n{}\n   ```\n"


def code(language, *lines):
    return CODE.format(language, "\n".join(f"   {line}" for line in lines))


PAIRS = [  # what is claimed, the steps that have the defect, the near steps that have not
    ("`shop/stock.py` exists", "1. Change the limit in `shop/stock.py`.", "1. Change the limit in `shop/orders.py`."),
    ("`shop/stock.py` exists", "1. Extend `shop/stock.py`.", "1. Create `shop/stock.py`.\n2. Extend `shop/stock.py`."),
    ("`shop/lock.py` exists", "1. `shop/lock.py` already holds the lock.", "1. There is no `shop/lock.py` yet."),
    ("`find_user` is defined", "1. Call `find_user` in `shop/orders.py`.", "1. Call `find_order` in `shop/orders.py`."),
    (
        "`pack_order` is defined",
        "1. It uses our `pack_order`.",
        "1. New `pack_order(order)`; it uses our `pack_order`.",
    ),
    ("`Order.weight` is defined", "1. Show `Order.weight`.", "1. Show `Order.weight`, a new field of `Order`."),
    ("`clock` is defined", "1. Test it with the fixture `clock`.", "1. Test it with a new fixture `clock`."),
    (
        "`drop_order` is defined",
        f"1. Call it:{code('python', 'orders.drop_order(connection)')}",
        f"1. Call it:{code('python', 'orders.find_order(connection, 1)')}",
    ),
    (
        "`send_json(retries)`",
        "1. Call `send_json(url, body, retries=3)`.",
        "1. Call `send_json(url, body, headers=None)`.",
    ),
    (
        "calls `find_order(...)` in a form",
        "1. Call `find_order(connection, number, limit)`.",
        "1. Call `find_order(connection, number)`.",
    ),
    ("the package `tenacity` is declared", "1. Retry with `tenacity`.", "1. Add `tenacity` to the dependencies."),
    (
        "the package `pandas` is declared",
        f"1. Group:{code('python', 'import pandas as pd')}",
        f"1. Group:{code('python', 'import yaml', 'import json', 'from shop import orders')}",
    ),
    ("the command `make e2e` exists", "1. Run `make e2e`.", "1. Run `make migrate`."),
    (
        "the command `make e2e` exists",
        f"1. Run it:{code('sh', 'make e2e  # on staging')}",
        f"1. Run it:{code('sh', 'make test  # and make sure; make e2e is not needed')}",
    ),
    ("the command `make e2e` exists", "1. `make e2e` passes.", "1. Add a target `e2e`.\n2. `make e2e` passes."),
    ("`scripts/release.sh canary`", "1. `scripts/release.sh canary`.", "1. `scripts/release.sh staging`."),
    ("`shop.jobs.clean` exists", "1. Run `python -m shop.jobs.clean`.", "1. Run `python -m shop.jobs.sweep`."),
    (
        "before the step that creates it",
        "1. Run `scripts/fill.sh`.\n2. Create `scripts/fill.sh`.",
        "1. Create `scripts/fill.sh`.\n2. Run `scripts/fill.sh`.",
    ),
    (
        "after the step that deletes it",
        "1. Delete `shop/jobs/report.py`; every caller goes, too.\n2. Extend `shop/jobs/report.py`.",
        "1. Extend `shop/jobs/report.py`.\n2. Delete `shop/jobs/report.py`; every caller goes, too.",
    ),
    (
        "which it also says is left as it is",
        "1. `show_order` stays as it is.\n2. Change `show_order`.",
        "1. `show_order` stays as it is.\n2. Change `find_order`.",
    ),
    (
        "two values",
        "1. Lock for batches of 500 rows.\n2. Count batches of 900 rows.",
        "1. Lock for batches of 500 rows.\n2. Count batches of 500 rows.",
    ),
    (
        "does what a rule of the project forbids",
        "1. Add a column in `migrations/0001_orders.sql`.",
        "1. Add `migrations/0003_gift.sql`, as `migrations/0001_orders.sql` does it.",
    ),
    (
        "does what a rule of the project forbids",
        "1. `shop/orders.py` asks with `httpx.get(url)`.",
        "1. `shop/client.py` asks with `httpx.get(url)`.",
    ),
    ("does what a rule of the project forbids", "1. The test sleeps for a second.", "1. The test does not sleep."),
    (
        "leaves out what a rule",
        f"1. In `shop/routes.py`:{code('python', ROUTE, 'def gifts(): ...')}",
        f"1. In `shop/routes.py`:{code('python', ROUTE, 'def gifts(c=Depends(require_role())): ...')}",
    ),
    (
        "leaves out what a rule",
        "1. Add `stripe` to the dependencies.",
        "1. Add `stripe` to the dependencies, and a record to `docs/operations.md`.",
    ),
    ("as if it did not exist", "1. Create `shop/client.py`.", "1. Create `shop/gifts.py`."),
    (
        "which seems to serve the same purpose",
        "1. Add `repeat_in_batches(connection, statement, parameters)`.",
        "1. Add `repeat_in_batches(connection, statement, parameters)` around `in_chunks`.",
    ),
    (
        "on what depends on it",
        "1. Rename `find_order` to `order_of`.",
        "1. Rename `find_order` to `order_of`, and every caller.",
    ),
    (
        "nothing of `a way back`",
        "1. `DELETE FROM orders WHERE id < 9` on production.",
        "1. After a dump, `DELETE FROM orders WHERE id < 9` on production.",
    ),
    (
        "the rows that are already there",
        f"1. `migrations/0003_a.sql`:{code('sql', 'ALTER TABLE orders ADD COLUMN a text NOT NULL;')}",
        f"1. `migrations/0003_a.sql`:{code('sql', 'ALTER TABLE orders ADD COLUMN a text NOT NULL DEFAULT 0;')}",
    ),
    (
        "the rows that are already there",
        "1. `ALTER TABLE orders ADD COLUMN sent_at date`.\n2. Send where `sent_at IS NULL`.",
        "1. `ALTER TABLE orders ADD COLUMN sent_at date`, backfilled.\n2. Send where `sent_at IS NULL`.",
    ),
    (
        "timeouts and retries",
        "1. Post the order to the Slack webhook.",
        "1. Post the order to the Slack webhook, with a timeout.",
    ),
    (
        "who may call it",
        "1. Answer `GET /gifts/count` with a number.",
        "1. Answer `GET /gifts/count` to clerks, role `clerk`.",
    ),
]


@pytest.mark.parametrize(
    ("claim", "wrong", "right"), PAIRS, ids=[f"{n}-{pair[0][:30]}" for n, pair in enumerate(PAIRS)]
)
def test_a_defect_is_found_and_its_near_miss_is_not(raised, claim, wrong, right):
    assert any(claim in text for _, text in raised(wrong)), raised(wrong)
    assert not any(claim in text for _, text in raised(right)), raised(right)


STATEMENTS = [  # a fact that the code refutes, and one that it bears out
    ("`TIMEOUT` in `shop/client.py` is 30.", "`TIMEOUT` in `shop/client.py` is 7."),
    ("A call in `shop/client.py` waits up to 30 s.", "A call in `shop/client.py` waits up to 7 s."),
    ("An order has 90 lines (`MAX_LINES`).", "An order has 40 lines (`MAX_LINES`)."),
    ("The flag `gift_wrap` is `true`.", "The flag `gift_wrap` is `false`."),
    ("There is no test of the orders.", "There is no test of the sweeper."),
    ("`find_order` takes a parameter `limit`.", "`find_order` takes a parameter `number`."),
    ("Nothing calls `find_order`.", "Nothing calls `send_json`."),
    ("`find_order` is only used in `shop/routes.py`.", "`require_role` is only used in `shop/routes.py`."),
    ("There is no `shop/client.py`.", "There is no `shop/gifts.py`."),
    ("The table `orders` has 20,000 rows.", "The table `orders` has 4,100,000 rows."),
]


@pytest.mark.parametrize(("stale", "true"), STATEMENTS)
def test_a_statement_about_the_code_is_held_against_it(raised, stale, true):
    steps = "1. Extend `shop/orders.py`."
    assert any("does not bear out" in text for _, text in raised(steps, stale)), raised(steps, stale)
    assert not any("does not bear out" in text for _, text in raised(steps, true)), raised(steps, true)


def test_a_plan_that_never_looks_at_what_it_did_is_not_checked(ask):
    text = (
        "# A\n\n1. `shop/access.py`: accept older tokens.\n2. `shop/orders.py`: the same.\n3. Merge it.\n4. "
        "Release it.\n"
    )
    claims = [(one.severity, one.claim) for one in ask("challenger", text).challenges]
    assert any(severity == "SIGNIFICANT" and "no step checks" in claim for severity, claim in claims), claims
    tested = text.replace("3. Merge it.", "3. Run the tests.")
    assert not any("no step checks" in one.claim for one in ask("challenger", tested).challenges)


def test_a_sound_plan_raises_nothing(raised):
    steps = (
        "1. `shop/orders.py`: `find_order` also gives the owner.\n2. Add `migrations/0003_gift.sql` with a "
        "nullable column.\n"
        "3. New `shop/gifts.py` with `wrap(order)`.\n4. `shop/routes.py` hands it on; roles stay as they are."
    )
    assert raised(steps) == []


@pytest.mark.parametrize(
    "steps", ["1. Do not change `shop/stock.py`.", "1. Instead of `tenacity`, a loop.", "1. Nothing is deleted."]
)
def test_what_a_line_denies_is_not_held_against_it(raised, steps):
    assert raised(steps) == []


def test_plans_in_other_shapes_are_read_as_well(ask):
    """Prose without steps, a table, and lines that break within a sentence."""
    prose = (
        "# A\n\nOrders are slow. We therefore change the limit in\n`shop/stock.py` to four.\n\nThen the tests "
        "run, and all is released.\n"
    )
    table = "# A\n\n| no. | what |\n|---|---|\n| 1 | change the limit in `shop/stock.py` |\n| 2 | run the tests |\n"
    for text in (prose, table):
        assert [one.claim for one in ask("challenger", text).challenges] == [
            "The plan assumes that the file `shop/stock.py` exists."
        ]


def test_a_plan_for_another_repository_is_one_challenge(ask):
    text = "# A\n\n" + "\n".join(f"{n}. Change `lib/part{n}.rb`, and run the tests." for n in range(1, 7))
    (one,) = ask("challenger", text).challenges
    assert one.severity == "BLOCKING"
    assert "None of the 6 existing files" in one.concern
    assert len(ask("challenger", f"{text}\n7. Extend `shop/orders.py`.").challenges) == 6


@pytest.mark.parametrize(("language", "line", "manifest"), [
    ("python", "import openpyxl", "pyproject.toml"),
    ("ts", 'import { z } from "zod";', "frontend/package.json"),
])  # fmt: skip
def test_a_package_belongs_into_a_manifest_of_its_language(tmp_path, ask, plan, language, line, manifest):
    (tmp_path / "frontend").mkdir()
    (tmp_path / "frontend" / "package.json").write_text('{"dependencies": {"react": "^19"}}\n')
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"\ndependencies = ["httpx>=0.27"]\n')
    raised = ask("challenger", plan(f"1. Use it:{code(language, line)}"), of=StaticBackend(tmp_path)).challenges
    [missing] = [one for one in raised if "is declared" in one.claim]
    assert f"in `{manifest}`" in missing.alternative
