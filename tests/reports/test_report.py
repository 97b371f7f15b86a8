"""A report says in words what the comparison holds, in Markdown and HTML alike, and stands alone."""

from __future__ import annotations

import re

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.errors import InputError
from verifyplan.reports.comparison import metrics_table, table_of_tests


@pytest.fixture(scope="module")
def comparison() -> vp.results.Comparison:
    return vp.compare(vp.datasets.runs("stdlib-claims/adversarial"), resamples=200)


def test_metrics_carry_interval_and_n(comparison):
    table = metrics_table(comparison).set_index("metric")
    held = comparison.summary.set_index("metric").loc["held"]
    expected = (
        f"{100 * held['collaborative']:.1f} % "
        f"[{100 * held['collaborative_low']:.1f}, {100 * held['collaborative_high']:.1f}] (n = 720)"
    )
    assert table.loc["held", "collaborative"] == expected
    assert table.loc["changed", "adversarial"] == "-"


def test_an_exact_test_has_a_p_value_and_no_statistic(comparison):
    table = table_of_tests(comparison).set_index(["of", "test"])
    row = table.loc[("held", "mcnemar, exact binomial")]
    assert (row["statistic"], row["df"], row["p, Holm"]) == ("-", "-", "-")
    assert float(row["p"]) == pytest.approx(1.0)
    assert table.loc[("classes", "stuart-maxwell, chi-squared"), "p"] == "< 0.0001"
    row = table.loc[("classes", "clustered-homogeneity, exact sign-flip")]
    assert (row["role"], row["p"], row["p, Holm"]) == ("exploratory", "0.0005", "0.0044")
    assert row["assumes"] == "independent runs"


def test_both_formats_have_every_part_and_picture(comparison, tmp_path):
    path = vp.report(comparison, tmp_path, title="Two rules")
    text, page = path.read_text(), (tmp_path / "report.html").read_text()
    for part in (
        "Conclusion",
        "All other metrics are exploratory.",
        "Every metric",
        "Figures",
        "How far workers agree",
        "Findings that change class",
        "krippendorff-alpha",
    ):
        assert part in text
        assert part in page
    assert all((tmp_path / picture).exists() for picture in re.findall(r"\]\((\S+\.png)\)", text))
    assert page.count("<svg") == 3
    assert "http" not in re.sub(r"http://www.w3.org/\S+", "", page), "a report asks no other host for anything"
    assert text.startswith("# Two rules\n")


def test_the_transition_table_has_one_header_and_four_rows(comparison, tmp_path):
    vp.report(comparison, tmp_path)
    page = (tmp_path / "report.html").read_text()
    header = re.search(r"<th>collaborative \(down\), adversarial \(across\)</th>(.*?)</tr>", page, re.DOTALL)
    assert header is not None
    assert re.findall(r"<th>(.*?)</th>", header[1]) == list(comparison.transitions.columns)


def test_all_findings_are_in_the_tables_beside_it(comparison, tmp_path):
    vp.report(comparison, tmp_path)
    assert len(pd.read_csv(tmp_path / "findings.csv")) == 720
    assert pd.read_csv(tmp_path / "summary.csv")["metric"].tolist() == comparison.summary["metric"].tolist()


@pytest.mark.parametrize("wrong", [None, pd.DataFrame()])
def test_what_is_no_comparison_is_refused_in_words(wrong, tmp_path):
    with pytest.raises(InputError, match=r"comparison: is a .*, not a Comparison\. Fix: give what compare returns"):
        vp.report(wrong, tmp_path)
    with pytest.raises(InputError, match="is not a figure"):
        vp.export(wrong, tmp_path / "x.png")
