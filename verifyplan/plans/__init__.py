"""Free-form plans: read into sections, steps and references, and sized."""

from verifyplan.lazy_names import load_lazily

load_lazily(__name__)
