"""Backends that answer typed requests with typed replies."""

from verifyplan.lazy_names import load_lazily

load_lazily(__name__)
