"""The kinds of data that a shop has about a person: the records that an export contains, how many there are, and what
erasing does to them. docs/privacy.md has the same as a table, with the reasons."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _lazy

from storefront.kit.text import Text
from storefront.privacy import records
from storefront.privacy.person import Person

Record = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of data. `name` is the name of its file in an export; `fate` describes what erasing does. `rows` is None
    if counting would take long."""

    name: str
    title: Text
    rows: Callable[[Person], QuerySet] | None
    records: Callable[[Person], Iterator[Record]]
    fate: Text

    def count(self, person: Person) -> int | None:
        return self.rows(person).count() if self.rows else None


KINDS = (
    Kind(
        "account",
        _lazy("Account with its addresses"),
        Person.accounts,
        records.accounts,
        _lazy("Deleted. Every sign-in and every emailed link stops working."),
    ),
    Kind(
        "saved_methods",
        _lazy("Saved payment methods"),
        Person.saved_methods,
        records.saved_methods,
        _lazy("Deleted, also at the payment provider."),
    ),
    Kind(
        "orders",
        _lazy("Orders"),
        Person.orders,
        records.orders,
        _lazy(
            "Kept for your accounts: figures, taxes, items, country and postal code. Name, addresses, contact, notes "
            "and all texts are deleted."
        ),
    ),
    Kind(
        "payments",
        _lazy("Payments and refunds"),
        Person.payments,
        records.payments,
        _lazy("Kept for your accounts: the amounts, the provider and its reference. The payment details are deleted."),
    ),
    Kind(
        "invoices",
        _lazy("Invoices and credit notes"),
        Person.documents,
        records.documents,
        _lazy("Kept unchanged, with the name and address: tax law requires it for years."),
    ),
    Kind("mails", _lazy("Emails about orders"), Person.mails, records.mails, _lazy("Deleted.")),
    Kind(
        "downloads",
        _lazy("Files to download"),
        Person.downloads,
        records.downloads,
        _lazy("Deleted: the files cannot be downloaded any more."),
    ),
    Kind(
        "gift_cards",
        _lazy("Gift cards bought or received"),
        Person.gift_cards,
        records.gift_cards,
        _lazy("Kept with their balance. This address and all messages are deleted; another recipient's address stays."),
    ),
    Kind(
        "discounts",
        _lazy("Uses of discounts"),
        Person.redemptions,
        records.redemptions,
        _lazy("Kept as a count, without who used them."),
    ),
    Kind("baskets", _lazy("Baskets"), Person.baskets, records.baskets, _lazy("Deleted.")),
    Kind("checkouts", _lazy("Started checkouts"), Person.checkouts, records.checkouts, _lazy("Deleted.")),
    Kind("stock_alerts", _lazy("Waiting for products"), Person.alerts, records.alerts, _lazy("Deleted.")),
    Kind(
        "audit",
        _lazy("Entries of the audit log"),
        None,
        records.audit_entries,
        _lazy("Kept, without names, places and texts."),
    ),
)
