from collections.abc import Iterator

from storefront.server import replica_check
from storefront.server.doctor.findings import Finding, State

CHECK = "replicas"
AWAY = "Requests go to the primary meanwhile. Look at the replica's log, and at pg_stat_replication on the primary."
FOREIGN = "Make it from this primary with pg_basebackup, or take its URL out of DATABASE_REPLICA_URLS."


def look() -> Iterator[Finding]:
    """Whether each replica answers, belongs to this primary, and follows it."""
    for name, problem, is_final in replica_check.look():
        if problem:
            state = State.MISSING if is_final else State.WARNING
            yield Finding(CHECK, state, f"{name} is not read from: {problem}.", FOREIGN if is_final else AWAY)
        else:
            yield Finding(CHECK, State.OK, f"{name} follows the primary.")
