"""Every number in the README, the demo and the first cells of the notebooks is computed again, under each reading.

A number that no test here knows fails: whoever writes one says below how it is computed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

import verifyplan as vp
from verifyplan.analysis.detection import EITHER
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.rules.scoring import WEIGHTS

ROOT = Path(__file__).resolve().parents[1]
NUMBER = re.compile(r"(?<![\w.,])[+-]?\d[\d,]*(?:\.\d+)?(?![\w])")
FIRST_CELLS = 6
NO_FIGURES = {
    "README": {"3.11": "a version", "2.0": "a licence", "2023": "a year", "95": "the level of intervals"},
    "10_compare_modes": {**dict.fromkeys("1234", "numbers of a list")},
    "demo": {"95": "the level of intervals", "2023": "a year"},
    "00_quickstart": {"2023": "a year"},
    "15_is_the_difference_real": {"95": "the level of intervals", "5": "the level of tests"},
    "16_what_is_my_panel_worth": {"2023": "a year", "1": "in a formula"},
    "40_tune_weights": {"1": "what weights sum to", "0": "an end of a scale"},
    "60_live_agents": {"20": "a notebook"},
}


def prose(text: str) -> str:
    """Return a Markdown text without code, the targets of links, and the numbers of notebooks."""
    text = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|\[[Nn]otebook\s+\d+\]", " ", text, flags=re.DOTALL)
    text = re.sub(r"\[notebook\s+\d+", " ", text, flags=re.IGNORECASE)
    return re.sub(r"\s+", " ", text)


def first_cells(notebook: str) -> str:
    cells = json.loads((ROOT / "notebooks" / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"][:FIRST_CELLS]
    return prose("\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"))


def numbers_left(text: str, phrases: list[str], page: str) -> list[str]:
    """Return the numbers of a text that are in none of its phrases, each of which must be there."""
    for phrase in sorted(phrases, key=len, reverse=True):
        assert phrase in text, f"{page} does not say: {phrase}"
        text = text.replace(phrase, " ")
    known = NO_FIGURES.get(page, {})
    return [number for number in NUMBER.findall(text) if number.rstrip(",") not in known]


@pytest.fixture(scope="module")
def shown() -> vp.results.Demo:
    return vp.demo()


@pytest.fixture(scope="module")
def modes() -> pd.Series:
    both = vp.compare("stdlib-claims/collaborative", "stdlib-claims/adversarial", resamples=10)
    return both.truth.set_index(["condition", "metric"])["value"]


def test_every_number_of_the_readme_is_what_it_is_computed_to_be(shown, modes, static_bench):
    lenient, strict = modes["collaborative"], modes["adversarial"]
    table = [" | ".join(str(row[name]) for name in shown.table) for row in shown.table.to_dict("records")]
    detection = static_bench[0].detection
    held_out = detection.defects[detection.defects["held_out"].astype(bool)]
    sound = detection.on_sound.set_index("alarm").loc[EITHER]
    natural = vp.datasets.votes("llmbar/natural")
    phrases = [
        *(row.replace(" of 6 votes", "") for row in table),
        f"{natural['item'].nunique()} natural pairs",
        f"{shown.table['n'].iloc[0]} have six readable verdicts",
        f"worth about {shown.table['worth'].iloc[0].split()[0]} independent votes",
        f"the best judge, {vp.panel(natural).best_judge.removesuffix('/Vanilla')},",
        f"{vp.datasets.claims()['finding_id'].nunique()} claims each",
        f"hold {100 * lenient['false-consensus-rate']:.1f} % of the false claims, and do not hold "
        f"{100 * lenient['false-demotion-rate']:.1f} % of the true ones",
        f"{100 * strict['false-consensus-rate']:.1f} % and {100 * strict['false-demotion-rate']:.1f} %",
        f"find {held_out['found'].sum()} of {len(held_out)} defects seeded into held-out plans",
        f"raise nothing on {int(sound['n'])} sound ones",
    ]
    assert sound["found"] == 0
    text = prose((ROOT / "README.md").read_text(encoding="utf-8"))
    assert numbers_left(text, phrases, "README") == []


def facts_of_notebooks() -> dict[str, list[str]]:
    """Return the phrases with numbers of the first cells of each notebook."""
    parts = [vp.datasets.votes(f"llmbar/{part}")["item"].nunique() for part in ("natural", "misleading")]
    scores = vp.datasets.votes("judge-scores-balanced/base")
    runs = vp.datasets.runs("stdlib-claims/adversarial").runs
    rejections = (ROOT / "docs" / "statistics.md").read_text(encoding="utf-8")
    rejections = rejections.partition("\n## Tests of no difference\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:-1] for line in rejections.splitlines() if re.match(r"\| (fresh|repeated) ", line)]
    classical = [float(cell) for row in rows for cell in row[7:9] if cell.strip() != "-"]
    own = [float(cell) for row in rows for cell in row[5:7]]
    shares = [f"{100 * WEIGHTS[name]:.0f}" for name in DIMENSIONS]
    return {
        "00_quickstart": [f"{parts[0]} natural ones and {parts[1]} that were built to mislead"],
        "10_compare_modes": [
            f"{vp.datasets.claims()['finding_id'].nunique()} labelled claims",
            f"{len(runs)} runs in each mode",
        ],
        "12_rules_as_treatments": [
            f"{scores['item'].nunique():,} claims",
            f"{scores['worker'].nunique()} judges",
            f"a tie ({100 * scores['margin'].eq(0).mean():.0f} % of the votes)",
        ],
        "15_is_the_difference_real": [
            f"{min(classical):.0f} to {max(classical):.0f} % of all cases",
            f"do so in {min(own):.0f} to {max(own):.1f} %",
        ],
        "16_what_is_my_panel_worth": [f"{parts[0]} natural pairs and {parts[1]} that were built to mislead"],
        "40_tune_weights": [f"{', '.join(shares[:-1])} and {shares[-1]} %"],
        "50_export_figures": ["gets 5: most scores are 5"],  # rule A10: what nobody looked at gets 5
        "90_scale": ["Each run has 50 claims"],  # the next cell makes them so
    }


def test_every_number_of_the_first_cells_of_the_notebooks_is_what_it_is_computed_to_be():
    facts = facts_of_notebooks()
    pages = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
    left = {page: numbers_left(first_cells(page), facts.get(page, []), page) for page in pages}
    assert {page: numbers for page, numbers in left.items() if numbers} == {}


def test_the_words_of_the_demo_have_no_number_that_its_votes_do_not_give(shown):
    worth = {
        (part, column): vp.panel(table.assign(label=table[column]))
        for part in ("natural", "misleading")
        for table in [vp.datasets.votes(f"llmbar/{part}")]
        for column in ("label", "swapped")
    }
    effective, plain = (
        [each.figure(name) for each in worth.values()] for name in ("effective-votes", "effective-votes-plain")
    )
    parts = [vp.datasets.votes(f"llmbar/{part}")["item"].nunique() for part in ("natural", "misleading")]
    phrases = [
        f"worth {min(effective).value:.1f} to {max(effective).value:.1f} independent votes",
        f"{min(each.low for each in effective):.1f} to {max(each.high for each in effective):.1f}",
        f"{parts[0]} natural pairs, {parts[1]} built to mislead",
        f"over all pairs {min(plain).value:.1f} to {max(plain).value:.1f}",
        f"{worth['natural', 'label'].best_judge.removesuffix('/Vanilla')} in every row",
    ]
    assert len({each.best_judge for each in worth.values()}) == 1
    assert numbers_left(prose("\n".join([shown.headline, *shown.notes[:2]])), phrases, "demo") == []


READINGS = {
    "orders swapped": lambda table: table.assign(label=table["swapped"]),
    "the other output as the claim": lambda table: table.assign(label=3 - table["label"], truth=3 - table["truth"]),
    "both": lambda table: table.assign(label=3 - table["swapped"], truth=3 - table["truth"]),
    "votes that change with the order are lost": lambda table: table.assign(
        label=table["label"].where(table["label"].eq(table["swapped"]))
    ),
}


@pytest.mark.parametrize("part", ["natural", "misleading"])
@pytest.mark.parametrize("reading", READINGS)
def test_what_the_readme_says_of_six_judges_does_not_turn_on_the_order_or_the_claim(part, reading):
    """Six votes are worth less than three, and the best judge alone is right more often than the majority."""
    worth = vp.panel(READINGS[reading](vp.datasets.votes(f"llmbar/{part}")))
    assert worth.figure("effective-votes").value < 3
    assert worth.figure("best-minus-majority").value > 0
    first = vp.panel(vp.datasets.votes(f"llmbar/{part}"))
    if reading == "the other output as the claim":
        pd.testing.assert_frame_equal(worth.summary, first.summary)


@pytest.mark.parametrize("part", ["natural", "misleading"])
@pytest.mark.parametrize("column", ["label", "swapped"])
def test_what_the_readme_says_of_six_judges_does_not_turn_on_how_their_tie_counts(part, column):
    table = vp.datasets.votes(f"llmbar/{part}").dropna(subset=[column])
    table = table[table.groupby("item")["worker"].transform("size").eq(6)]
    right = table[column].eq(table["truth"])
    best = right.groupby(table["worker"]).mean().max()
    votes_for_truth = right.groupby(table["item"]).sum()
    shared = (votes_for_truth.gt(3) + 0.5 * votes_for_truth.eq(3)).mean()
    majority = vp.panel(table.assign(label=table[column])).figure("majority").value
    assert majority == pytest.approx(shared)  # as the README says: one half
    for tie in (0, 0.5, 1):
        assert (votes_for_truth.gt(3) + tie * votes_for_truth.eq(3)).mean() < best


@pytest.mark.parametrize("ties", ["against", "for", "share", "lost"])
def test_each_step_towards_unanimity_costs_more_recall_than_it_gains_precision_however_ties_are_read(ties):
    """Notebook 12 says so of five models."""
    table = vp.datasets.votes("judge-scores-balanced/base", ties=ties).query("repetition == 0")
    columns = {"item": "item", "worker": "model", "verdict": "verdict", "truth": "truth", "mode": "collaborative"}
    five = vp.from_votes(table, **columns, verdicts={"error": "verification-error"})
    compared = vp.compare(five, rules=["majority", "two-thirds", "unanimous"], resamples=10)
    rates = compared.truth.set_index(["metric", "condition"])["value"]
    for fewer, more in (("majority", "two-thirds"), ("two-thirds", "unanimous")):
        gained = rates["precision", more] - rates["precision", fewer]
        lost = rates["recall", fewer] - rates["recall", more]
        assert 0 < gained < lost
