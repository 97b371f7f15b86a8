"""Servers and the browser, one each for all tests here. This folder is collected only where it is asked for by name:
Playwright's sync API keeps an event loop running, so these tests have a process of their own (`make browser`)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, sync_playwright

from tests.browser.notebook_page import NotebookPage
from tests.browser.servers import NOWHERE, Lab, Voila

HERE = Path(__file__).resolve().parent
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NO_BROWSER = "needs Chromium, which is not on this machine; install it (Debian: apt-get install chromium)"
REQUIRED = bool(os.environ.get("CI")) or os.environ.get("VERIFYPLAN_BROWSER") == "required"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--proxy-server=http://{NOWHERE}",  # whatever is not loopback goes nowhere
    "--force-color-profile=srgb",
]


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    asked = [Path(config.invocation_params.dir, arg.partition("::")[0]).resolve() for arg in config.args]
    return None if any(path.is_relative_to(HERE) for path in asked) else True


@pytest.fixture(scope="session")
def context() -> Iterator[BrowserContext]:
    if CHROMIUM is None:
        (pytest.fail if REQUIRED else pytest.skip)(NO_BROWSER)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser.new_context(service_workers="block", locale="en-US", timezone_id="UTC")
        browser.close()


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One JupyterLab, whose folder holds every test's `tmp_path`."""
    with Lab(tmp_path_factory.getbasetemp()) as server:
        yield server


@pytest.fixture(scope="session")
def voila(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Voila]:
    with Voila(tmp_path_factory.getbasetemp()) as server:
        yield server


@pytest.fixture(scope="session")
def lab_tab(context: BrowserContext, lab: Lab) -> NotebookPage:
    return NotebookPage(lab, context)


@pytest.fixture
def page(lab_tab: NotebookPage) -> Iterator[NotebookPage]:
    """A tab on JupyterLab; the notebook opened in it has a kernel of its own, which ends with the test."""
    yield lab_tab
    lab_tab.close()


@pytest.fixture
def voila_page(context: BrowserContext, voila: Voila) -> Iterator[NotebookPage]:
    """A new tab on Voila, for one notebook."""
    opened = NotebookPage(voila, context)
    yield opened
    opened.tab.close()
