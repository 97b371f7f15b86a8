"""The nine documents that agents hand to each other: read, checked, written, and shown as tables."""

from verifyplan.lazy_names import load_lazily

load_lazily(__name__)
