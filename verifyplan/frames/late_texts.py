"""Long texts of a saved table that are read when somebody first looks at them (rule E4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa


class TextFile:
    """The texts of a column in a file of their own, read once."""

    def __init__(self, read: Callable[[], pa.ChunkedArray], length: int) -> None:
        self.read, self.length = read, length

    @cached_property
    def texts(self) -> pa.ChunkedArray:
        """The texts; the error of `read` if they can no longer be read."""
        return self.read()


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
        return type(self).of(TextFile(lambda: file.texts.take(pa.array(rows, mask=rows < 0)), len(rows)))

    def __getitem__(self, item: Any) -> Any:
        """Return one text, or the texts of a slice or a mask; those of a slice as late as these are."""
        if self._file is None or not isinstance(item, slice):
            return super().__getitem__(item)
        return self.take(np.arange(len(self))[item])

    def __reduce__(self) -> Any:
        """Give the values to another process."""
        return pd.array, (self._pa_array, self.dtype)
