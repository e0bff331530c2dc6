"""Lists every column with encrypted secrets and its purpose. `storefront reseal` encrypts them with the newest
SECRET_KEY, so that old keys can be removed. The server reports at its start which secrets no key can decrypt.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import structlog
from django.apps import apps
from django.db.models import Max, QuerySet

from storefront.installations.models import APP_SECRET, WEBHOOK_SECRET
from storefront.kit import sealing
from storefront.payments import accounts
from storefront.pods import registry
from storefront.shops import idempotency
from storefront.staff import second_factor
from storefront.webhooks import messages

log = structlog.get_logger(__name__)

# Rows that are read in one query.
BATCH_ROWS = 200
# How many of the newest rows of each kind are checked at a start.
SAMPLE_ROWS = 500


@dataclass(frozen=True)
class Sealed:
    """A column of a model, `app.Model`, with the purpose that its values are sealed for. `what` names them for people,
    in the plural. With `ends_by_itself`, they expire within days."""

    model: str
    column: str
    purpose: str
    what: str
    ends_by_itself: bool = False

    @property
    def rows(self) -> QuerySet:
        return apps.get_model(self.model)._base_manager.exclude(**{self.column: None}).order_by("pk")


SEALED = [
    Sealed("apps.App", "sealed_secret", APP_SECRET, "secrets of apps"),
    Sealed("apps.Installation", "sealed_secret", WEBHOOK_SECRET, "webhook secrets of installations"),
    Sealed(
        "apps.Installation",
        "sealed_previous_secret",
        WEBHOOK_SECRET,
        "replaced webhook secrets of installations",
        ends_by_itself=True,
    ),
    Sealed("webhooks.Delivery", "sealed_message", messages.SEALED, "messages that wait to be sent"),
    Sealed("payments.ProviderAccount", "sealed", accounts.PURPOSE, "secrets of payment providers"),
    Sealed(
        "payments.ReplacedSettings",
        "sealed",
        accounts.PURPOSE,
        "replaced secrets of payment providers",
        ends_by_itself=True,
    ),
    Sealed("shops.Authenticator", "sealed_key", second_factor.PURPOSE, "keys of authenticator apps"),
    Sealed("shops.IdempotentAnswer", "body", idempotency.PURPOSE, "kept answers", ends_by_itself=True),
]
# Kinds of the registry, which are resealed in pod 0.
REGISTERED = ("apps.App", "shops.Authenticator")


@dataclass
class Resealed:
    """How many secrets of one kind were resealed with the newest key, had the newest key already, were changed (and so
    sealed) by another process meanwhile, and cannot be decrypted by any key."""

    what: str
    resealed: int = 0
    current: int = 0
    changed: int = 0
    unreadable: int = 0


def reseal() -> list[Resealed]:
    """Encrypt every secret with the newest key, but for those that pod 0 reseals for this pod. Safe while the service
    runs, and safe to repeat: values that changed meanwhile are not overwritten, and values with the newest key are
    skipped."""
    return [reseal_kind(kind) for kind in SEALED if kind.model not in REGISTERED or registry.is_written_here()]


def reseal_kind(kind: Sealed) -> Resealed:
    """Encrypt every secret of one kind with the newest key."""
    counts = Resealed(kind.what)
    for pk, sealed in _sealed_rows(kind):
        if sealing.is_current(sealed, purpose=kind.purpose):
            counts.current += 1
            continue
        try:
            renewed = sealing.reseal(sealed, purpose=kind.purpose)
        except sealing.Unsealable:
            counts.unreadable += 1
            continue
        written = kind.rows.filter(pk=pk, **{kind.column: sealed}).order_by().update(**{kind.column: renewed})
        counts.resealed += written
        counts.changed += not written
    return counts


def _sealed_rows(kind: Sealed) -> Iterator[tuple[int, bytes]]:
    """Id and encrypted value of each row, in batches by id."""
    last = 0
    while found := list(kind.rows.filter(pk__gt=last).values_list("pk", kind.column)[:BATCH_ROWS]):
        for pk, sealed in found:
            yield pk, bytes(sealed)
        last = found[-1][0]


def count_unreadable() -> dict[str, int]:
    """By `what` of a kind: how many of its newest SAMPLE_ROWS rows no key can decrypt, if there are any."""
    return {kind.what: count for kind in SEALED if (count := _count_unreadable(kind))}


def _count_unreadable(kind: Sealed) -> int:
    # By a range of ids: a table may have millions of rows, few of which have a secret.
    last = apps.get_model(kind.model)._base_manager.aggregate(last=Max("pk"))["last"] or 0
    newest = kind.rows.filter(pk__gt=last - SAMPLE_ROWS).values_list(kind.column, flat=True)
    return sum(not sealing.is_readable(bytes(sealed), purpose=kind.purpose) for sealed in newest)


def warn_of_unreadable() -> None:
    """Log which secrets the configured keys cannot decrypt. For the start of a process."""
    for what, count in count_unreadable().items():
        log.error(
            "secrets_unreadable",
            what=what,
            count=count,
            remedy=(
                "Add the SECRET_KEY that they were encrypted with after the new one: new,old. Then run storefront"
                " reseal. If that key is lost, create new secrets in the admin."
            ),
        )
