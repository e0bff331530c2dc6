"""Builds a person's data as JSON, kind by kind, without secrets: no password, no code, no id of a saved method."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from storefront.audit.erasing import entries_naming
from storefront.customers.queries import customer_record
from storefront.documents.models import Document
from storefront.gift_cards.models import GiftCard
from storefront.kit.clock import timestamp
from storefront.kit.money import to_wire
from storefront.orders.queries import order_records
from storefront.orders.schemas import FIELDS
from storefront.privacy.person import Person

Record = dict[str, Any]

BATCH_ROWS = 200


def accounts(person: Person) -> Iterator[Record]:
    if person.customer is not None:
        record = customer_record(person.shop, person.customer)
        yield record | {"has_password": person.customer.can_sign_in}


def saved_methods(person: Person) -> Iterator[Record]:
    for row in person.saved_methods():
        yield _plain(row, "provider", "label", "expires", "created_at")


def orders(person: Person) -> Iterator[Record]:
    members = frozenset(FIELDS)
    for start in range(0, len(person.order_ids), BATCH_ROWS):
        batch = order_records(person.shop, person.order_ids[start : start + BATCH_ROWS], members)
        yield from (batch[key] for key in sorted(batch))


def payments(person: Person) -> Iterator[Record]:
    rows = person.payments().select_related("order").prefetch_related("entries", "refunds")
    for row in rows.iterator(chunk_size=BATCH_ROWS):
        own = _plain(row, "gateway", "status", "amount", "captured", "refunded", "currency", "method", "reference")
        entries = [_plain(each, "at", "kind", "amount", "detail") for each in row.entries.all()]
        refunds = [_plain(each, "status", "amount", "reason", "created_at") for each in row.refunds.all()]
        number = row.order.number if row.order else None
        yield {"order": number} | own | {"entries": entries, "refunds": refunds} | _plain(row, "created_at")


def documents(person: Person) -> Iterator[Record]:
    for row in person.documents().select_related("order").iterator(chunk_size=BATCH_ROWS):
        own = {"order": row.order.number, "file": paper_name(row)}
        yield own | _plain(row, "kind", "number", "amount", "currency", "issued_at")


def paper_name(document: Document) -> str:
    """The name of the document's PDF in the export."""
    return f"papers/{document.file_name}"


def mails(person: Person) -> Iterator[Record]:
    for row in person.mails().select_related("order").iterator(chunk_size=BATCH_ROWS):
        own = _plain(row, "kind", "email", "subject", "text", "created_at", "sent_at", "failed_at")
        yield {"order": row.order.number} | own


def downloads(person: Person) -> Iterator[Record]:
    for row in person.downloads().select_related("order", "line").iterator(chunk_size=BATCH_ROWS):
        own = _plain(row, "name", "used", "max_downloads", "begun_at", "expires_at")
        yield {"order": row.order.number, "product": row.line.name} | own


def gift_cards(person: Person) -> Iterator[Record]:
    for row in person.gift_cards().prefetch_related("entries"):
        yield _gift_card(person, row)


def redemptions(person: Person) -> Iterator[Record]:
    for row in person.redemptions().select_related("discount", "code"):
        code = row.code.code if row.code else None
        yield {"discount": row.discount.name, "code": code, "used_at": timestamp(row.redeemed_at)}


def baskets(person: Person) -> Iterator[Record]:
    for row in person.baskets().prefetch_related("lines"):
        own = "name_snapshot", "qty", "price_snapshot", "options", "custom_fields", "gift_card", "created_at"
        lines = [_plain(each, *own) for each in row.lines.all()]
        yield _plain(row, "created_at", "updated_at", "discount_codes") | {"lines": lines}


def checkouts(person: Person) -> Iterator[Record]:
    names = ("email", "phone", "shipping_address", "billing_address", "vat_id", "vat_check", "payment_method")
    for row in person.checkouts():
        yield _plain(row, *names, "shopper_note", "created_at", "updated_at")


def alerts(person: Person) -> Iterator[Record]:
    for row in person.alerts().select_related("product", "variant"):
        own = {"product": row.product.name, "variant": row.variant.name if row.variant else None}
        yield own | _plain(row, "created_at", "confirmed_at")


def audit_entries(person: Person) -> Iterator[Record]:
    """The audit entries by the person or about them. Other people who acted are not named."""
    customers = [person.customer.pk] if person.customer else []
    found = entries_naming(shop=person.shop, email=person.email, customers=customers, orders=person.order_ids)
    for row in found:
        own = _plain(row, "at", "action", "object_type", "object_name", "before", "after")
        is_own = row.actor_kind == "customer"
        yield own | {"by": row.actor_kind, "place": row.place if is_own else None}


def _gift_card(person: Person, row: GiftCard) -> Record:
    is_held = row.email.lower() == person.email
    own = _plain(row, "last_four", "value", "balance", "currency", "email", "message", "giver", "sent_at", "expires_at")
    entries = [_plain(each, "at", "kind", "amount", "balance") for each in row.entries.all()]
    # Uses of somebody else's card are that person's data.
    return (
        {"is_received": is_held, "is_bought": row.order_id in person.order_ids}
        | own
        | {"entries": entries if is_held else []}
    )


def _plain(row: Any, *names: str) -> Record:
    """The values of these columns, written like those of the API: money as strings, times in UTC."""
    return {name: _value(getattr(row, name)) for name in names}


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        return timestamp(value)
    return to_wire(value) if hasattr(value, "quantize") else value
