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
Cause = dict[str, Any]


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
    with for_cause(cause_of(kind, now=now, reason=reason, reference=reference, author=author)):
        yield


@contextmanager
def for_cause(cause: Cause) -> Iterator[None]:
    """Declare this cause of the block's changes of stock."""
    fetch(connection, dialect.DECLARE_CAUSE, cause)
    yield
    clear_cause()


def clear_cause() -> None:
    """Let changes of stock in this transaction have no cause from now on."""
    fetch(connection, dialect.CLEAR_CAUSE, {})


def cause_of(kind: Kind, *, now: datetime, reason: str = "", reference: str = "", author: Author = NOBODY) -> Cause:
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
