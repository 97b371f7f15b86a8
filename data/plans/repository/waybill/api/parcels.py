"""Routes for parcels, their scans, and the public tracking page."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Depends, HTTPException
from pydantic import BaseModel

from waybill.auth import Caller, require_role
from waybill.db import get_connection
from waybill.flags import is_enabled
from waybill.models import Parcel, Scan, Status
from waybill.services import carriers, notifications, parcels
from waybill.settings import load_settings

router = APIRouter()


class NewParcel(BaseModel):
    """What a customer sends to hand over a parcel."""

    code: str
    carrier: str
    recipient_email: str


class NewScan(BaseModel):
    """What the poller or an operator sends."""

    status: Status
    place: str = ""
    at: datetime


def _found(connection: Any, code: str, caller: Caller | None = None) -> Parcel:
    parcel = parcels.find_parcel(connection, code)
    mine = caller is None or caller.role != "customer" or (parcel and parcel.customer_id == caller.id)
    if parcel is None or not mine:
        raise HTTPException(404, "no such parcel")
    return parcel


@router.get("/parcels")
def list_parcels(
    page: int = 1,
    status: Status | None = None,
    caller: Caller = Depends(require_role("customer", "operator")),
    connection: Any = Depends(get_connection),
) -> list[dict]:
    size = load_settings().page_size
    if caller.role == "operator" and status is not None:
        return [asdict(one) for one in parcels.list_by_status(connection, status, page, size)]
    return [asdict(one) for one in parcels.list_parcels(connection, caller.id, page, size)]


@router.post("/parcels", status_code=201)
def create_parcel(
    new: NewParcel,
    caller: Caller = Depends(require_role("customer")),
    connection: Any = Depends(get_connection),
) -> dict:
    return asdict(parcels.create_parcel(connection, new.code, new.carrier, caller.id, new.recipient_email))


@router.get("/parcels/{code}")
def show_parcel(
    code: str,
    caller: Caller = Depends(require_role("customer", "operator")),
    connection: Any = Depends(get_connection),
) -> dict:
    parcel = _found(connection, code, caller)
    return {**asdict(parcel), "scans": [asdict(scan) for scan in parcels.timeline(connection, parcel.id)]}


@router.post("/parcels/{code}/scans", status_code=201)
def add_scan(
    code: str,
    new: NewScan,
    caller: Caller = Depends(require_role("operator")),
    connection: Any = Depends(get_connection),
) -> dict:
    parcel = _found(connection, code, caller)
    scan = Scan(parcel.id, new.status, new.place, new.at)
    parcels.record_scan(connection, scan)
    if scan.status is Status.DELIVERED and parcel.status != Status.DELIVERED:
        notifications.notify_delivered(parcel)
    return asdict(scan)


@router.post("/parcels/{code}/refresh")
def refresh_parcel(
    code: str,
    caller: Caller = Depends(require_role("operator")),
    connection: Any = Depends(get_connection),
) -> dict:
    if not is_enabled("carrier_refresh"):
        raise HTTPException(404, "switched off")
    scan = carriers.fetch_latest_scan(_found(connection, code, caller))
    parcels.record_scan(connection, scan)
    return asdict(scan)


@router.get("/track/{code}")
def track(code: str, connection: Any = Depends(get_connection)) -> dict:
    parcel = _found(connection, code)
    scans = [{"status": one.status, "at": one.at} for one in parcels.timeline(connection, parcel.id)]
    return {"code": parcel.code, "status": parcel.status, "scans": scans}
