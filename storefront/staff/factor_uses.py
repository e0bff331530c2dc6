"""Uses up second factors in a pod that reads them from pod 0, whose rows it cannot write.

A code that was used in pod 0 is used in all pods as soon as its row arrives. One that was used here can be used once
more in each other pod, within the minute and a half for which it is valid: the price of signing in while pod 0 is away.
"""

from django.db import connection

_USE = """
    INSERT INTO shops_factoruse (kind, factor_id, used) VALUES (%s, %s, %s)
    ON CONFLICT (kind, factor_id) DO UPDATE SET used = excluded.used
    WHERE shops_factoruse.used < excluded.used OR (shops_factoruse.used = 0 AND excluded.used = 0)
"""


def use_here(kind: str, factor_id: int, used: int) -> bool:
    """Store the time step of an `app`, or the counter of a `passkey`, of which many always send 0. Returns False if a
    later one, or the same, was stored before: of two at once, one gets True."""
    with connection.cursor() as cursor:
        cursor.execute(_USE, [kind, factor_id, used])
        return bool(cursor.rowcount)
