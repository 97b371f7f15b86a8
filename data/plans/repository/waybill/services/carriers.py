"""What carriers say about a parcel, asked when an operator wants to know now."""

from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from waybill.http_client import get_json
from waybill.models import Parcel, Scan, Status

CARRIERS_FILE = Path(__file__).resolve().parents[2] / "config" / "carriers.yaml"


class UnknownStatus(Exception):
    """A carrier used a word that config/carriers.yaml does not have."""


@cache
def load_carriers() -> dict[str, Any]:
    """Every carrier with its base URL and its words for our statuses."""
    return yaml.safe_load(CARRIERS_FILE.read_text())


def normalise_status(carrier: str, raw: str) -> Status:
    """A carrier's word as one of our statuses; UnknownStatus if it has none."""
    try:
        return Status(load_carriers()[carrier]["statuses"][raw])
    except KeyError:
        raise UnknownStatus(f"{carrier}: {raw}") from None


def fetch_latest_scan(parcel: Parcel) -> Scan:
    """Ask the carrier of a parcel for its newest scan."""
    base = load_carriers()[parcel.carrier]["base_url"]
    answer = get_json(f"{base}/parcels/{parcel.code}")
    return Scan(
        parcel_id=parcel.id,
        status=normalise_status(parcel.carrier, answer["status"]),
        place=answer.get("place", ""),
        at=datetime.fromisoformat(answer["at"]),
    )
