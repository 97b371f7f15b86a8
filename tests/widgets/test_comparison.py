"""ModeComparison, driven by its traits: what it shows, and what Python sees, are the values of the analyses."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.analysis.disagreement import disagreement
from verifyplan.analysis.replay import Setting
from verifyplan.errors import InputError, SettingsError
from verifyplan.protocol.vote import HELD
from verifyplan.widgets.comparison import ModeComparison, view


@pytest.fixture(scope="module")
def adversarial():
    return vp.datasets.runs("stdlib-claims/adversarial")


@pytest.fixture(scope="module")
def collaborative():
    return vp.datasets.runs("stdlib-claims/collaborative")


@pytest.fixture
def widget(adversarial):
    return ModeComparison(adversarial, resamples=50)


def votes_of(*rows: tuple[str, str, str], why: str = "", run: str = "r") -> vp.RunSet:
    votes = pd.DataFrame(rows, columns=["item", "who", "says"]).assign(why=why, run=run)
    return vp.from_votes(votes, item="item", worker="who", verdict="says", explanation="why", run="run")


ALIKE = (("F", "a", "agree"), ("F", "b", "agree"))
SPLIT = (("G", "a", "agree"), ("G", "b", "disagree"))


def test_what_is_shown_follows_the_controls_of_each_condition(widget, adversarial):
    assert widget.settings == (Setting("collaborative"), Setting("adversarial"))
    widget.first.mode.value = "adversarial"
    widget.first.rounds.value = 1
    widget.second.missing_basis.value = "counter-evidence"
    settings = (Setting("adversarial", 1), Setting("adversarial", None, "counter-evidence"))
    expected = vp.compare(adversarial, modes=settings, resamples=50)
    assert widget.settings == settings
    assert widget.failure.value == ""
    pd.testing.assert_frame_equal(widget.comparison.findings, expected.findings)
    pd.testing.assert_frame_equal(widget.comparison.summary, expected.summary)
    shown = widget.static()
    for said in (*expected.conditions, *expected.notes):
        assert said in shown.replace("&#x27;", "'")
    assert f"From: full-consensus under {expected.conditions[0]}" in shown


def test_the_named_metric_is_concluded_on(collaborative, adversarial):
    widget = ModeComparison(collaborative, adversarial, metric="false-consensus", resamples=20)
    (line,) = widget.comparison.conclusions
    shown = widget.static().replace("\xa0", " ").replace("&nbsp;", " ")
    assert line.startswith("false-consensus-rate: ")
    assert line.endswith(": a difference is shown")
    assert line.replace("<", "&lt;") in shown
    assert "All other metrics are exploratory." in shown
    with pytest.raises(SettingsError, match="'precison' is not a metric"):
        ModeComparison(adversarial, metric="precison", resamples=20)


def test_two_sets_are_paired_as_they_were_recorded(collaborative, adversarial):
    widget = ModeComparison(collaborative, adversarial, resamples=50)
    assert widget.comparison.conditions == ("collaborative", "adversarial")
    own = [disagreement(one).set_index(["run_id", "finding_id"]) for one in (collaborative, adversarial)]
    widget.changed.value = "all"
    widget.table.selected = widget.table.row_keys[:3]
    for row in widget.selected.to_dict("records"):
        cast = [one.loc[(row["run_id"], row["finding_id"])] for one in own]
        assert row["votes"] == sum(one["votes"] for one in cast)
        shares = sum(one["differing"] for one in cast) / sum(one["pairs"] for one in cast)
        assert row["disagreement"] == pytest.approx(shares)


def test_sets_without_a_run_id_in_common_are_paired_and_told_by_finding():
    first = votes_of(*ALIKE, *SPLIT, why="first words")
    second = votes_of(("F", "c", "disagree"), ("F", "d", "agree"), ("G", "c", "agree"), why="other words", run="q")
    widget = ModeComparison(first, second, modes=["recorded", "adversarial"], resamples=20)
    widget.changed.value = "all"
    widget.table.selected = widget.table.row_keys
    table = widget.selected.set_index("finding_id")
    assert table.loc["F", ["votes", "disagreement"]].tolist() == [4, 0.5]  # two pairs, one in each set
    assert table.loc["G", ["votes", "disagreement"]].tolist() == [3, 1.0]
    told = widget.static()
    assert "a: agree: first words" in told
    assert (
        "c: disagree (no basis recorded; the explanation cites no place; filled in as burden-not-met): other words"
        in told
    )


def test_the_list_is_sorted_by_every_head_and_missing_values_come_last(widget):
    table = widget.comparison.findings
    changed = table[table["changed"]]
    assert widget.table.note == f"{len(changed)} findings"
    assert widget.table.sort == {"column": "disagreement", "descending": True}
    for column in [one["name"] for one in widget.table.columns]:
        for descending in (False, True):
            widget.table.sort = {"column": column, "descending": descending}
            values = widget._shown.rows.table.set_index("key").loc[widget.table.row_keys, column]
            known = values.dropna()
            assert known.tolist() == sorted(known, reverse=descending, key=_order(values))
            assert values.iloc[len(known) :].isna().all()


def _order(values: pd.Series):
    """Classes are ordered as the specification orders them, not by their letters."""
    return values.cat.categories.get_loc if isinstance(values.dtype, pd.CategoricalDtype) else (lambda value: value)


def test_the_list_is_filtered_by_what_changed_and_the_counts_say_how_many(widget):
    widget.second.rounds.value = 1
    table = widget.comparison.findings
    classes = [table[f"classification_{name}"] for name in widget.comparison.conditions]
    held = [each.isin(HELD) for each in classes]
    wanted = {
        "changed": table["changed"],
        "all": table["changed"] | True,
        "lost": held[0] & ~held[1],
        "gained": ~held[0] & held[1],
        "kept": table["changed"] & (held[0] == held[1]),
    }
    for words, value in widget.changed.options:
        if value in wanted:
            n = int(wanted[value].sum())
        else:
            before, after = value.split(" → ")
            n = int(widget.comparison.transitions.loc[before, after])
            both = classes[0].eq(before) & classes[1].eq(after)
            wanted[value] = both
        assert words.endswith(f"({n:,})")
        widget.changed.value = value
        expected = set(table.loc[wanted[value], "finding_id"])
        shown = {key.split(" in ")[0] for key in widget.table.row_keys}
        assert shown == expected if n <= 500 else shown < expected


def test_the_list_is_filtered_by_text_as_it_is_written(widget):
    widget.changed.value = "all"
    for text in ("PARAMETER", "part-03", "F-0145", "`add` takes"):
        widget.find.value = text
        table = widget.comparison.findings
        words = table["finding_id"] + " " + table["run_id"] + " " + table["summary"]
        assert f"{int(words.str.lower().str.contains(text.lower(), regex=False).sum())} finding" in widget.table.note
    widget.find.value = "(.*"  # not a pattern
    assert widget.table.note == "No finding matches: choose another change, or another search."
    assert widget.failure.value == ""


def test_what_is_chosen_stays_chosen_and_is_explained_under_both_settings(widget, adversarial):
    keys = widget.table.row_keys[:3]
    widget.table.selected = [keys[2], keys[0]]
    names = [key.split(" in ")[0] for key in (keys[2], keys[0])]
    assert widget.selected["finding_id"].tolist() == names
    expected = widget.comparison.findings.set_index("finding_id").loc[names].reset_index()
    pd.testing.assert_frame_equal(
        widget.selected[widget.comparison.findings.columns].reset_index(drop=True),
        expected[widget.comparison.findings.columns],
    )
    widget.find.value = "nothing is called this"
    widget.second.rounds.value = 1
    assert widget.selected["finding_id"].tolist() == names
    told = widget.static().replace("&#x27;", "'").replace("&quot;", '"').replace("&lt;", "<").replace("&gt;", ">")
    for name in names:
        assert str(vp.explain(adversarial, name, mode="collaborative")) in told
        assert str(vp.explain(adversarial, name, mode="adversarial", max_rounds=1)) in told
    widget.clear.click()
    assert widget.selected.empty
    assert list(widget.selected.columns) == [*widget.comparison.findings.columns, "votes", "disagreement", "key"]
    assert "Choose findings in the list" in widget.static()


def test_of_many_chosen_the_first_are_told_and_how_many_there_are(widget):
    widget.table.selected = widget.table.row_keys[:9]
    assert widget.static().count("<article") == view.MAX_SHOWN_FINDINGS == 6
    assert "9 findings chosen; the first 6 are shown" in widget.static()
    assert len(widget.selected) == 9


def test_a_setting_that_was_shown_before_is_not_worked_out_again(widget, monkeypatch):
    first, chart = widget.comparison, widget._charts[0].value
    widget.second.rounds.value = 1
    assert widget._charts[0].value != chart
    monkeypatch.setattr(Setting, "replay", None)
    monkeypatch.setattr(view, "transitions_html", None)
    widget.second.rounds.value = 0
    assert widget.failure.value == ""
    assert widget.comparison is first
    assert widget._charts[0].value == chart


def test_while_it_computes_it_says_so(widget):
    said = []
    widget.header.words.observe(lambda change: said.append(change["new"]), "value")
    widget.second.rounds.value = 1
    assert "Computing: judging 720 findings again" in said[0]
    assert "adversarial, 1 round" in said[-1]


def test_a_failure_is_shown_in_words_what_was_shown_stays_and_the_next_success_clears_it(widget, monkeypatch):
    shown, headline = widget.comparison, widget.header.words.value

    def broken(*_, **__):
        raise RuntimeError("<i>out of order</i>")

    with monkeypatch.context() as patched:
        patched.setattr("verifyplan.analysis.conditions.replay_under", broken)
        widget.second.rounds.value = 1
    assert "That did not work." in widget.failure.value
    assert "RuntimeError: &lt;i&gt;out of order" in widget.failure.value
    assert (widget.comparison, widget.header.words.value) == (shown, headline)
    widget.second.rounds.value = 2
    assert widget.failure.value == ""
    assert widget.comparison.conditions[1] == "adversarial, 2 rounds"


@pytest.mark.parametrize(
    ("runs", "told"),
    [
        (vp.RunSet(), "There are no findings."),
        (votes_of(*ALIKE), "No finding changes class between collaborative and adversarial."),
        (votes_of(*SPLIT), "1 finding"),
    ],
)
def test_nothing_to_show_is_said_in_words(runs, told):
    widget = ModeComparison(runs, resamples=20)
    assert widget.table.note == told
    assert "truth is known" in widget.static()
    assert all(note.replace("'", "&#x27;") in widget.static() for note in widget.comparison.notes)
    assert widget.failure.value == ""
    if told == "There are no findings.":
        assert "nothing to compare" in widget.page()


def test_censored_findings_and_filled_bases_are_said():
    widget = ModeComparison(votes_of(*SPLIT), resamples=20)
    widget.first.rounds.value = 3
    told = widget.static()
    assert "Under collaborative, 3 rounds, 1 of 1 finding is censored: the run ended" in told
    assert "none of the disagreements (1) has a basis, and each is read as burden-not-met (not proven)" in told


def test_hostile_texts_are_cut_and_shown_as_text():
    bad = "<script>alert(1)</script>\x07\u202e" + "<img onerror=x>" * 8_000
    runs = votes_of((bad, bad, "agree"), (bad, "b", "disagree"), *SPLIT, why=bad)
    runs = dataclasses.replace(runs, findings=runs.findings.assign(summary=bad))
    widget = ModeComparison(runs, resamples=20)
    widget.table.selected = widget.table.row_keys
    told = widget.static()
    assert len(widget.selected) == 2
    assert "<script" not in told
    assert "<img" not in told
    assert "characters)" in told
    assert not {"\x07", "\u202e"} & set(told)
    assert len(told) < 200_000


def test_ids_that_begin_alike_are_told_apart():
    long = "F" * 100
    rows = [(f"{long}{i}", who, says) for i in (1, 2) for who, says in (("a", "agree"), ("b", "disagree"))]
    widget = ModeComparison(votes_of(*rows), resamples=20)
    assert [key[:4] for key in widget.table.row_keys] == ["1: F", "2: F"]
    widget.table.selected = widget.table.row_keys[1:]
    assert widget.selected["finding_id"].tolist() == [f"{long}2"]


def test_every_control_has_a_name_of_its_own_and_bases_are_off_where_none_matters(widget):
    named = [*widget.first.lists, *widget.second.lists, widget.changed, widget.find, widget.clear]
    names = [one.description for one in named]
    assert all(names)
    assert len(set(names)) == len(names)
    assert (widget.first.missing_basis.disabled, widget.second.missing_basis.disabled) == (True, False)
    widget.first.mode.value = "recorded"
    assert not widget.first.missing_basis.disabled


def test_wrong_arguments_are_refused_before_anything_is_shown(adversarial):
    with pytest.raises(SettingsError, match="'adverserial' is unknown"):
        ModeComparison(adversarial, modes=["adverserial", "adversarial"])
    with pytest.raises(SettingsError, match="max_rounds: 0 is out of range"):
        ModeComparison(adversarial, modes=["recorded", Setting("adversarial", 0)])
    with pytest.raises(InputError, match="has no finding"):
        ModeComparison(adversarial, vp.RunSet())
    with pytest.raises(InputError, match=r"runs: must be a RunSet, .* got a DataFrame"):
        ModeComparison(pd.DataFrame())


def test_a_page_without_a_kernel_gets_what_is_shown_without_scripts(widget):
    page = widget._repr_mimebundle_()["text/html"]
    assert page.count("<svg") == 2
    assert "<script" not in page
    assert "Where findings move" in page
    assert "Disagreement" in page


def test_votes_of_a_panel_are_read_by_iteration():
    runs = votes_of(*SPLIT)
    twice = pd.concat([runs.votes.assign(iteration=1), runs.votes.assign(iteration=2)], ignore_index=True)
    twice.loc[twice["iteration"].eq(2), "verdict"] = "agree"
    widget = ModeComparison(dataclasses.replace(runs, votes=twice), resamples=20)
    widget.changed.value = "all"
    assert widget.table.row_keys == ["G, iteration 1", "G, iteration 2"]
    widget.table.selected = widget.table.row_keys
    assert widget.selected["disagreement"].tolist() == [1.0, 0.0]
    assert "Votes of iteration 1." in widget.static()
    assert "Votes of iteration 2." in widget.static()
