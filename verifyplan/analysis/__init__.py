"""Analyses of recorded runs, one method a file; no analysis calls an agent. `__init__.pyi` lists the names."""

from verifyplan.lazy_names import load_lazily

load_lazily(__name__)
