"""Texts of a saved table that are read, or made from codes, when somebody first looks at them (rule E4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa

from verifyplan.frames.text_codes import by_appearance


class TextFile:
    """The texts of a column that are read, or made, once."""

    def __init__(self, read: Callable[[], pa.ChunkedArray], length: int) -> None:
        self.read, self.length = read, length

    @cached_property
    def texts(self) -> pa.ChunkedArray:
        """The texts; the error of `read` if they can no longer be read."""
        return self.read()

    def chosen(self, rows: pa.Array) -> TextFile:
        """Return the texts of some rows, as late as these are; a missing row has none."""
        return TextFile(lambda: self.texts.take(rows), len(rows))


class CodedTexts(TextFile):
    """Names that are codes until somebody looks at them; analyses that count by codes never do."""

    def __init__(self, stored: Any, *, in_order: bool = False) -> None:
        """Take names as a dictionary array; with `in_order` it has those that occur, in order of appearance."""
        super().__init__(self._names, len(stored))
        self._stored, self._in_order = stored, in_order

    def _names(self) -> pa.ChunkedArray:
        return pa.chunked_array([self._stored.dictionary.cast(pa.large_string()).take(self._stored.indices)])

    @cached_property
    def coded(self) -> Any:
        """The names as a dictionary array: those that occur, in order of appearance; None where a name is missing."""
        if self._stored.null_count or self._stored.dictionary.null_count:
            return None
        if self._in_order:
            return self._stored
        names = self._stored.dictionary
        codes, order = by_appearance(np.asarray(self._stored.indices), len(names))
        if len(order) < len(names) or (order[1:] < order[:-1]).any():
            names = names.take(pa.array(order))
        return pa.DictionaryArray.from_arrays(pa.array(codes), names.cast(pa.large_string()))

    def chosen(self, rows: pa.Array) -> TextFile:
        """Return the names of some rows, as codes."""
        return CodedTexts(self._stored.take(rows))


class LateTexts(pd.arrays.ArrowStringArray):
    """A column of texts, as pandas has them, whose values are read on first use.

    Its length, its type, copies of it and choices of rows need no values; whatever looks at values reads them.

    >>> column = LateTexts.of(TextFile(lambda: pa.chunked_array([["a", None]], pa.large_string()), 2))
    >>> len(column), str(column.dtype), column.is_read
    (2, 'str', False)
    >>> pd.Series(column).isna().tolist(), column.is_read
    ([False, True], True)
    """

    _file: TextFile | None = None

    @classmethod
    def of(cls, file: TextFile) -> Self:
        """Return the column of a file that is not read yet."""
        made: Any = cls
        column: Self = made._from_sequence([], dtype=pd.StringDtype("pyarrow", na_value=np.nan))
        column._file = file
        return column

    @property
    def is_read(self) -> bool:
        """Whether the values are in memory."""
        return self._file is None or "texts" in self._file.__dict__

    @property
    def coded(self) -> Any:
        """The names as a dictionary array; None for texts that are not codes."""
        return self._file.coded if isinstance(self._file, CodedTexts) else None

    @property
    def _pa_array(self) -> Any:
        """The values, by the name under which pandas has them."""
        return self._values if self._file is None else self._file.texts

    @_pa_array.setter
    def _pa_array(self, values: Any) -> None:
        self._file, self._values = None, values

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._values) if self._file is None else self._file.length

    def copy(self) -> Self:
        """Return a column that changes by itself; what was not read is still not."""
        return super().copy() if self._file is None else type(self).of(self._file)

    def view(self, dtype: Any = None) -> Any:
        """Return the same column, or its values as another type."""
        return super().view(dtype) if self._file is None or dtype is not None else type(self).of(self._file)

    def take(self, indices: Any, *, allow_fill: bool = False, fill_value: Any = None) -> Self:
        """Return the rows at some positions, as late as these are."""
        file, rows = self._file, np.asarray(indices)
        inside = rows.dtype.kind == "i" and rows.min(initial=0) >= -int(allow_fill) and rows.max(initial=-1) < len(self)
        if file is None or not inside or (allow_fill and not pd.isna(fill_value)):
            return super().take(indices, allow_fill=allow_fill, fill_value=fill_value)
        return type(self).of(file.chosen(pa.array(rows, mask=rows < 0)))

    def __getitem__(self, item: Any) -> Any:
        """Return one text, or the texts of a slice or a mask; those of a slice as late as these are."""
        if self._file is None or not isinstance(item, slice):
            return super().__getitem__(item)
        return self.take(np.arange(*item.indices(len(self))))

    def __reduce__(self) -> Any:
        """Give the values to another process."""
        return pd.array, (self._pa_array, self.dtype)
