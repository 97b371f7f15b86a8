"""Loads on first use: what words requests is not needed for help."""

from .estimating import estimate as estimate
