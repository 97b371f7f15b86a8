"""Connections to PostgreSQL, and statements that work through a table in batches."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.rows import dict_row

from waybill.settings import load_settings

BATCH_SIZE = 1000


@contextmanager
def transaction() -> Iterator[psycopg.Connection]:
    """One connection, committed when the block ends well and rolled back when it raises."""
    url = load_settings().database_url
    with psycopg.connect(url, connect_timeout=3, row_factory=dict_row) as connection:
        yield connection


def get_connection() -> Iterator[psycopg.Connection]:
    """`transaction` as a FastAPI dependency."""
    with transaction() as connection:
        yield connection


def in_batches(connection: Any, statement: str, parameters: dict[str, Any], size: int = BATCH_SIZE) -> int:
    """Repeat an UPDATE or DELETE limited by %(size)s until it changes nothing; return the rows changed."""
    total = 0
    while True:
        changed = connection.execute(statement, {**parameters, "size": size}).rowcount
        connection.commit()
        if changed == 0:
            return total
        total += changed
