"""Routes for customers: their record, and their parcels as CSV."""

import csv
import io
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Response

from waybill.auth import Caller, require_role
from waybill.db import get_connection
from waybill.services import parcels

router = APIRouter()
EXPORT_LIMIT = 10_000


def _allowed(caller: Caller, customer_id: int) -> None:
    if caller.role == "customer" and caller.id != customer_id:
        raise HTTPException(404, "no such customer")


@router.get("/customers/{customer_id}")
def show_customer(
    customer_id: int,
    caller: Caller = Depends(require_role("customer", "operator")),
    connection: Any = Depends(get_connection),
) -> dict:
    _allowed(caller, customer_id)
    customer = parcels.find_customer(connection, customer_id)
    if customer is None:
        raise HTTPException(404, "no such customer")
    return asdict(customer)


@router.get("/customers/{customer_id}/parcels.csv")
def export_parcels(
    customer_id: int,
    caller: Caller = Depends(require_role("customer", "operator")),
    connection: Any = Depends(get_connection),
) -> Response:
    _allowed(caller, customer_id)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["code", "carrier", "status", "created_at", "delivered_at"])
    for one in parcels.list_parcels(connection, customer_id, 1, EXPORT_LIMIT):
        writer.writerow([one.code, one.carrier, one.status, one.created_at, one.delivered_at or ""])
    return Response(out.getvalue(), media_type="text/csv")
