"""Notebook widgets: controls over tables, analyses, charts and runs."""

from verifyplan.lazy_names import load_lazily

load_lazily(__name__)
