"""Voting rules under a person's hands, and what recorded votes come to under them."""

from verifyplan.widgets.rule_studio.rule_studio import RuleStudio

__all__ = ["RuleStudio"]
