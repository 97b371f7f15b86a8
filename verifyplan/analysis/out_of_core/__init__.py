"""Analyses of datasets part by part: results that are added up, on one machine or on a cluster (rule E5)."""
