"""The decisions, as pure functions of protocol objects: one rule set a file, each loaded on first use."""

from verifyplan.lazy_names import load_lazily

load_lazily(__name__)
