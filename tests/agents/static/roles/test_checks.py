"""Each check of the challenger: a plan that has the defect, and near ones that have not."""

import pytest

from verifyplan.agents.static import StaticBackend
from verifyplan.agents.static.roles.plan_text import PlanText, sentences
from verifyplan.plans import parse_plan


def code(language, *lines):
    return "\n\n   ```{}\n{}\n   ```\n".format(language, "\n".join(f"   {line}" for line in lines))


SQL = "ALTER TABLE orders ADD COLUMN gift text NOT NULL;"
PAIRS = [  # the severity and what is claimed, the steps that have the defect, the near steps that have not
    ("BLOCKING", "file `shop/stock.py`", "1. Change `shop/stock.py`.", "1. Change `shop/orders.py`."),
    (
        "BLOCKING",
        "file `shop/stock.py`",
        "1. In `shop/stock.py`, replace 3 by 4.",
        "1. In `orders.py`, replace 3 by 4.",
    ),
    ("BLOCKING", "file `shop/stock.py`", "- Modify: `shop/stock.py:3-9`", "- Create: `shop/stock.py`"),
    (
        "BLOCKING",
        "file `shop/stock.py`",
        "1. In `shop/stock.py`, wrap `find_order` in a retry.",
        "1. Create `shop/stock.py`.\n2. In `shop/stock.py`, wrap `find_order` in a retry.",
    ),
    (
        "BLOCKING",
        "file `shop/stock.py`",
        "1. In `shop/stock.py`, wrap each call of `find_order`.",
        "1. In `shop/stock.py`, define `found` to wrap `find_order`.",
    ),
    (
        "BLOCKING",
        "file `shop/stock.py`",
        "1. Rename `find_order` to `order_of` in `shop/stock.py`, and its callers.",
        "1. Rename `find_order` to `order_of` in `shop/orders.py`, and its callers.",
    ),
    (
        "BLOCKING",
        "file `shop/stock.py`",
        "1. Extend `find_order` of `shop/stock.py`.",
        "1. Extend `find_order` of `shop/orders.py`.",
    ),
    (
        "SIGNIFICANT",
        "`find_user` is defined in `shop/orders.py`",
        "1. Replace `find_user` by `find_order` in `shop/orders.py`.",
        "1. Wrap `find_order` in `tenacity.retry`.",
    ),
    ("BLOCKING", "file `shop/stock.py`", "**Step 1.** Edit the file `shop/stock.py`.", "Do not edit `shop/stock.py`."),
    ("BLOCKING", "file `shop/stock.py`", "1. `shop/stock.py` (modify)", "1. `shop/stock.py` (new)"),
    ("BLOCKING", "file `shop/stock.py`", "1. Then update `shop/stock.py`.", "1. Update `shop/stock.py` if it exists."),
    ("SIGNIFICANT", "file `lib/orders.py`", "1. Change `lib/orders.py`.", "1. Change `shop/orders.py`."),
    ("SIGNIFICANT", "file `shop/stock.py`", "1. Delete `shop/stock.py`.", "1. Delete `shop/jobs/sweep.py`."),
    (
        "BLOCKING",
        "file `shop/stock.py`",
        "1. Extend `shop/stock.py`.",
        "1. Add `shop/stock.py`.\n2. Extend `shop/stock.py`.",
    ),
    (
        "BLOCKING",
        "file `shop/stock.py`",
        "1. Edit `shop/stock.py`.",
        "1. Edit `out/stock.py`, `*.py` and `/etc/stock.py`.",
    ),
    (  # a task's <files> is no redirect, and a file that the context refers to is not made by the words around it
        "BLOCKING",
        "file `shop/stock.py`",
        '<context>\nAfter plan 3, totals are added.\n@shop/stock.py\n</context>\n<task type="auto">\n'
        "<files>shop/stock.py</files>\n<action>\nUpdate `shop/stock.py` with limits.\n</action>\n</task>",
        "1. `python tools/dump.py > shop/stock.py`\n2. Update `shop/stock.py` with limits.",
    ),
    ("BLOCKING", "file `shop/stock.py`", "Make two small edits to `shop/stock.py`.", "Make use of `shop/stock.py`."),
    (
        "SIGNIFICANT",
        "file `shop/stock.py`",
        "**Clean up**: Delete `shop/stock.py`.",
        "**Clean up**: `shop/stock.py` stays.",
    ),
    (
        "SIGNIFICANT",
        "changes `find_order` and does not mention `shop/jobs/report.py`",
        "1. In the same file, also rename `find_order` to `order_of`.",
        "1. In the same file, also rename `find_order` to `order_of`, and its callers.",
    ),
    (  # the folders of a path are no words: products/ produces nothing
        "BLOCKING",
        "file `products/stock.py`",
        "From products/stock.py, as it stands.\n\n1. Change `products/stock.py`.",
        "It produces products/stock.py.\n\n1. Change `products/stock.py`.",
    ),
    (
        "SIGNIFICANT",
        "changes `find_order` and does not mention `shop/jobs/report.py`",
        "1. In `shop/orders.py`, rename `find_order` to `order_of`.",
        "1. In `shop/orders.py`, rename the parameter of `find_order` to `order_of`.",
    ),
    (
        "SIGNIFICANT",
        "changes `find_order` and does not mention `shop/jobs/report.py`",
        "1. Change `def find_order(connection, number)` to `def find_order(connection, number, reference)`.",
        "1. Change `def find_order()` to `def find_order(connection, number, reference)`, and callers.",
    ),
    ("BLOCKING", "file `shop/stock.py`", "1. Update shop/stock.py.", "1. Update shop/orders.py. Test it."),
    (
        "SIGNIFICANT",
        "which a rule of the project forbids",
        "1. Then run `pip install --user rich`.",
        "1. Never run `pip install --user rich`.",
    ),
    ("SIGNIFICANT", "command `make e2e`", "1. Run `make e2e`.", "1. Run `make migrate`."),
    (
        "SIGNIFICANT",
        "command `make e2e`",
        f"1. Run:{code('sh', 'make e2e  # all')}",
        f"1. Run:{code('sh', '# make e2e')}",
    ),
    ("SIGNIFICANT", "command `make e2e`", "1. Run `make e2e`.", "1. Add the target `e2e`.\n2. Run `make e2e`."),
    (
        "SIGNIFICANT",
        "command `pytest tests/test_x.py`",
        "1. `uv run python -m pytest -x tests/test_x.py`",
        "1. `uv run python -m pytest -x tests/test_orders.py`",
    ),
    (
        "SIGNIFICANT",
        "command `make lint`",
        "1. Run `make lint`.",
        "1. Add `lint` to the Makefile.\n2. Run `make lint`.",
    ),
    ("SIGNIFICANT", "command `npm run lint`", "1. `npm run lint`", "1. Add `lint` to package.json.\n2. `npm run lint`"),
    (
        "SIGNIFICANT",
        "`find_user` is defined in `shop/orders.py`",
        "1. Change the function `find_user()` in `shop/orders.py`.",
        "1. Add `find_user`.\n2. Change `find_user()` in `shop/orders.py`.",
    ),
    (
        "SIGNIFICANT",
        "`find_user` is defined in `shop/orders.py`",
        f"1. Call:{code('python', 'from shop import orders', 'orders.find_user(1)')}",
        "1. Call:" + code("python", "from shop import orders", "orders.find_order(c, 1)", "open('orders.csv')"),
    ),
    (
        "SIGNIFICANT",
        "`find_user` is defined in `shop/orders.py`",
        f"1. Call:{code('python', 'from shop import orders', 'orders.find_user(1)')}",
        f"1. Call:{code('python', 'from shop import orders', 'def f(orders):', '    orders.find_user(1)')}",
    ),
    (
        "SIGNIFICANT",
        "changes `find_order` and does not mention `shop/jobs/report.py`",
        "1. Change `def find_order(connection, number)` to `def find_order(connection, number, limit)`.",
        "1. Change `def find_order(connection, number)` to `def find_order(connection, number, limit=3)`.",
    ),
    (
        "SIGNIFICANT",
        "which a rule of the project forbids",
        "1. `uv run pip install --user rich`",
        "1. `uv run pip install rich`",
    ),
    ("SIGNIFICANT", "command `python tools/x.py`", "1. Run `python tools/x.py`.", "1. Run `python -m http.server`."),
    (
        "SIGNIFICANT",
        "command `python -m shop.jobs.x`",
        "1. Run `python -m shop.jobs.x`.",
        "1. `python -m shop.jobs.sweep`.",
    ),
    (
        "SIGNIFICANT",
        "command `pytest tests/test_x.py`",
        "1. `pytest tests/test_x.py`",
        "1. `pytest tests/test_orders.py`",
    ),
    (
        "SIGNIFICANT",
        "command `grep shop/stock.py`",
        f"1.{code('sh', 'grep -q x shop/stock.py')}",
        f"1.{code('sh', 'grep -q x shop/orders.py')}",
    ),
    (
        "SIGNIFICANT",
        "package `pandas`",
        f"1. Group:{code('python', 'import pandas as pd')}",
        f"1. Group:{code('python', 'import yaml', 'import json', 'from shop import orders', 'import httpx')}",
    ),
    (
        "SIGNIFICANT",
        "package `pandas`",
        f"1. Group:{code('python', 'import pandas as pd')}",
        f"1. `pip install pandas`\n2. Group:{code('python', 'import pandas as pd')}",
    ),
    (
        "SIGNIFICANT",
        "`shop.stock` is defined in `shop/__init__.py`",
        f"1. Call:{code('python', 'from shop.stock import find_user')}",
        f"1. Create `shop/stock.py`, then call:{code('python', 'from shop.stock import find_user')}",
    ),
    (
        "SIGNIFICANT",
        "`find_user` is defined in `shop/orders.py`",
        f"1. Call:{code('python', 'from shop.orders import find_user')}",
        f"1. Call:{code('python', 'from shop.orders import find_order, Order')}",
    ),
    (
        "SIGNIFICANT",
        "`find_user` is defined in `shop/orders.py`",
        "1. Call `find_user` of `shop/orders.py`.",
        "1. Add `find_user`.\n2. Call `find_user` of `shop/orders.py`.",
    ),
    (
        "SIGNIFICANT",
        "changes `find_order` and does not mention `shop/jobs/report.py`",
        "1. Rename `find_order` to `order_of`.",
        "1. Rename `find_order` to `order_of` with all its callers.",
    ),
    (
        "SIGNIFICANT",
        "changes `find_order` and does not mention `shop/jobs/report.py`",
        f"1. It needs more:{code('python', 'def find_order(connection, number, limit):', '    pass')}",
        f"1. It takes more:{code('python', 'def find_order(connection, number, limit=3):', '    pass')}",
    ),
    (
        "SIGNIFICANT",
        "which a rule of the project forbids",
        "1. Change `migrations/0001_orders.sql`.",
        "1. Add `migrations/0003_gift.sql` beside `migrations/0001_orders.sql`.",
    ),
    ("SIGNIFICANT", "which a rule of the project forbids", "1. Add `arrow` to the job.", "1. Do without `arrow`."),
    ("SIGNIFICANT", "which a rule of the project forbids", "1. A field `price: float`.", "1. A field `price: int`."),
    (
        "SIGNIFICANT",
        "which a rule of the project forbids",
        f"1. A field:{code('python', 'class Gift:', '    price: float')}",
        f"1. A field:{code('python', 'class Gift:', '    price: Decimal  # no float')}",
    ),
    ("SIGNIFICANT", "which a rule of the project forbids", "1. `pip install --user rich`", "1. `pip list`"),
    (
        "SIGNIFICANT",
        "which a rule of the project forbids",
        "1. Add `rich` to `pyproject.toml`.",
        "1. Add `rich==13.7` to `pyproject.toml`.",
    ),
    (
        "SIGNIFICANT",
        "what becomes of the rows that are there already",
        f"1. Migrate:{code('sql', SQL)}",
        f"1. Migrate:{code('sql', SQL.replace(';', ' DEFAULT 1;'))}",
    ),
    (
        "SIGNIFICANT",
        "how long it waits",
        f"1. Ask:{code('python', 'import httpx', 'x = requests.get(url)')}",
        f"1. Ask:{code('python', 'import httpx', 'x = requests.get(url, timeout=3)')}",
    ),
]


@pytest.mark.parametrize(("severity", "claim", "wrong", "near"), PAIRS)
def test_a_defect_is_found_and_a_near_plan_is_left_alone(raised, severity, claim, wrong, near):
    assert [found for found, said in raised(wrong) if claim in said] == [severity], raised(wrong)
    assert not [said for _, said in raised(near) if claim in said]


@pytest.mark.parametrize(
    "steps",
    [
        "1. Do the work.\n2. The old `shop/stock.py` was deleted last year; see `git log`.",
        "1. `shop/stock.py` stays as it is, and nobody changes it.",
        "1. Make `shop/orders.py` twice as fast: 30 s become 15 s.",
        "1. Never edit `migrations/0001_orders.sql`.",
        "1. Move the function to `shop/time.py` and its test to `tests/test_time.py`.",
        "1. Drop the order in `shop/orders.py`; roll back with `git revert`.",
    ],
)
def test_prose_order_numbers_and_history_raise_nothing(raised, steps):
    assert raised(steps) == []


def test_a_file_that_another_plan_makes_is_no_issue(ask, tmp_path):
    head = "---\nphase: 01-a\ndepends_on: [01-01]\n---\n\n"
    text = "# B\n\n1. Change `lib/b.py`.\n2. Test it.\n"
    (tmp_path / "a.py").write_text("")
    assert len(ask("challenger", text, of=StaticBackend(tmp_path)).challenges) == 1
    assert ask("challenger", head + text, of=StaticBackend(tmp_path)).challenges == ()  # 01-01 cannot be read
    (tmp_path / "01-01-PLAN.md").write_text("files_modified: [lib/b.pyi, my-lib/b.py2]\n")
    assert len(ask("challenger", text, of=StaticBackend(tmp_path)).challenges) == 1
    (tmp_path / "01-01-PLAN.md").write_text("files_modified: [lib/b.py]\n")
    assert ask("challenger", text, of=StaticBackend(tmp_path)).challenges == ()


def test_a_sentence_is_the_same_however_its_lines_break():
    whole = ["1. Change `a.py` and add `x`. Then, e.g. in `b.py`, stop."]
    broken = ["1. Change `a.py`", "   and add", "   `x`. Then, e.g.", "   in `b.py`, stop."]
    assert [one.text for one in sentences(whole)] == [one.text for one in sentences(broken)]
    assert [(one.line, one.last) for one in sentences(broken)] == [(1, 3), (3, 4)]


def test_orders_are_read_from_sentences_cells_and_marks():
    text = (
        "- [ ] **Step 1:** Modify `a.py`\n- In `b.py`, after line 3 call it.\n- `c.py` (modify)\n\n"
        "| file | what |\n|---|---|\n| `d.py` | Modified: the loop |\n| `e.py` | new |\n\nThey modify `f.py`.\n"
    )
    instructions = PlanText(parse_plan(text)).instructions
    assert [(each.verb, each.name, each.line) for each in instructions if each.verb == "edit"] == [
        ("edit", "a.py", 1), ("edit", "b.py", 2), ("edit", "c.py", 3), ("edit", "d.py", 7),
    ]  # fmt: skip


def test_what_takes_data_away_asks_for_a_way_back_where_the_plan_has_none(ask):
    text = f"# A\n\n1. Tidy:{code('sql', 'DELETE FROM orders WHERE id < 9;')}\n2. Look.\n"
    (one,) = ask("challenger", text).challenges
    assert (
        one.claim
        == "The plan does `DELETE FROM orders WHERE id < 9;`. Does it say how what it takes away can be brought back?"
    )
    assert ask("challenger", text.replace("Tidy", "After a dump, tidy")).challenges == ()
    assert len(ask("challenger", text.replace("Tidy", "Without backup, tidy")).challenges) == 1


HEAD = "---\nphase: 1-a\nverification_commands:\n  - make migrate\n  - make e2e\n---\n\n"


def test_commands_of_the_head_are_looked_up(ask):
    found = ask("challenger", f"{HEAD}# A\n\n1. Change `shop/orders.py`.\n2. Test.\n").challenges
    assert ["`make e2e`" in one.claim for one in found] == [True]


def test_a_package_that_javascript_requires_is_looked_up(ask, tmp_path):
    (tmp_path / "package.json").write_text('{"dependencies": {"left-pad": "1.0.0"}}')
    block = code("js", "const a = require('left-pad');", "const b = require('js-yaml');", "require('fs');")
    found = ask("challenger", f"# A\n\n1. Read it:{block}\n2. Test.\n", of=StaticBackend(tmp_path)).challenges
    assert ["`js-yaml`" in one.claim for one in found] == [True]


@pytest.mark.parametrize(("file", "found"), [("a.py", 1), ("CMakeLists.txt", 0)])
def test_a_target_is_missing_without_any_makefile_unless_one_is_generated(ask, tmp_path, file, found):
    (tmp_path / file).write_text("")
    plan = "# A\n\n1. Write more tests, and test them.\n2. Run `make test`.\n"
    assert len(ask("challenger", plan, of=StaticBackend(tmp_path)).challenges) == found


@pytest.mark.parametrize(
    ("step", "asked"),
    [
        ("Delete the production database, then run `rm -rf /var/lib/app`.", 2),
        ("Drop the live customer tables.", 1),
        ("We will wipe all backups once done.", 1),
        ("Delete the production database connection helper.", 0),
        ("Do not delete the production database.", 0),
        ("Take a snapshot first, then delete the production database.", 0),
    ],
)
def test_what_takes_production_data_away_is_asked_for_its_way_back(ask, step, asked):
    raised = ask("challenger", f"# Clean up\n\n1. {step}\n2. Tell the team.\n").challenges
    assert len(raised) == asked
    assert all(one.severity == "SIGNIFICANT" and one.claim.endswith("?") for one in raised)


@pytest.mark.parametrize("path", [".vscode/settings.json", ".config/shop.toml", "shop/.hidden/a.py"])
def test_of_files_in_hidden_folders_nothing_is_claimed(raised, path):
    assert raised(f"3. Change `{path}`: raise the limit.") == []
    assert raised("3. Change `shop/gone.py`: raise the limit.") != []
