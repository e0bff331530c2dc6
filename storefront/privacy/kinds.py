"""The kinds of data that a shop has about a person: the records that an export contains, how many there are, and what
erasing does to them. docs/privacy.md has the same as a table, with the reasons."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from storefront.privacy import records
from storefront.privacy.person import Person

Record = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of data. `name` is the name of its file in an export; `fate` describes what erasing does."""

    name: str
    title: str
    # None if counting would take long.
    count: Callable[[Person], int] | None
    records: Callable[[Person], Iterator[Record]]
    fate: str


KINDS = (
    Kind(
        "account",
        "Account with its addresses",
        lambda person: int(person.customer is not None),
        records.accounts,
        "Deleted. Every sign-in and every emailed link stops working.",
    ),
    Kind(
        "saved_methods",
        "Saved payment methods",
        lambda person: person.saved_methods().count(),
        records.saved_methods,
        "Deleted, at the payment provider, too.",
    ),
    Kind(
        "orders",
        "Orders",
        lambda person: person.orders().count(),
        records.orders,
        "Kept for your accounts: figures, taxes, items, country and postal code. Name, addresses, contact, notes and "
        "all texts are deleted.",
    ),
    Kind(
        "payments",
        "Payments and refunds",
        lambda person: person.payments().count(),
        records.payments,
        "Kept for your accounts: amounts, provider and its reference. What was paid with is deleted.",
    ),
    Kind(
        "invoices",
        "Invoices and credit notes",
        lambda person: person.documents().count(),
        records.documents,
        "Kept unchanged, with name and address: tax law requires that for years.",
    ),
    Kind(
        "mails",
        "Emails about orders",
        lambda person: person.mails().count(),
        records.mails,
        "Deleted.",
    ),
    Kind(
        "downloads",
        "Files to download",
        lambda person: person.downloads().count(),
        records.downloads,
        "Deleted: the files cannot be downloaded any more.",
    ),
    Kind(
        "gift_cards",
        "Gift cards bought or received",
        lambda person: person.gift_cards().count(),
        records.gift_cards,
        "Kept with their balance. This address and all messages are deleted; another recipient's address stays.",
    ),
    Kind(
        "discounts",
        "Uses of discounts",
        lambda person: person.redemptions().count(),
        records.redemptions,
        "Kept as a count, without who used them.",
    ),
    Kind(
        "baskets",
        "Baskets",
        lambda person: person.baskets().count(),
        records.baskets,
        "Deleted.",
    ),
    Kind(
        "checkouts",
        "Checkouts that were started",
        lambda person: person.checkouts().count(),
        records.checkouts,
        "Deleted.",
    ),
    Kind(
        "stock_alerts",
        "Waiting for products",
        lambda person: person.alerts().count(),
        records.alerts,
        "Deleted.",
    ),
    Kind(
        "audit",
        "Entries of the audit log",
        None,
        records.audit_entries,
        "Kept, without names, places and texts.",
    ),
)
