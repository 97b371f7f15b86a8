"""Show in a moment what verifyplan makes of recorded votes: a comparison, its chart, and where to go next."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

from verifyplan.analysis.compare import compare
from verifyplan.analysis.comparison import Comparison
from verifyplan.charts import truth_metrics
from verifyplan.charts.figure import Figure
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.vote_tables import VOTE_TABLES

_SET = "llmbar/plain"
_METRICS = ("false-consensus-rate", "false-demotion-rate")


class NextStep(NamedTuple):
    """One thing to do next."""

    question: str
    """The question that it answers."""
    code: str
    """The line that answers it."""


_NEXT = (
    NextStep("Is the difference real?", f'vp.compare("{_SET}").tests'),
    NextStep("What is this panel worth, and who in it?", f'vp.panel(vp.datasets.votes("{_SET}"))'),
    NextStep("Which rule should I use?", f'vp.search_rules("{_SET}", cost="votes", quality="accuracy")'),
    NextStep(
        "Why did a pair get its class?", f'vp.explain("{_SET}", "LLMBar.Adversarial.GPTInst/0", mode="adversarial")'
    ),
    NextStep("How do I begin with my own votes? In a shell:", "!verifyplan new study my-study"),
)


@with_field_docs
@dataclass(frozen=True, eq=False)
class Demo:
    """A small recorded set, compared: real votes under two modes, a chart and next steps; it shows itself.

    `print` gives its words, a notebook the chart as well.
    """

    comparison: Comparison = field(repr=False)
    """The same votes, counted collaboratively and adversarially."""
    chart: Figure = field(repr=False)
    """The rates of wrong decisions of both modes, with intervals."""
    next_steps: tuple[NextStep, ...] = _NEXT
    """What to do next: `question`, and the line of `code` that answers it."""
    notes: tuple[str, ...] = ()
    """What a reader must know of the figures, and where the votes are from."""

    def __str__(self) -> str:
        """Return the comparison in words, the next steps and the notes."""
        steps = [f"  {step.code}  # {step.question}" for step in self.next_steps]
        notes = [f"note: {note}" for note in self.notes]
        return "\n".join([_title(self.comparison), *self._rates(), "next:", *steps, *notes])

    __repr__ = __str__

    def _rates(self) -> list[str]:
        return [self.comparison.in_words(metric) for metric in _METRICS]

    def _repr_html_(self) -> str:
        """Return the words, the chart, the next steps and the notes as HTML; every text is shown as text."""
        rates, notes = ("".join(f"<li>{escape(line)}</li>" for line in lines) for lines in (self._rates(), self.notes))
        rows = "".join(
            f'<tr><td style="text-align:left">{escape(step.question)}</td>'
            f'<td style="text-align:left"><code>{escape(step.code)}</code></td></tr>'
            for step in self.next_steps
        )
        return (
            f"<p><strong>{escape(_title(self.comparison))}</strong></p><ul>{rates}</ul>{self.chart._repr_html_()}"
            f"<p><strong>Next</strong></p><table><tbody>{rows}</tbody></table>"
            f"<p><strong>About these figures</strong></p><ul>{notes}</ul>"
        )


def _title(comparison: Comparison) -> str:
    return f"Six LLM judges on {comparison.n_findings} pairs of outputs: the same votes, counted in two modes"


def demo() -> Demo:
    """Return a small recorded set compared, with a chart and next steps, in about a second; it shows itself.

    The votes are real: six language models judged 419 pairs of outputs whose truth is known (`llmbar/plain`). Nothing
    is asked of a model, and nothing is written. `verifyplan demo --open` does more, and writes a report.

    >>> print(demo())  # doctest: +ELLIPSIS
    Six LLM judges on 419 pairs of outputs: the same votes, counted in two modes
    false-consensus-rate, collaborative against adversarial: ...
    """
    comparison = compare(_SET)
    source = f"the votes are real, from {VOTE_TABLES[_SET].source} (licence {VOTE_TABLES[_SET].licence})"
    return Demo(comparison, truth_metrics(comparison), notes=(*comparison.notes, source))
