"""Delete delivered parcels and their scans once the retention period is over; runs every night."""

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

from waybill.db import in_batches, transaction
from waybill.settings import load_settings

log = logging.getLogger(__name__)

DELETE = """
DELETE FROM parcels WHERE id IN (
  SELECT id FROM parcels WHERE status = 'delivered' AND delivered_at < %(before)s LIMIT %(size)s
)
"""


def purge_delivered(connection: Any, now: datetime, days: int) -> int:
    """Delete what was delivered more than `days` ago; scans go with their parcel. Return the count."""
    return in_batches(connection, DELETE, {"before": now - timedelta(days=days)})


def main() -> None:
    """Purge with the days of the settings."""
    with transaction() as connection:
        count = purge_delivered(connection, datetime.now(UTC), load_settings().retention_days)
    log.info("purged %d parcels", count)


if __name__ == "__main__":
    main()
