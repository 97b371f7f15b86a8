"""Show in a moment what verifyplan makes of recorded votes: what a panel of judges is worth, and where to go next."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

import pandas as pd

from verifyplan.analysis.panels.panel import panel
from verifyplan.analysis.panels.panel_result import PanelWorth
from verifyplan.analysis.result_words import share_words
from verifyplan.charts import panel as panel_chart
from verifyplan.charts.figure import Figure
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.bundled_votes import votes
from verifyplan.frames.vote_tables import VOTE_TABLES

PARTS = {"llmbar/natural": "natural", "llmbar/misleading": "misleading"}
"""The parts of LLMBar and what their pairs are. Judges do so differently on them that one figure of both misleads."""
ORDERS = {"label": "first", "swapped": "swapped"}
"""The columns of verdicts: with the outputs in the first order, and swapped."""


class NextStep(NamedTuple):
    """One thing to do next."""

    question: str
    """The question that it answers."""
    code: str
    """The line that answers it."""


_NEXT = (
    NextStep("What is this panel worth, and who in it?", 'vp.panel(vp.datasets.votes("llmbar/natural"))'),
    NextStep("Which rule should I use?", 'vp.search_rules("llmbar/natural", cost="votes", quality="accuracy")'),
    NextStep(
        "Why was a claim held?", 'vp.explain("llmbar/natural", "LLMBar.Natural/0: output 1 is better, first order")'
    ),
    NextStep(
        "Is the difference between two modes real?",
        'vp.compare("stdlib-claims/collaborative", "stdlib-claims/adversarial")',
    ),
    NextStep("How do I begin with my own votes? In a shell:", "!verifyplan new study my-study"),
)


@with_field_docs
@dataclass(frozen=True, eq=False)
class Demo:
    """Recorded votes of a panel of judges, and what they are worth; it shows itself.

    `print` gives its words, a notebook the charts as well.
    """

    table: pd.DataFrame
    """One row for each part of the pairs and each order of their outputs: `pairs, order, n, majority, best judge,
    difference, worth`, with 95 % intervals; `n` are the pairs on which all verdicts can be read."""
    charts: tuple[Figure, ...] = field(repr=False)
    """What the panel is worth on each part, with the outputs in the first order."""
    next_steps: tuple[NextStep, ...] = _NEXT
    """What to do next: `question`, and the line of `code` that answers it."""
    notes: tuple[str, ...] = ()
    """What a reader must know of the figures, and where the votes are from."""

    @property
    def headline(self) -> str:
        """The answer in a sentence."""
        ends = self.table["worth"].str.extractall(r"([\d.]+)").astype(float)[0].unstack()
        worth, within = (f"{ends[low].min()} to {ends[high].max()}" for low, high in ((0, 0), (1, 2)))
        return f"The votes of these six LLM judges are worth {worth} independent votes (95 % intervals: {within})."

    def __str__(self) -> str:
        """Return the headline, the table, the next steps and the notes."""
        steps = [f"  {step.code}  # {step.question}" for step in self.next_steps]
        notes = [f"note: {note}" for note in self.notes]
        return "\n".join([self.headline, self.table.to_string(index=False), "next:", *steps, *notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the headline, the table, the charts, the next steps and the notes as HTML; texts are shown as text."""
        notes = "".join(f"<li>{escape(line)}</li>" for line in self.notes)
        rows = "".join(
            f'<tr><td style="text-align:left">{escape(step.question)}</td>'
            f'<td style="text-align:left"><code>{escape(step.code)}</code></td></tr>'
            for step in self.next_steps
        )
        charts = "".join(chart._repr_html_() for chart in self.charts)
        return (
            f"<p><strong>{escape(self.headline)}</strong></p>{self.table.to_html(index=False)}{charts}"
            f"<p><strong>Next</strong></p><table><tbody>{rows}</tbody></table>"
            f"<p><strong>About these figures</strong></p><ul>{notes}</ul>"
        )


def demo() -> Demo:
    """Return what a recorded panel of judges is worth, with charts and next steps, in about a second; it shows itself.

    The votes are real: six language models judged natural pairs of outputs whose truth is known, and pairs that were
    built to mislead judges (`llmbar/natural`, `llmbar/misleading`), each in both orders. Nothing is asked of a model,
    and nothing is written. `verifyplan demo --open` does more, and writes a report.

    >>> print(demo().headline)
    The votes of these six LLM judges are worth 2.3 to 2.7 independent votes (95 % intervals: 1.8 to 3.8).
    """
    worth = {(part, column): panel(_verdicts(part, column)) for part in PARTS for column in ORDERS}
    rows = [_row(PARTS[part], ORDERS[column], each) for (part, column), each in worth.items()]
    title = "Six LLM judges, {} pairs of LLMBar, outputs in the first order"
    charts = tuple(panel_chart(worth[part, "label"], title=title.format(PARTS[part])) for part in PARTS)
    origin = VOTE_TABLES["llmbar/natural"]
    plain = [each.figure("effective-votes-plain").value for each in worth.values()]
    notes = (
        "which output follows an instruction better, by six models of 2023 with one prompt (LLMBar's Vanilla, with "
        "rules): 100 natural pairs, 319 built to mislead judges; n: pairs on which all six verdicts can be read; "
        "intervals: 95 %, over pairs",
        "a tie of the six counts as one half; the best judge, chosen on other pairs, is GPT-4 in every row; "
        "difference: best judge less majority, in points; worth: by the correlation of errors within each class of "
        f"truth (over all pairs {min(plain):.1f} to {max(plain):.1f}), which says how independent judges are, not how "
        "good",
        f"the votes are real, from {origin.source} (licence {origin.licence})",
    )
    return Demo(pd.DataFrame(rows), charts, notes=notes)


def _verdicts(part: str, column: str) -> pd.DataFrame:
    """Return the verdicts on a part of the pairs, with the outputs in one order."""
    table = votes(part)
    return table.assign(label=table[column])


def _row(pairs: str, order: str, worth: PanelWorth) -> dict[str, object]:
    effective, low, high, _ = worth.figure("effective-votes")
    gain = [100 * each for each in worth.figure("best-minus-majority")[:3]]
    return {
        "pairs": pairs,
        "order": order,
        "n": worth.n_items,
        "majority": share_words(*worth.figure("majority")[:3]),
        "best judge": share_words(*worth.figure("best-judge")[:3]),
        "difference": f"{gain[0]:+.1f} [{gain[1]:+.1f}, {gain[2]:+.1f}]",
        "worth": f"{effective:.1f} [{low:.1f}, {high:.1f}] of {worth.n_judges} votes",
    }
