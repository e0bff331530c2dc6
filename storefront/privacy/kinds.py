"""The kinds of data that a shop has about a person: the records that an export contains, how many there are, and what
erasing does to them. docs/privacy.md has the same as a table, with the reasons."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from storefront.privacy import records
from storefront.privacy.person import Person

Record = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of data. `name` is the name of its file in an export; `fate` describes what erasing does. `rows` is None
    if counting would take long."""

    name: str
    title: str
    rows: Callable[[Person], QuerySet] | None
    records: Callable[[Person], Iterator[Record]]
    fate: str

    def count(self, person: Person) -> int | None:
        return self.rows(person).count() if self.rows else None


KINDS = (
    Kind(
        "account",
        "Account with its addresses",
        Person.accounts,
        records.accounts,
        "Deleted. Every sign-in and every emailed link stops working.",
    ),
    Kind(
        "saved_methods",
        "Saved payment methods",
        Person.saved_methods,
        records.saved_methods,
        "Deleted, at the payment provider, too.",
    ),
    Kind(
        "orders",
        "Orders",
        Person.orders,
        records.orders,
        "Kept for your accounts: figures, taxes, items, country and postal code. Name, addresses, contact, notes and "
        "all texts are deleted.",
    ),
    Kind(
        "payments",
        "Payments and refunds",
        Person.payments,
        records.payments,
        "Kept for your accounts: amounts, provider and its reference. What was paid with is deleted.",
    ),
    Kind(
        "invoices",
        "Invoices and credit notes",
        Person.documents,
        records.documents,
        "Kept unchanged, with name and address: tax law requires that for years.",
    ),
    Kind("mails", "Emails about orders", Person.mails, records.mails, "Deleted."),
    Kind(
        "downloads",
        "Files to download",
        Person.downloads,
        records.downloads,
        "Deleted: the files cannot be downloaded any more.",
    ),
    Kind(
        "gift_cards",
        "Gift cards bought or received",
        Person.gift_cards,
        records.gift_cards,
        "Kept with their balance. This address and all messages are deleted; another recipient's address stays.",
    ),
    Kind(
        "discounts",
        "Uses of discounts",
        Person.redemptions,
        records.redemptions,
        "Kept as a count, without who used them.",
    ),
    Kind("baskets", "Baskets", Person.baskets, records.baskets, "Deleted."),
    Kind("checkouts", "Checkouts that were started", Person.checkouts, records.checkouts, "Deleted."),
    Kind("stock_alerts", "Waiting for products", Person.alerts, records.alerts, "Deleted."),
    Kind("audit", "Entries of the audit log", None, records.audit_entries, "Kept, without names, places and texts."),
)
