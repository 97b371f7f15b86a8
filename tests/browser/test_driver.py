"""The driver can fail: each way in which a notebook goes wrong is found, and controls are moved as a person would."""

from __future__ import annotations

import pytest

from tests.browser.accessibility import axe
from tests.browser.notebook_files import notebook

SILENT = """
import ipywidgets
def fail(button):
    raise ValueError("a callback that fails")
button = ipywidgets.Button(description="Go")
button.on_click(fail)
button
"""
WIDGET = """
import anywidget, traitlets
class Widget(anywidget.AnyWidget):
    _esm = '''{script}'''
    moved = traitlets.Int(0).tag(sync=True)
    doubled = traitlets.Int(0).tag(sync=True)
    @traitlets.observe("moved")
    def _double(self, change):
        self.doubled = 2 * change["new"]
Widget()
"""
FORM = WIDGET.format(
    script="""export default { render({ model, el }) {
    el.innerHTML = `<label>Weight <input type="range" min="0" max="100" step="5"></label><output></output>
        <label>Kind <select><option>one</option><option>two</option></select></label>
        <label><input type="checkbox">Lock</label>
        <label>Find <input></label><label>Count <input type="number"></label>`;
    el.addEventListener("keydown", (event) => event.stopPropagation()); // else JupyterLab takes the arrow keys
    const slider = el.querySelector("input");
    slider.oninput = () => { model.set("moved", Number(slider.value)); model.save_changes(); };
    model.on("change:doubled", () => { el.querySelector("output").textContent = model.get("doubled"); });
} };"""
)
NAMELESS = WIDGET.format(script='export default { render({ el }) { el.innerHTML = `<input type="range">`; } };')
CHART = """
import altair
altair.JupyterChart.enable_offline()
altair.JupyterChart(
    altair.Chart({{"values": [{{"x": 1, "y": 3}}]}}, width={width!r}).mark_bar().encode(x="x:O", y="y:Q")
)
"""
FAILURES = {
    "cell": ("1 / 0", "cell: ZeroDivisionError: division by zero"),
    "captured": ("import ipywidgets\nwith ipywidgets.Output():\n    1 / 0", "cell: ZeroDivisionError"),
    "thread": ("import threading\nthreading.Thread(target=lambda: 1 / 0).start()", "traceback: ZeroDivisionError"),
    "kernel": ("import os\nos._exit(1)", "kernel: restarting"),
    "render": (WIDGET.format(script="export default { render() { throw new Error('broken'); } };"), "script: broken"),
    "syntax": (WIDGET.format(script="export default {"), "console: SyntaxError: Unexpected end of input"),
    "unknown": ("import ipywidgets\nipywidgets.DOMWidget(_view_module='no', _view_name='No')", "console: "),
    "flat": (CHART.format(width="container"), "chart: drawn 0 x"),
}


@pytest.mark.parametrize(("cell", "told"), FAILURES.values(), ids=FAILURES)
def test_what_goes_wrong_is_found(page, tmp_path, cell, told):
    page.open(notebook(tmp_path, "1 + 1", cell)).run_all()
    assert any(error.startswith(told) for error in page.errors()), page.errors()


def test_a_callback_that_fails_silently_is_found(page, tmp_path):
    page.open(notebook(tmp_path, SILENT)).run_all()
    assert page.errors() == []
    page.click(page.button("Go"))
    assert page.errors() == ["callback: ValueError: a callback that fails"]


@pytest.mark.parametrize("host", ["example.org", "93.184.216.34"])
def test_a_request_to_another_host_is_found_and_goes_nowhere(page, tmp_path, host):
    page.open(notebook(tmp_path, f"from IPython.display import HTML\nHTML('<img src=\"https://{host}/x.png\">')"))
    page.run_all()
    assert set(page.outside) == {f"https://{host}/x.png"}
    assert not page.outputs.locator("img").evaluate("image => image.naturalWidth")


def test_a_page_that_never_rests_is_told(page, tmp_path):
    restless = "export default { render({ el }) { setInterval(() => { el.textContent = Math.random(); }, 50); } };"
    page.open(notebook(tmp_path, "import time", "time.sleep(60)", WIDGET.format(script=restless)))
    with pytest.raises(Exception, match="cells still run after 1 s"):
        page.run_all(seconds=1)
    with pytest.raises(TimeoutError, match="the kernel still owes: execute_request"):
        page.settle(seconds=1)


def test_controls_are_found_by_name_and_moved_by_keys_and_mouse(page, tmp_path):
    page.open(notebook(tmp_path, FORM)).run_all()
    slider = page.slider("Weight")
    page.press(slider, "ArrowRight", times=3)
    assert (page.value(slider), page.text("output")) == (65, "130")
    for value in (0, 35, 100):
        page.drag(slider, value)
        assert (page.value(slider), page.text("output")) == (value, str(2 * value))
    page.choose(page.select("Kind"), "two")
    page.press(page.checkbox("Lock"), "Space")
    page.write(page.textbox("Find"), "abc")
    page.write(page.textbox("Count"), "7")
    assert page.select("Kind").input_value() == "two"
    assert page.checkbox("Lock").is_checked()
    assert [page.textbox(name).input_value() for name in ("Find", "Count")] == ["abc", "7"]
    assert page.errors() == []


def test_the_marks_of_a_chart_are_read(page, tmp_path):
    page.open(notebook(tmp_path, CHART.format(width=200))).run_all()
    assert page.marks() == page.marks(".vega-embed") == ["x: 1; y: 3"]
    assert page.marks(".elsewhere") == []


def test_a_control_without_a_name_is_a_violation(page, tmp_path):
    page.open(notebook(tmp_path, FORM)).run_all()
    assert axe(page) == []
    page.open(notebook(tmp_path, NAMELESS)).run_all()
    (found,) = axe(page)
    assert (found.id, found.impact) == ("label", "critical")
    assert 'type="range"' in found.targets[0]
    with pytest.raises(AssertionError, match="nothing on the page is"):
        axe(page, ".elsewhere")


def test_every_notebook_starts_in_a_fresh_kernel_and_a_light_page(page, tmp_path):
    for name in ("one.ipynb", "two.ipynb"):
        page.open(
            notebook(tmp_path, "import builtins\nassert not hasattr(builtins, 'mine')\nbuiltins.mine = 1", name=name)
        )
        assert page.tab.evaluate("document.body.dataset.jpThemeLight") == "true"
        page.run_all().use_theme("dark")
        assert page.tab.evaluate("document.body.dataset.jpThemeLight") == "false"
        assert page.errors() == []
