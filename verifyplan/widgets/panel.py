"""The base of every widget: a column of controls that shows its failures and leaves HTML for pages without a kernel."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from functools import update_wrapper
from html import escape
from typing import Any, Concatenate, ParamSpec, TypeVar

import ipywidgets as ipw

from verifyplan.charts.labels import plain
from verifyplan.errors import VerifyplanError
from verifyplan.redaction import redact
from verifyplan.widgets.controls import Keys
from verifyplan.widgets.html import STYLE, header

P = ParamSpec("P")
W = TypeVar("W", bound="Panel")
R = TypeVar("R")

MAX_ERROR_CHARACTERS = 4000
"""Characters of an error that are shown; of a traceback, the last ones."""
NO_KERNEL_NOTE = "Shown as it was when its cell ran; with a kernel (JupyterLab, Voila) it has controls."


class Header(ipw.Box):
    """The head of a widget: its name, one line about what it shows, and room for buttons at the right."""

    def __init__(self, title: str) -> None:
        self._title, self.words, self._actions = title, ipw.HTML(), ipw.HBox()
        super().__init__([self.words, self._actions])
        self.add_class("vp-header")
        self._actions.add_class("vp-actions")
        self.show("")

    def show(self, shown: str) -> None:
        """Say what is shown, on one line; a text that is not Html is escaped."""
        self.words.value = header(self._title, shown)

    def act(self, *actions: ipw.Widget) -> None:
        """Put these buttons at the right."""
        self._actions.children = actions

    def html(self) -> str:
        """Return the name and the line, for a page without a kernel."""
        return f'<header class="vp-header">{self.words.value}</header>'


def group(look: str, *children: ipw.Widget) -> ipw.Box:
    """Return controls in a box with a class of controls.css: `vp-fields`, `vp-row`, `vp-beside`."""
    box = ipw.Box(children)
    box.add_class(look)
    return box


class Panel(ipw.VBox):
    """A column of controls below a header, with a line for what went wrong.

    A subclass decorates each callback with `guarded`, so that none fails silently, and returns from `static` what a
    page without a kernel shows.
    """

    def __init__(self, label: str) -> None:
        self.label = label
        self._keys = Keys()
        self.header = Header(label)
        self.failure = ipw.HTML()
        """The failures of callbacks that have not succeeded since; blank if there is none."""
        self._failed: dict[str, str] = {}
        self._failures = 0
        self.turn = threading.RLock()
        """The lock of methods that are decorated by `in_turn`."""
        super().__init__([])
        self.add_class("vp-panel")

    def static(self) -> str:
        """Return the present state, without the header, as escaped HTML that needs neither kernel nor script."""
        raise NotImplementedError

    def page(self) -> str:
        """Return the header and the present state, for a page without a kernel."""
        return f"{self.header.html()}{self.static()}"

    def fill(self, *children: ipw.Widget) -> None:
        """Put the children under the header and the line for failures."""
        self.children = (self._keys, self.header, self.failure, *children)

    def fail(self, error: Exception, callback: str = "") -> None:
        """Show what went wrong in a callback, until that callback succeeds."""
        self._failed[callback] = failure_html(error)
        self._failures += 1
        self._show_failures()

    def _worked(self, callback: str) -> None:
        if self._failed.pop(callback, None) is not None:
            self._show_failures()

    def _show_failures(self) -> None:
        self.failure.value = "".join(dict.fromkeys(self._failed.values()))  # two may fail for the same reason

    def __repr__(self) -> str:
        """Return the class; the whole state would fill screens."""
        return f"<{type(self).__name__}: shown as the last line of a notebook's cell>"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        note = f'<p class="vp-small">{escape(NO_KERNEL_NOTE)}</p>'
        shown = f"{STYLE}{self.page()}{note}"
        return bundle | {"text/html": f'<section class="vp-panel" aria-label="{escape(self.label)}">{shown}</section>'}


def failure_html(error: BaseException) -> str:
    """Return the message of an error as HTML, and its traceback unless it is a VerifyplanError."""
    message = plain(redact(str(error)) or type(error).__name__)
    cut = message[:MAX_ERROR_CHARACTERS] + ("..." if len(message) > MAX_ERROR_CHARACTERS else "")
    html = escape(cut).replace("\n", "<br>")
    if not isinstance(error, VerifyplanError):
        where = escape(plain(redact("".join(traceback.format_exception(error))))[-MAX_ERROR_CHARACTERS:])
        html = (
            f"{escape(type(error).__name__)}: {html}<details><summary>Where it happened</summary>"
            f'<pre tabindex="0">{where}</pre></details>'
        )
    return f'<div role="alert" class="vp-box vp-alert"><b>That did not work.</b> {html}</div>'


def guarded(callback: Callable[Concatenate[W, P], R]) -> Callable[Concatenate[W, P], R | None]:
    """Show the failure of a method of a Panel in the panel until the method succeeds again."""
    name = callback.__qualname__

    def call(self: W, /, *args: P.args, **kwargs: P.kwargs) -> R | None:
        before = self._failures
        try:
            result = callback(self, *args, **kwargs)
        except Exception as error:  # a person must see any error
            self.fail(error, name)
            return None
        if self._failures == before:  # else it failed in a nested call of itself
            self._worked(name)
        return result

    update_wrapper(call, callback)
    return call


def in_turn(method: Callable[Concatenate[W, P], R]) -> Callable[Concatenate[W, P], R]:
    """Let a method of a Panel wait until other threads have left such methods of the same panel.

    A kernel with subshells handles messages of the page in another thread, even while a cell changes the panel.
    """

    def call(self: W, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.turn:
            return method(self, *args, **kwargs)

    update_wrapper(call, method)
    return call
