import shutil
import subprocess
from collections.abc import Iterator

from django.db import connection

from storefront.kit import clock
from storefront.kit.dialect import IS_POSTGRESQL
from storefront.server.doctor.findings import Finding, State

CHECK = "clock"
# Seconds by which clocks may differ. Prices begin and leases end by them; codes of authenticator apps last for 30.
MAX_SECONDS, MAX_TOLERABLE_SECONDS = 2.0, 20.0
SYNCHRONISE = "Let systemd-timesyncd, or chrony, set the clocks of all machines."


def look() -> Iterator[Finding]:
    """Whether this machine's clock is synchronised, as far as systemd knows, and agrees with the database's."""
    if is_synchronised() is False:
        yield Finding(CHECK, State.WARNING, "This machine's clock is not synchronised.", SYNCHRONISE)
    if not IS_POSTGRESQL:
        yield Finding(CHECK, State.OK, "The database uses this machine's clock.")
        return
    with connection.cursor() as cursor:
        before = clock.now()
        cursor.execute("SELECT clock_timestamp()")
        (there,) = cursor.fetchone()
        after = clock.now()
    # The answer was made at some moment between the two.
    off = max((there - after).total_seconds(), (before - there).total_seconds(), 0.0)
    yield finding_of("The database's clock", off)


def finding_of(whose: str, off: float) -> Finding:
    """`off` is the difference to this machine's clock, in seconds."""
    if off <= MAX_SECONDS:
        return Finding(CHECK, State.OK, f"{whose} agrees with this machine's.")
    state = State.WARNING if off <= MAX_TOLERABLE_SECONDS else State.MISSING
    return Finding(CHECK, state, f"{whose} differs from this machine's by {off:.0f} s.", SYNCHRONISE)


def is_synchronised() -> bool | None:
    """What systemd knows of it; None if it knows nothing."""
    if not (program := shutil.which("timedatectl")):
        return None
    command = [program, "show", "--property=NTPSynchronized", "--value"]
    try:
        shown = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)  # noqa: S603, fixed
    except (OSError, subprocess.TimeoutExpired):
        return None
    return {"yes": True, "no": False}.get(shown.stdout.strip())
