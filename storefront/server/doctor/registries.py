from collections.abc import Iterator

from django.conf import settings

from storefront.kit import clock
from storefront.kit.format import format_bytes
from storefront.pods import registry_state
from storefront.pods.registry_state import Reading, Slot
from storefront.server.doctor.findings import Finding, State

CHECK = "registry"
# Seconds after which accounts and apps are old. Pod 0's worker writes twice a minute.
MAX_AGE_SECONDS = 300.0
# Bytes of the log that pod 0 may keep for a pod that reads slowly.
MAX_KEPT_BYTES = 1024**3
JOIN_AGAIN = "Run in that pod: storefront registry join --again."


def look() -> Iterator[Finding]:
    """Whether other pods read the registry of pod 0, and whether this one does. Nothing where there are no pods."""
    for slot in registry_state.slots():
        yield _finding_of(slot)
    if reading := registry_state.reading(now=clock.now()):
        yield from _findings_of(reading)


def _finding_of(slot: Slot) -> Finding:
    kept = f"{format_bytes(slot.kept_bytes)} of the log are kept for it"
    if slot.is_lost:
        return Finding(CHECK, State.MISSING, f"The log for {slot.name} is lost, so its pod reads nothing.", JOIN_AGAIN)
    if not slot.is_read:
        advice = f"Start that pod's database, or: SELECT pg_drop_replication_slot('{slot.name}')."
        return Finding(CHECK, State.MISSING, f"Nobody reads {slot.name}; {kept}.", advice)
    if slot.kept_bytes > MAX_KEPT_BYTES:
        return Finding(
            CHECK, State.WARNING, f"{slot.name} is far behind; {kept}.", "Run storefront doctor in that pod."
        )
    return Finding(CHECK, State.OK, f"{slot.name} is read; {kept}.")


def _findings_of(reading: Reading) -> Iterator[Finding]:
    age = "no beat has arrived" if reading.age is None else f"it is {reading.age:.0f} s old"
    if reading.missing:
        what = f"The registry is not read: {', '.join(reading.missing)}."
        yield Finding(CHECK, State.MISSING, what, "Run storefront registry join --from ... in this pod.")
    elif not reading.is_on:
        yield Finding(CHECK, State.MISSING, f"The subscription is off; {age}.", "Run storefront registry join again.")
    elif reading.age is None or reading.age > MAX_AGE_SECONDS:
        yield Finding(CHECK, State.MISSING, f"The registry is not up to date: {age}.", _advice(reading))
    else:
        yield Finding(CHECK, State.OK, f"Accounts and apps come from pod 0: {age}.")
    if not settings.REGISTRY_URL:
        text = "Pages that change accounts cannot lead to pod 0."
        yield Finding(CHECK, State.WARNING, text, "Set STOREFRONT_REGISTRY_URL.")


def _advice(reading: Reading) -> str:
    if reading.errors:
        return (
            f"Writing it here failed {reading.errors} times. PostgreSQL's log here has the reason, such as a column"
            " that this pod lacks: then run storefront migrate."
        )
    if not reading.is_connected:
        return "Pod 0's database cannot be reached from this one; PostgreSQL's log here has the reason."
    return "Pod 0 writes nothing: start its worker."
