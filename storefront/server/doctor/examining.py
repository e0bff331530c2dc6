"""All checks, run side by side, and their findings in order."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from django.db import DatabaseError, InterfaceError, connections

from storefront.server.doctor import (
    backups,
    clocks,
    databases,
    disks,
    hosts,
    mails,
    registries,
    replicas,
    versions,
    workers,
)
from storefront.server.doctor.findings import Finding, State
from storefront.server.doctor.running import run_all

# Seconds that all checks may take: more than each of them allows the network it looks at.
DEADLINE_SECONDS = 60.0


@dataclass(frozen=True)
class Check:
    name: str
    look: Callable[[], Iterable[Finding]]
    needs_database: bool = False


def examine(*, mail_to: str | None, seconds: float = DEADLINE_SECONDS) -> list[Finding]:
    """The findings of all checks. A test mail is sent to `mail_to`."""
    checks = [
        Check("versions", versions.look),
        Check("replicas", replicas.look, needs_database=True),
        Check("hosts", hosts.look, needs_database=True),
        Check("mail", partial(mails.look, mail_to=mail_to)),
        Check("worker", workers.look, needs_database=True),
        Check("registry", registries.look, needs_database=True),
        Check("backup", backups.look),
        Check("disk", disks.look),
        Check("clock", clocks.look, needs_database=True),
    ]
    return examine_checks(Check("database", databases.look), checks, seconds=seconds)


def examine_checks(database: Check, checks: list[Check], *, seconds: float) -> list[Finding]:
    """The findings of the database's check first. Without a database, checks that need it are named as not made."""
    found = _run([database], seconds=seconds)
    if any(finding.state == State.MISSING for finding in found):
        for check in checks:
            if check.needs_database:
                found.append(Finding(check.name, State.WARNING, "Not looked at, since the database comes first."))
        checks = [check for check in checks if not check.needs_database]
    return found + _run(checks, seconds=seconds)


def _run(checks: list[Check], *, seconds: float) -> list[Finding]:
    results = run_all([partial(_findings, check) for check in checks], seconds=seconds, at_once=len(checks))
    late = f"No answer within {seconds:.0f} s."
    return [
        finding
        for check, result in zip(checks, results, strict=True)
        for finding in (result if result is not None else [Finding(check.name, State.MISSING, late)])
    ]


def _findings(check: Check) -> list[Finding]:
    try:
        return list(check.look())
    except (DatabaseError, InterfaceError) as error:
        reason = " ".join(str(error).split())
        return [Finding(check.name, State.MISSING, f"The database cannot be used: {reason}")]
    except Exception as error:
        return [Finding(check.name, State.MISSING, f"The check broke ({type(error).__name__}: {error}).")]
    finally:
        connections.close_all()
