"""The routes for parcels: who may see what, and what they get."""

from datetime import UTC, datetime

import pytest

PARCEL = {
    "id": 7,
    "code": "WB-7",
    "carrier": "northpost",
    "status": "in_transit",
    "customer_id": 1,
    "recipient_email": "a@example.org",
    "created_at": datetime(2025, 3, 1, tzinfo=UTC),
    "delivered_at": None,
}


def test_listing_needs_a_token(api):
    assert api.get("/api/v1/parcels").status_code == 401


def test_a_customer_lists_their_parcels(api, connection, as_role):
    connection.rows = [PARCEL]
    answer = api.get("/api/v1/parcels", headers=as_role("customer"))
    assert [one["code"] for one in answer.json()] == ["WB-7"]


@pytest.mark.parametrize(("caller_id", "status"), [(1, 200), (2, 404)])
def test_a_customer_sees_only_their_own(api, connection, as_role, caller_id, status):
    connection.rows = [PARCEL]
    answer = api.get("/api/v1/parcels/WB-7", headers=as_role("customer", caller_id))
    assert answer.status_code == status


def test_tracking_is_public_and_has_no_address(api, connection):
    connection.rows = [PARCEL]
    answer = api.get("/api/v1/track/WB-7")
    assert answer.status_code == 200
    assert "recipient_email" not in answer.json()


def test_refresh_is_switched_off(api, as_role):
    assert api.post("/api/v1/parcels/WB-7/refresh", headers=as_role("operator")).status_code == 404
