"""One tab with a notebook: opened in JupyterLab or Voila, run, read for errors, pictured."""

from __future__ import annotations

import time
import urllib.parse
from pathlib import Path
from typing import Self

from playwright.sync_api import BrowserContext, ConsoleMessage, Error, Locator, Request, WebSocket

from tests.browser.controls import Controls
from tests.browser.servers import Lab, Voila
from tests.browser.traffic import Traffic
from tests.longer import PICTURES

SCRIPT = (Path(__file__).parent / "page.js").read_text()
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
LOOPBACK = ("127.0.0.1", "localhost", "::1")
ENDED = "Canceled future for "  # told of a kernel that has ended; where it died, the traffic says so, too
WIDTH, HEIGHT = 1280, 900
PICTURED_WIDTHS = (950, 1600)
"""Pixels across of a window in which a widget must be readable."""
CUT = """selector => [...document.querySelectorAll(
    [".vp-scroll", ".vp-table", ".widget-label", "button", "label"].map(part => `${selector} ${part}`).join(", "))]
  .filter(part => part.offsetParent && part.scrollWidth > part.clientWidth + 1)
  .map(part => `${part.getAttribute("aria-label") || part.textContent.slice(0, 80)}: ${part.scrollWidth} px`)"""
SHAPES = ("path", "rect", "text", "circle", "line", "image")


class NotebookPage(Controls):
    """A tab on a server of notebooks; `tab` is Playwright's page, for whatever is not here."""

    def __init__(self, server: Lab | Voila, context: BrowserContext) -> None:
        self.server, self.in_lab = server, isinstance(server, Lab)
        self.tab = context.new_page()
        self.tab.set_default_timeout(10_000)  # a control that is not there is told soon
        self.shown: Path | None = None
        self.outside: list[str] = []
        self._told: list[str] = []
        self._traffic = Traffic(self.tab)
        self.tab.on("request", self._note_outside)
        self.tab.on("websocket", self._note_outside)
        self.tab.on("pageerror", self._note_script)
        self.tab.on("console", self._note_console)

    def _note_outside(self, asked: Request | WebSocket) -> None:
        host = urllib.parse.urlsplit(asked.url).hostname
        if host is not None and host not in LOOPBACK:
            self.outside.append(asked.url)

    def _note_script(self, error: Error) -> None:
        if ENDED not in str(error):
            self._told.append(f"script: {error}"[:500])

    def _note_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":  # a widget that cannot be shown is told only there
            self._told.append(f"console: {message.text}"[:500])

    def open(self, notebook: Path, theme: str = "light", seconds: float = 180) -> Self:
        """Show a notebook that lies below the server's folder; Voila runs it at once, JupyterLab when told to."""
        self.close()
        self._forget()
        self.tab.emulate_media(color_scheme=theme, reduced_motion="reduce")
        if self.in_lab and self.tab.evaluate("() => !!window.jupyterapp && !document.querySelector('.jp-Dialog')"):
            path = self.server.path_of(notebook)  # three times as fast as to load JupyterLab again
            self.tab.evaluate("path => window.verifyplanWatch.open(path)", path)
        else:
            self.tab.goto(self.server.page_of(notebook), wait_until="domcontentloaded", timeout=seconds * 1000)
            self.tab.evaluate(SCRIPT)
        self.tab.wait_for_function("() => window.verifyplanWatch.ready()", timeout=seconds * 1000)
        if self.in_lab:
            self.use_theme(theme)
        self.shown = notebook
        return self

    def _forget(self) -> None:
        """Nothing has gone wrong yet, and the window has its size."""
        for seen in (self.outside, self._told, self._traffic):
            seen.clear()
        self.tab.set_viewport_size({"width": WIDTH, "height": HEIGHT})

    def again(self, notebook: Path) -> Self:
        """Run a notebook in JupyterLab, once more in its kernel if it is open: a new one takes seconds to start."""
        if self.shown != notebook:
            return self.open(notebook).run_all()
        self._forget()
        self.use_theme("light")
        return self.run_all()

    def close(self) -> None:
        """Leave the notebook, if one is open in JupyterLab, and end its kernel; the tab stays."""
        self.shown = None
        if self.in_lab:
            self.tab.evaluate("() => window.verifyplanWatch?.close()")

    def use_theme(self, theme: str) -> None:
        """Change JupyterLab's theme as a user would, while the notebook is open."""
        self.tab.emulate_media(color_scheme=theme, reduced_motion="reduce")
        self.tab.evaluate("name => window.verifyplanWatch.useTheme(name)", THEMES[theme])
        self.settle()

    def run_all(self, seconds: float = 180) -> Self:
        """Run every cell and wait until all is drawn; nothing to do under Voila, which has run them."""
        if self.in_lab:
            self.tab.evaluate("seconds => window.verifyplanWatch.runAll(seconds)", seconds)
        self.settle()
        return self

    def settle(self, quiet: float = 0.3, seconds: float = 60) -> None:
        """Wait until the kernel has answered every request, widgets have their models, and the page is at rest.

        It is at rest when it has not changed for `quiet` seconds. Voila's page asks for models after all else is shown.
        """
        end, owed = time.monotonic() + seconds, list[str]()
        while (left := end - time.monotonic()) > 0:
            self.tab.wait_for_timeout(20)
            if self._traffic.pending:
                owed = self._traffic.pending
                continue
            rested, loading = self.tab.evaluate("given => window.verifyplanWatch.rest(...given)", [quiet, left])
            owed = self._traffic.pending + loading
            if rested and not owed:
                return
        waiting = ", ".join(owed) or "nothing, but the page keeps changing"
        raise TimeoutError(f"the page did not come to rest in {seconds} s; the kernel still owes: {waiting}")

    def errors(self) -> list[str]:
        """Whatever went wrong since `open`: cells, callbacks (silent ones, too), the kernel, scripts, what is drawn."""
        return [*self._traffic.errors, *self._told, *self.tab.evaluate("() => window.verifyplanWatch.errors()")]

    @property
    def outputs(self) -> Locator:
        """The outputs of all cells: where to look for what a notebook shows."""
        return self.tab.locator(".jp-OutputArea-output")

    def marks(self, within: str = "") -> list[str]:
        """The aria-labels of the marks of live charts ("x: 0; y: 1.0"), in the order drawn."""
        found = self.outputs.locator(", ".join(f"{within} svg {shape}[aria-label]" for shape in SHAPES))
        return found.evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")

    def text(self, selector: str) -> str:
        """The text shown by the first element in the outputs that the selector finds."""
        return self.outputs.locator(selector).first.inner_text()

    def execute(self, code: str) -> None:
        """Run code in the kernel, beside what is shown, as a cell at the end of the notebook would."""
        self.tab.evaluate(
            """code => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel
                .requestExecute({ code, store_history: false }).done.then(() => null)""",
            code,
        )
        self.settle()

    def screenshot(self, path: Path, width: int = WIDTH, part: Locator | None = None) -> None:
        """Leave a picture of the whole notebook, or of a part of it, where pictures are wanted.

        The window grows for it, since both servers scroll an inner panel.
        """
        if not PICTURES:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        self.tab.set_viewport_size({"width": width, "height": HEIGHT})
        self.settle()
        height = min(int(self.tab.evaluate("() => window.verifyplanWatch.height()")), 12_000)
        self.tab.set_viewport_size({"width": width, "height": height})
        self.settle()
        whole = self.tab.locator(".jp-NotebookPanel-notebook" if self.in_lab else "body").first
        (part or whole).screenshot(path=path)
        self.tab.set_viewport_size({"width": WIDTH, "height": HEIGHT})

    def pictures(self, path: Path, part: Locator | None = None) -> None:
        """Leave a picture at each width; `path` ends in the name to which the width is added."""
        for width in PICTURED_WIDTHS:
            self.screenshot(path.with_name(f"{path.name}-{width}.png"), width, part or self.outputs.last)

    def cut(self, selector: str = ".vp-panel") -> list[str]:
        """Return the tables and controls that are wider than the room they have, at each width, by what they say."""
        found = []
        for width in PICTURED_WIDTHS:
            self.tab.set_viewport_size({"width": width, "height": HEIGHT})
            self.settle()
            found += [f"{width}: {words}" for words in self.tab.evaluate(CUT, selector)]
        self.tab.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        return found
