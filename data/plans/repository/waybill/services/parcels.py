"""Parcels and their scans in the database."""

from typing import Any

from waybill.models import Customer, Parcel, Scan, Status

# Named one by one: a column that a newer release has added must not reach an older one.
COLUMNS = "id, code, carrier, status, customer_id, recipient_email, created_at, delivered_at"


def find_parcel(connection: Any, code: str) -> Parcel | None:
    """The parcel with a code."""
    row = connection.execute(f"SELECT {COLUMNS} FROM parcels WHERE code = %s", (code,)).fetchone()
    return Parcel(**row) if row else None


def list_parcels(connection: Any, customer_id: int, page: int, page_size: int) -> list[Parcel]:
    """A page of a customer's parcels, newest first."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM parcels WHERE customer_id = %s"
        " ORDER BY created_at DESC, id DESC LIMIT %s OFFSET %s",
        (customer_id, page_size, (page - 1) * page_size),
    ).fetchall()
    return [Parcel(**row) for row in rows]


def list_by_status(connection: Any, status: Status, page: int, page_size: int) -> list[Parcel]:
    """A page of all parcels with a status, oldest first; for operators and the poller."""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM parcels WHERE status = %s ORDER BY created_at, id LIMIT %s OFFSET %s",
        (status, page_size, (page - 1) * page_size),
    ).fetchall()
    return [Parcel(**row) for row in rows]


def create_parcel(connection: Any, code: str, carrier: str, customer_id: int, recipient_email: str) -> Parcel:
    """A new parcel, in status created."""
    row = connection.execute(
        "INSERT INTO parcels (code, carrier, customer_id, recipient_email)"
        f" VALUES (%s, %s, %s, %s) RETURNING {COLUMNS}",
        (code, carrier, customer_id, recipient_email),
    ).fetchone()
    return Parcel(**row)


def record_scan(connection: Any, scan: Scan) -> None:
    """Store a scan and move the parcel to its status; a delivery sets delivered_at."""
    connection.execute(
        "INSERT INTO scans (parcel_id, status, place, at) VALUES (%s, %s, %s, %s)",
        (scan.parcel_id, scan.status, scan.place, scan.at),
    )
    delivered_at = scan.at if scan.status is Status.DELIVERED else None
    connection.execute(
        "UPDATE parcels SET status = %s, delivered_at = %s WHERE id = %s",
        (scan.status, delivered_at, scan.parcel_id),
    )


def timeline(connection: Any, parcel_id: int) -> list[Scan]:
    """The scans of a parcel, oldest first."""
    rows = connection.execute(
        "SELECT parcel_id, status, place, at FROM scans WHERE parcel_id = %s ORDER BY at", (parcel_id,)
    ).fetchall()
    return [Scan(**row) for row in rows]


def find_customer(connection: Any, customer_id: int) -> Customer | None:
    """The customer with an id."""
    row = connection.execute(
        "SELECT id, name, email, language FROM customers WHERE id = %s", (customer_id,)
    ).fetchone()
    return Customer(**row) if row else None
