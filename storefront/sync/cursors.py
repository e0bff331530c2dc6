"""Cursors: a client's position in its run through a list. They are signed, so that only cursors from here are accepted,
for their own shop and list (R-SYNC-3, R-SYNC-9)."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime, timedelta

from django.core.signing import BadSignature, Signer

from storefront.kit.ids import MAX_ID
from storefront.kit.refusals import Refusal
from storefront.shops.models import Shop

MAX_CURSOR_LENGTH = 400
# How long a cursor is valid, and how far back `deleted` reaches. The log is kept for a day longer.
RETENTION = timedelta(days=30)

_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class InvalidCursor(Refusal):
    code, field = "invalid_cursor", "after"
    message = "Send the next of an earlier answer of this list as after, or after without a value to begin."


class CursorExpired(Refusal):
    code, field = "cursor_expired", "after"
    message = "This cursor can no longer be continued. Read everything again: send after without a value."


@dataclass(frozen=True, slots=True)
class Cursor:
    """A position in a list's run.

    `generation` is that of the shop's log. `as_of` is when the end of the log was at its position, in Unix seconds. The
    log is read up to (`xact`, `change`), publication dates up to `moment`, in microseconds since 1970, and at that
    moment up to the product with the id `dated`. `scanned` is the last key of the first pass over
    all rows, or -1 after that pass.
    """

    generation: int
    as_of: int
    xact: int
    change: int
    moment: int
    dated: int
    scanned: int

    @property
    def is_scanning(self) -> bool:
        return self.scanned >= 0

    def encode(self, shop: Shop, list_name: str) -> str:
        text = ".".join(map(str, astuple(self)))
        return _signer(shop, list_name).sign(urlsafe_b64encode(text.encode()).decode().rstrip("="))

    def at(self, moment: datetime, dated: int = MAX_ID) -> "Cursor":
        """The cursor with publication dates read up to here, all of this moment by default."""
        return replace(self, moment=as_microseconds(moment), dated=dated)


def decode(text: str, shop: Shop, list_name: str, *, now: datetime) -> Cursor:
    """The cursor. Raises InvalidCursor, and CursorExpired after RETENTION."""
    if len(text) > MAX_CURSOR_LENGTH:
        raise InvalidCursor
    try:
        payload = _signer(shop, list_name).unsign(text)
    except BadSignature:
        raise InvalidCursor from None
    numbers = urlsafe_b64decode(payload + "=" * (-len(payload) % 4)).decode().split(".")
    cursor = Cursor(*map(int, numbers))
    if cursor.as_of < as_seconds(now - RETENTION):
        raise CursorExpired
    return cursor


def as_seconds(moment: datetime) -> int:
    return int(moment.timestamp())


def as_microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def as_moment(microseconds: int) -> datetime:
    return _EPOCH + microseconds * _MICROSECOND


def _signer(shop: Shop, list_name: str) -> Signer:
    return Signer(sep=".", salt=f"storefront.sync.{shop.pk}.{list_name}")
