"""Leases of deliveries on PostgreSQL."""

import json
from collections.abc import Mapping
from typing import Any

from django.db import connection

# For many receivers in one statement.
_CLAIM = """
    UPDATE webhooks_delivery SET lease = %(lease)s, due_at = %(until)s WHERE id IN (
        SELECT found.id FROM json_each_text(%(slots)s) slot, LATERAL (
            SELECT id FROM webhooks_delivery WHERE status = 'pending' AND receiver = slot.key::bigint
            AND due_at <= %(now)s ORDER BY due_at LIMIT slot.value::int FOR UPDATE SKIP LOCKED
        ) found
    ) RETURNING id
"""


def lease_due(slots: Mapping[int, int], params: dict[str, Any]) -> list[int]:
    """Lease due deliveries and return their ids. `slots` is the maximum for each receiver; `params` are `lease`,
    `until` and `now`."""
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, params | {"slots": json.dumps(slots)})
        return [row[0] for row in cursor.fetchall()]
