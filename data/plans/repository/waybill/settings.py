"""Settings from the environment; the only place that reads it."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """What differs between environments, and what is secret."""

    database_url: str
    mail_url: str
    token_key: str
    retention_days: int = 180
    page_size: int = 50


def load_settings() -> Settings:
    """Read the environment; KeyError names the variable that is missing."""
    return Settings(
        database_url=os.environ["WAYBILL_DATABASE_URL"],
        mail_url=os.environ["WAYBILL_MAIL_URL"],
        token_key=os.environ["WAYBILL_TOKEN_KEY"],
        retention_days=int(os.environ.get("WAYBILL_RETENTION_DAYS", "180")),
        page_size=int(os.environ.get("WAYBILL_PAGE_SIZE", "50")),
    )
