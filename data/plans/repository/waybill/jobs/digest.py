"""The weekly digest: each customer gets a mail with the week's deliveries; runs on Mondays."""

from datetime import UTC, datetime, timedelta
from typing import Any

from waybill.db import transaction
from waybill.flags import is_enabled
from waybill.services.notifications import send_mail

WEEK = """
SELECT c.id, c.email, count(*) AS delivered
FROM customers c JOIN parcels p ON p.customer_id = c.id
WHERE p.delivered_at >= %(since)s GROUP BY c.id, c.email ORDER BY c.id
"""


def build_digest(delivered: int) -> str:
    """The text of the mail."""
    return f"Last week {delivered} of your parcels were delivered."


def send_digests(connection: Any, now: datetime) -> int:
    """Mail every customer with deliveries in the last seven days; return how many."""
    if not is_enabled("weekly_digest"):
        return 0
    rows = connection.execute(WEEK, {"since": now - timedelta(days=7)}).fetchall()
    for row in rows:
        key = f"digest-{row['id']}-{now:%G-%V}"
        send_mail(row["email"], "Your week", build_digest(row["delivered"]), key=key)
    return len(rows)


if __name__ == "__main__":
    with transaction() as opened:
        send_digests(opened, datetime.now(UTC))
