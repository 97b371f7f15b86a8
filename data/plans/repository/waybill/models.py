"""What the services hand around: parcels, their scans, customers."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Status(StrEnum):
    """Where a parcel is in its life; the names are those of the API."""

    CREATED = "created"
    IN_TRANSIT = "in_transit"
    DELIVERED = "delivered"
    RETURNED = "returned"


@dataclass(frozen=True)
class Scan:
    """One scan of a parcel by a carrier."""

    parcel_id: int
    status: Status
    place: str
    at: datetime


@dataclass(frozen=True)
class Parcel:
    """One parcel, as the table `parcels` has it."""

    id: int
    code: str
    carrier: str
    status: Status
    customer_id: int
    recipient_email: str
    created_at: datetime
    delivered_at: datetime | None = None


@dataclass(frozen=True)
class Customer:
    """A shop that hands parcels to us."""

    id: int
    name: str
    email: str
    language: str = "en"
