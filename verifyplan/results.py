"""The types of what functions return, for annotations and `isinstance`; each loads on first use."""

from verifyplan.lazy_names import load_lazily

load_lazily(__name__)
