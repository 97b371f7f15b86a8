"""Place names beside the points of a plane so that none lies over another, or over a point."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.charts.theme import SIZE

Floats = np.ndarray[Any, np.dtype[np.float64]]

LINE_PX = 15
"""Pixels of a line of text from top to bottom."""
DOT_PX = 6
"""Pixels from a point's centre that no name may cover."""
WHISKER_PX = 4
"""Pixels from the line of an interval that a name keeps free, if there is room."""
_WIDTHS_EM = {**dict.fromkeys("iljtfrI.,:;'|!/()[] -", 0.34), **dict.fromkeys("mwMW@%", 0.92)}
_CAPITAL_EM, _OTHER_EM = 0.74, 0.56
"""The widths of characters in Arial, of those of the same width in groups; the widest of a group counts."""
DISTANCES_PX = (0, 14, 28, 46, 70)
"""How far names move away from their points, the nearest free place first."""


@dataclass(frozen=True)
class Plane:
    """The area of a plot, in pixels, and the values at its edges."""

    width: float
    height: float
    x: tuple[float, float]
    """The values at the left and the right edge."""
    y: tuple[float, float]
    """The values at the bottom and the top."""
    log: bool = False
    """Whether the axis across is logarithmic."""

    def pixels(self, points: Floats) -> Floats:
        """Return points, of shape (n, 2), in pixels from the left and from the top."""
        x, (left, right) = points[:, 0], self.x
        if self.log:
            x, left, right = np.log(x), np.log(left), np.log(right)
        across = (x - left) / (right - left) * self.width
        down = (self.y[1] - points[:, 1]) / (self.y[1] - self.y[0]) * self.height
        return np.column_stack([across, down])

    def values(self, pixels: Floats) -> Floats:
        """Return the values at some pixels, of shape (n, 2): the inverse of `pixels`."""
        left, right = np.log(self.x) if self.log else np.asarray(self.x)
        x = left + pixels[:, 0] / self.width * (right - left)
        y = self.y[1] - pixels[:, 1] / self.height * (self.y[1] - self.y[0])
        return np.column_stack([np.exp(x) if self.log else x, y])


def label_points(plane: Plane, points: pd.DataFrame, rows: Iterable[int], texts: Sequence[str]) -> pd.DataFrame:
    """Return where to write the texts of some points, the first ones first: `row, text, x, y, far` and a line's ends.

    `points` has `x` and `y`, and where there are intervals `x_low, x_high, y_low, y_high`, which a text covers only if
    it has no other place near its point; it never covers a point or another text. A text without a place is left out.
    `x` and `y` are the text's middle, in values of the plane; where it is `far`, a line may lead from the point
    (`from_x, from_y`) to the text (`to_x, to_y`).

    >>> plane, points = Plane(100, 100, (0, 1), (0, 1)), pd.DataFrame({"x": [0.5, 0.5], "y": [0.5, 0.5]})
    >>> label_points(plane, points, [0, 1], ["a", "b"])["text"].tolist()
    ['a', 'b']
    """
    pixels = plane.pixels(points[["x", "y"]].to_numpy(dtype=float))
    taken = np.column_stack([pixels - DOT_PX, pixels + DOT_PX])
    lines, placed = _whiskers(plane, points), []
    for row, text in zip(rows, texts, strict=True):
        size = np.array([text_px(text), LINE_PX])
        places = [(away, np.concatenate([at - size / 2, at + size / 2])) for away, at in _places(pixels[row], size)]
        free = [(away, box) for away, box in places if _inside(box, plane) and not _overlaps(box, taken)]
        chosen = next((place for place in free if not _overlaps(place[1], lines)), free[0] if free else None)
        if chosen is not None:
            away, box = chosen
            taken = np.vstack([taken, box])
            placed.append((row, text, away > 0, *box, *pixels[row], *np.clip(pixels[row], box[:2], box[2:])))
    names = ["row", "text", "far", "left", "top", "right", "bottom", "from_x", "from_y", "to_x", "to_y"]
    table = pd.DataFrame(placed, columns=names).astype({"row": "int64", "far": "bool"})
    table = table.assign(x=(table["left"] + table["right"]) / 2, y=(table["top"] + table["bottom"]) / 2)
    for ends in (["x", "y"], ["from_x", "from_y"], ["to_x", "to_y"]):
        table[ends] = plane.values(table[ends].to_numpy(dtype=float))
    return table[["row", "text", "far", "x", "y", "from_x", "from_y", "to_x", "to_y"]]


def text_px(text: str) -> float:
    """Return about how many pixels a name takes across.

    >>> text_px("MAMMA") > 1.5 * text_px("maria") > 1.5 * text_px("lilli")
    True
    """
    widths = (_WIDTHS_EM.get(each, _CAPITAL_EM if each.isupper() else _OTHER_EM) for each in text)
    return SIZE * sum(widths)


def _whiskers(plane: Plane, points: pd.DataFrame) -> Floats:
    """Return the intervals of the points as boxes."""
    boxes = [np.empty((0, 4))]
    for side in ("x", "y"):
        if f"{side}_low" in points:
            ends = [points.assign(**{side: points[f"{side}_{end}"]})[["x", "y"]] for end in ("low", "high")]
            pixels = [plane.pixels(each.to_numpy(dtype=float)) for each in ends]
            boxes.append(np.column_stack([np.minimum(*pixels) - WHISKER_PX, np.maximum(*pixels) + WHISKER_PX]))
    return np.concatenate(boxes)


def _inside(box: Floats, plane: Plane) -> bool:
    return bool(box[0] >= 0 and box[1] >= 0 and box[2] <= plane.width and box[3] <= plane.height)


def _places(point: Floats, size: Floats) -> Iterator[tuple[int, Floats]]:
    """Yield the middles of places for a text of a size around a point, and how far away they are; the nearest first."""
    half = size / 2
    for away in DISTANCES_PX:
        reach = DOT_PX + 2 + away
        for right, down in ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1)):
            side = reach if not (right and down) else reach * 0.8
            yield away, point + np.array([right * (side + half[0]), down * (side + half[1])])


def _overlaps(box: Floats, others: Floats) -> bool:
    apart = (others[:, 0] >= box[2]) | (others[:, 2] <= box[0]) | (others[:, 1] >= box[3]) | (others[:, 3] <= box[1])
    return bool((~apart).any())
