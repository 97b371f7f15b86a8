"""Dry runs, whose requests are worded and not sent, counted in calls, tokens and dollars."""

from verifyplan.lazy_names import load_lazily

load_lazily(__name__)
