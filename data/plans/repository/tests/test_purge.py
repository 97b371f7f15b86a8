"""The nightly purge: what it deletes, and that it stops."""

from datetime import UTC, datetime

from waybill.jobs.purge import purge_delivered

NOW = datetime(2025, 6, 1, tzinfo=UTC)


def test_it_deletes_in_batches_until_nothing_is_left(connection):
    connection.counts = [1000, 12, 0]
    assert purge_delivered(connection, NOW, 180) == 1012
    assert len(connection.executed) == 3


def test_it_keeps_what_is_within_the_period(connection):
    purge_delivered(connection, NOW, 180)
    statement, parameters = connection.executed[0]
    assert "status = 'delivered'" in statement
    assert parameters["before"] == datetime(2024, 12, 3, tzinfo=UTC)
