"""Leases of deliveries on SQLite."""

from collections.abc import Mapping
from typing import Any

from django.db import connection

_CLAIM = """
    UPDATE webhooks_delivery SET lease = %(lease)s, due_at = %(until)s WHERE id IN (
        SELECT id FROM webhooks_delivery WHERE status = 'pending' AND receiver = %(receiver)s AND due_at <= %(now)s
        ORDER BY due_at LIMIT %(most)s
    ) RETURNING id
"""


def lease_due(slots: Mapping[int, int], params: dict[str, Any]) -> list[int]:
    """Lease due deliveries and return their ids. `slots` is the maximum for each receiver; `params` are `lease`,
    `until` and `now`."""
    found = []
    with connection.cursor() as cursor:
        for receiver, most in slots.items():
            cursor.execute(_CLAIM, params | {"receiver": receiver, "most": most})
            found += [row[0] for row in cursor.fetchall()]
    return found
