"""Scores of plans under any weights: applied, varied, drawn, fitted, saved (rule F4). Names load on first use."""

from verifyplan.lazy_names import load_lazily

load_lazily(__name__)
