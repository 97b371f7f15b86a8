"""Scheduled jobs, each run as a module: python -m waybill.jobs.purge."""
