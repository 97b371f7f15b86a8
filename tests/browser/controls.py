"""The controls in a notebook's outputs, found by the names that a screen reader says, moved by keyboard and mouse."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page

# where a slider stands: its thumb's middle, the length of its track and its numbers
SLIDER = """slider => {
  const native = slider.tagName === "INPUT", box = slider.getBoundingClientRect();
  const number = (own, aria) => Number(native ? slider[own] : slider.getAttribute(aria));
  const min = number("min", "aria-valuemin") || 0, value = number("value", "aria-valuenow");
  const max = native ? Number(slider.max || 100) : number("max", "aria-valuemax");
  const step = native ? Number(slider.step) || 0 : 0;
  let track = slider;
  while (!native && track.getBoundingClientRect().width < 3 * box.width) track = track.parentElement;
  const room = track.getBoundingClientRect(), length = native ? room.width - room.height : room.width;
  const x = native ? room.x + room.height / 2 + length * (value - min) / (max - min) : box.x + box.width / 2;
  return { x, y: box.y + box.height / 2, length, min, max, value, step };
}"""


class Controls:
    """Finding controls (each gives a Playwright locator) and acting on them; every act waits until all is at rest."""

    tab: Page
    outputs: Locator

    def settle(self) -> None:
        raise NotImplementedError

    def control(self, role: str, name: str) -> Locator:
        """Any control by its ARIA role and its whole accessible name."""
        return self.outputs.get_by_role(role, name=name, exact=True)  # type: ignore[arg-type]  # roles are many

    def slider(self, name: str) -> Locator:
        return self.control("slider", name)

    def button(self, name: str) -> Locator:
        return self.control("button", name)

    def select(self, name: str) -> Locator:
        return self.control("combobox", name).or_(self.control("listbox", name))

    def checkbox(self, name: str) -> Locator:
        return self.control("checkbox", name)

    def textbox(self, name: str) -> Locator:
        """A field to write in: of text, of several lines, for a search, or for a number."""
        texts = self.control("textbox", name).or_(self.control("searchbox", name))
        return texts.or_(self.control("spinbutton", name))

    def press(self, control: Locator, key: str, times: int = 1) -> None:
        """Press a key on a control ("ArrowRight", "Home", "Space"), which gets the focus first."""
        control.focus()
        for _ in range(times):
            control.press(key)
        self.settle()

    def click(self, control: Locator) -> None:
        control.click()
        self.settle()

    def choose(self, control: Locator, *labels: str) -> None:
        """Choose options of a select by what they say."""
        control.select_option(label=list(labels))
        self.settle()

    def write(self, control: Locator, text: str, then: str = "Tab") -> None:
        """Replace what a field says, and leave it by a key."""
        control.fill(text)
        control.press(then)
        self.settle()

    def value(self, slider: Locator) -> float:
        """Where a slider stands, as it tells a screen reader."""
        return float(slider.evaluate(SLIDER)["value"])

    def drag(self, slider: Locator, value: float) -> None:
        """Drag a slider's thumb by the mouse until it stands at a value, or as near as its steps and pixels allow."""
        slider.scroll_into_view_if_needed()
        now: dict[str, Any] = slider.evaluate(SLIDER)
        mouse, x, per_pixel = self.tab.mouse, now["x"], (now["max"] - now["min"]) / now["length"]
        mouse.move(x, now["y"])
        mouse.down()
        for _ in range(8):  # a thumb's width is the style's, so the first move may miss a little
            gap = value - self.value(slider)
            if abs(gap) <= max(now["step"], per_pixel) / 2:
                break
            x += gap / per_pixel
            mouse.move(x, now["y"], steps=5)
        mouse.up()
        self.settle()
        if abs(value - self.value(slider)) > max(now["step"] / 2, per_pixel):
            raise AssertionError(f"dragged to {value}, the slider stands at {self.value(slider)}")
