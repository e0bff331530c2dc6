"""Reads how much a stretch of work wrote to PostgreSQL's write-ahead log for one database.

The log belongs to the whole server. The records of the database name it in their block reference; those without one,
such as a commit, belong to a transaction that has such records. A page is written whole at its first change after a
checkpoint, whatever the work: these images are left out.
"""

from dataclasses import dataclass
from typing import Any

EXTENSION = "CREATE EXTENSION IF NOT EXISTS pg_walinspect"
# Keeps the log's files until the session ends, whatever checkpoints come meanwhile.
HOLD = "SELECT pg_create_physical_replication_slot('storefront_bench_' || pg_backend_pid(), true, true)"
# `block_ref` is such as "blkref #0: rel 1663/16384/2619 fork main blk 4".
RECORDS = """
WITH records AS (
    SELECT xid::text AS xid, resource_manager || ' ' || record_type AS kind, record_length - fpi_length AS bytes,
           substring(block_ref FROM 'rel \\d+/(\\d+)/')::oid AS database,
           substring(block_ref FROM 'rel \\d+/\\d+/(\\d+)')::oid AS node
    FROM pg_get_wal_records_info(%s, %s)
), here AS (SELECT oid FROM pg_database WHERE datname = current_database())
SELECT COALESCE(c.relname, ''), COALESCE(c.relkind::text, ''), records.kind, count(*), sum(records.bytes)
FROM records LEFT JOIN pg_class c ON c.relfilenode = records.node AND records.database = (SELECT oid FROM here)
WHERE records.database = (SELECT oid FROM here) OR (records.database IS NULL AND records.xid <> '0' AND records.xid IN (
    SELECT own.xid FROM records own WHERE own.database = (SELECT oid FROM here)
))
GROUP BY 1, 2, 3
"""


@dataclass(frozen=True)
class Written:
    """Records of one kind, such as "Heap LOCK", for one table or index; the name is empty for commits and the like."""

    relation: str
    is_index: bool
    kind: str
    records: int
    bytes: int


def position(cursor: Any) -> str:
    """Where the log is now. Everything before it is on the disk."""
    # A transaction of its own that is flushed, so that the log can be read up to here.
    cursor.execute("SELECT pg_logical_emit_message(true, 'storefront', '')")
    cursor.execute("SELECT pg_current_wal_flush_lsn()::text")
    return str(cursor.fetchone()[0])


def written(cursor: Any, begin: str, end: str) -> list[Written]:
    cursor.execute(RECORDS, [begin, end])
    return [
        Written(name, kind == "i", record, count, int(size)) for name, kind, record, count, size in cursor.fetchall()
    ]
