"""Draw the pictures of the README anew (`make pictures`); that of the viewer is taken in JupyterLab, in Chromium."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import verifyplan as vp
from tests.browser.conftest import CHROMIUM, FLAGS
from tests.browser.notebook_files import notebook
from tests.browser.notebook_page import NotebookPage
from tests.browser.servers import Lab

DOCS = Path(__file__).resolve().parents[1]
VIEWER = """
import verifyplan as vp
runs = vp.datasets.runs("stdlib-claims/adversarial")
vp.view(runs, runs.findings.query("classification == 'contested'")["finding_id"].iloc[0])
"""
HEIGHT_PX = 790


def charts() -> dict[str, vp.results.Figure]:
    """Return the charts of the README by the names of their files."""
    modes = vp.compare("stdlib-claims/collaborative", "stdlib-claims/adversarial")
    return {
        "panel-natural": vp.charts.panel(
            vp.datasets.votes("llmbar/natural"), title="Six LLM judges, natural pairs, outputs in the first order"
        ),
        "truth-metrics": vp.charts.truth_metrics(modes),
    }


def viewer(path: Path) -> None:
    """Picture the viewer with a contested finding chosen."""
    with tempfile.TemporaryDirectory() as folder, Lab(Path(folder)) as lab, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = NotebookPage(lab, browser.new_context(service_workers="block", locale="en-US", device_scale_factor=1.5))
        page.open(notebook(Path(folder), VIEWER)).run_all()
        page.tab.set_viewport_size({"width": 1400, "height": 1400})
        page.settle()
        page.outputs.first.get_by_role("button", name="counter-evidence").first.click()
        page.settle()
        box: Any = page.outputs.first.bounding_box()
        page.tab.screenshot(path=path, clip=box | {"height": HEIGHT_PX})
        browser.close()


def main() -> None:
    """Write the pictures into docs/."""
    for name, figure in charts().items():
        vp.export(figure, DOCS / f"{name}.png")
    viewer(DOCS / "viewer.png")


if __name__ == "__main__":
    main()
