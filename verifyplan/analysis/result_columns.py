"""The columns of the tables that analyses return, with their meanings: what `documentation` shows of them (rule E4)."""

from __future__ import annotations

from verifyplan.columns import Column, Columns


def with_interval(name: str, meaning: str, of: str) -> Columns:
    """Return the columns of a figure with its 95 % interval and its n, which counts what `of` says."""
    return (
        Column(name, "number", meaning),
        Column(f"{name}_low", "number", f"low end of the 95 % interval of `{name}`"),
        Column(f"{name}_high", "number", f"high end of the 95 % interval of `{name}`"),
        Column(f"{name}_n", "whole", f"n of `{name}`: {of}"),
    )


RESULT_TABLES: dict[str, Columns] = {}
"""Each table by the name of the attribute or function that gives it."""
