"""Reads from replicas of the PostgreSQL server (DATABASE_REPLICA_URLS).

What must never happen: a caller reads less than it wrote or was notified of; a request fails or waits because a
replica is away; a write, or what a write is decided by, goes to a replica.

Everything is compared by positions in the primary's write-ahead log, as whole numbers of bytes. A read names the
position that it needs, and runs on a replica whose own session has replayed up to there; on the primary otherwise.
docs/decisions/0015-replicas.md has the reasons.
"""
