"""Makes the ids of a PostgreSQL database those of its pod.

Each sequence of ids gets the pod's range as soon as its table is created (`server/postgresql/base.py`), so that no row
gets an id of another pod. Sequences of 32 bits stay as they are: they count what is each database's own, such as
Django's permissions and the sizes of thumbnails, which no shop takes along.
"""

from typing import Any

from storefront.pods.ids import first_id, last_id

# The sequence whose rows Django writes with each migration: they are each database's own, too.
_OF_MIGRATIONS = "django_migrations_id_seq"
_SEQUENCES = """
    SELECT format('%%I.%%I', schemaname, sequencename), start_value, last_value
    FROM pg_sequences WHERE schemaname = current_schema() AND data_type = 'bigint'::regtype
    AND sequencename <> %s
"""


def used_sequences(cursor: Any) -> list[str]:
    """Names of sequences that have given ids to rows."""
    cursor.execute(_SEQUENCES, [_OF_MIGRATIONS])
    return [name for name, _, last in cursor.fetchall() if last is not None]


def begin_ids(cursor: Any, pod: int) -> list[str]:
    """Let the unused sequences begin at the pod's first id. Returns the names of used ones that are another pod's and
    stay as they are. Changes nothing when it runs again, and nothing in a database that has always been pod 0."""
    cursor.execute(_SEQUENCES, [_OF_MIGRATIONS])
    first, foreign = first_id(pod), []
    for name, start, last in cursor.fetchall():
        if start == first:
            continue
        if last is not None:
            foreign.append(name)
        else:
            # START, too: TRUNCATE ... RESTART IDENTITY goes back to it.
            cursor.execute(f"ALTER SEQUENCE {name} MINVALUE {first} MAXVALUE {last_id(pod)} START {first} RESTART")
    return foreign
