"""What carriers say: their words, and retries when they do not answer."""

from datetime import UTC, datetime

import httpx
import pytest

from waybill.http_client import UpstreamError
from waybill.models import Parcel, Status
from waybill.services.carriers import UnknownStatus, fetch_latest_scan, normalise_status

MARCH = datetime(2025, 3, 1, tzinfo=UTC)
PARCEL = Parcel(7, "WB-7", "swiftvan", Status.IN_TRANSIT, 1, "a@example.org", MARCH)


@pytest.mark.parametrize(
    ("carrier", "raw", "status"),
    [
        ("northpost", "HELD_AT_DEPOT", Status.IN_TRANSIT),
        ("northpost", "HANDED_OVER", Status.DELIVERED),
        ("swiftvan", "back", Status.RETURNED),
    ],
)
def test_words_of_carriers(carrier, raw, status):
    assert normalise_status(carrier, raw) is status


def test_an_unknown_word_is_an_error():
    with pytest.raises(UnknownStatus, match="swiftvan: lost"):
        normalise_status("swiftvan", "lost")


def test_a_failed_answer_is_asked_again(upstream):
    good = {"status": "done", "place": "Ghent", "at": "2025-03-02T10:00:00+00:00"}
    upstream += [httpx.Response(503), httpx.Response(200, json=good)]
    assert fetch_latest_scan(PARCEL).status is Status.DELIVERED


def test_three_failures_are_an_error(upstream):
    upstream += [httpx.Response(503)] * 3
    with pytest.raises(UpstreamError, match="status 503"):
        fetch_latest_scan(PARCEL)
