"""axe-core on what notebooks show: the violations that keep people from using it."""

from __future__ import annotations

from typing import NamedTuple

from axe_playwright_python.base import AXE_SCRIPT

from tests.browser.notebook_page import NotebookPage

OUTPUTS = ".jp-OutputArea-output > *"  # what JupyterLab puts around an output is its own
GRAVE = ("serious", "critical")
COLORS = {"type": "tag", "values": ["cat.color"]}
"""The rules that a second theme can break: it changes colours alone."""
RUN = """async ([selector, runOnly]) => {
  const options = { resultTypes: ["violations"], elementRef: false, ...(runOnly && { runOnly }) };
  const found = await axe.run({ include: [[selector]] }, options);
  return found.violations.map(({ id, impact, help, nodes }) =>
    ({ id, impact, help, targets: nodes.map(node => `${node.target.join(" ")}: ${node.html.slice(0, 200)}`) }));
}"""


class Violation(NamedTuple):
    """A rule of axe-core that some elements break."""

    id: str
    impact: str
    help: str
    targets: list[str]


def axe(page: NotebookPage, selector: str = OUTPUTS, *, colors: bool = False) -> list[Violation]:
    """Serious and critical violations in the elements that the selector finds; JupyterLab's own frame is left out.

    Or those of colours alone, where the same page was looked at in another theme.
    """
    assert page.tab.locator(selector).count(), f"nothing on the page is {selector}"
    if not page.tab.evaluate("() => !!window.axe"):
        page.tab.evaluate(AXE_SCRIPT)
    found = [Violation(**one) for one in page.tab.evaluate(RUN, [selector, COLORS if colors else None])]
    return [one for one in found if one.impact in GRAVE]
