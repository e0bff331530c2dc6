"""The stock ledger: every change of a stock is a row of `StockAdjustment`, in the same transaction.

Triggers write the rows (`triggers.py`), so that no code can change a stock without one. Code declares the cause of its
changes here. Changes without a cause are recorded as `created`, `changed` or `removed`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.db import connection

from storefront.catalogue.dialect import dialect
from storefront.catalogue.models import StockAdjustment
from storefront.kit.sql import fetch
from storefront.shops.models import ApiToken, User

Kind = StockAdjustment.Kind
# The cause of changes of stock, as parameters of the statement that declares it.
Said = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Author:
    """Who changes stock. At most one of these is set."""

    installation_id: int | None = None
    token: ApiToken | None = None
    user: User | None = None


NOBODY = Author()


@contextmanager
def stock_changes(
    kind: Kind, *, now: datetime, reason: str = "", reference: str = "", author: Author = NOBODY
) -> Iterator[None]:
    """Declare the cause of the block's changes of stock. Call it in their transaction, which an exception must roll
    back."""
    with saying(said(kind, now=now, reason=reason, reference=reference, author=author)):
        yield


@contextmanager
def saying(said: Said) -> Iterator[None]:
    """Say this of the block's changes of stock."""
    fetch(connection, dialect.SAY, said)
    yield
    unsay()


def unsay() -> None:
    """End what was said of changes of stock in this transaction."""
    fetch(connection, dialect.UNSAY, {})


def said(kind: Kind, *, now: datetime, reason: str = "", reference: str = "", author: Author = NOBODY) -> Said:
    """Build a cause of changes of stock."""
    values = {
        "kind": kind.value,
        "reason": reason,
        "reference": reference,
        "installation": author.installation_id,
        "token": author.token and author.token.pk,
        "user": author.user and author.user.pk,
        "made_at": connection.ops.adapt_datetimefield_value(now),
    }
    return values | {"said": orjson.dumps(values).decode()}
