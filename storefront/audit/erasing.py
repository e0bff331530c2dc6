"""Erases a person from the audit log. What happened, when, and to which object stays; who the person is and where they
acted from is erased. The database allows no other change of entries (`audit_triggers`)."""

import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any
from urllib.parse import quote_plus

from django.db import transaction
from django.db.models import Q

from storefront import audit
from storefront.kit.refusals import InvalidFields
from storefront.shops.audit_models import AuditEntry
from storefront.shops.audit_triggers import ERASED
from storefront.shops.models import Shop, User

# Entries loaded into memory at once.
BATCH_ROWS = 500
_ADDRESS = re.compile(r".+@[^@\s]+\Z", re.DOTALL)
# Types of values that stay, since they identify nobody.
_HARMLESS = (bool, int, float, type(None))


def whole_address(email: str) -> re.Pattern[str]:
    """Finds the address in a text: as it is, as in JSON, and as in a query string. Not in a longer address that
    contains it; a full stop after it ends a sentence."""
    forms = "|".join(map(re.escape, (email, json.dumps(email, ensure_ascii=False)[1:-1], quote_plus(email))))
    return re.compile(rf"(?<![\w.+-])(?:{forms})(?![\w-]|\.\w)", re.IGNORECASE)


@transaction.atomic
def erase_person(
    *, shop: Shop, email: str, customers: Iterable[int] = (), orders: Iterable[int] = (), now: datetime
) -> int:
    """Erase the person with this e-mail address from the shop's log; returns the number of changed entries.

    In entries of the person's own actions, as staff or as a customer, the actor's name and place are erased. In entries
    about the person, or about their `customers` and `orders` (ids), the object's name and all texts before and after
    are erased. In other entries, each text that contains the address is erased. Ids of users and customers stay: they
    identify nobody once the account is deleted. A new entry records that somebody was erased, not who.
    Raises InvalidFields for an invalid address.
    """
    email = email.strip().lower()
    if not _ADDRESS.match(email):
        raise InvalidFields(errors={"email": ["Expected an email address."]})
    person = _Person(shop, email, set(customers), set(orders))
    count = 0
    for entry in person.entries():
        if person.erase_from(entry):
            entry.erased_at = now
            entry.save(update_fields=["actor_name", "place", "object_name", "before", "after", "erased_at"])
            count += 1
    audit.record(shop=shop, action="audit.erased", after={"entries": count}, now=now)
    return count


def entries_naming(
    *, shop: Shop, email: str, customers: Iterable[int] = (), orders: Iterable[int] = ()
) -> Iterator[AuditEntry]:
    """The shop's entries that `erase_person` would change, for an export of the person's data."""
    person = _Person(shop, email, set(customers), set(orders))
    return (entry for entry in person.entries() if person.is_named_by(entry))


class _Person:
    """A person, by e-mail address, and the log's entries by or about them."""

    def __init__(self, shop: Shop, email: str, customers: set[int], orders: set[int]) -> None:
        self.shop, self.email, self.orders = shop, email, orders
        self.address = whole_address(email)
        self.staff = set(User.objects.filter(email__iexact=email).values_list("pk", flat=True))
        self.customers = customers | self._customers_named()

    def entries(self) -> Iterator[AuditEntry]:
        """All entries that may name the person."""
        acted = Q(actor_kind=audit.Kind.STAFF, actor_id__in=self.staff) | Q(actor_name__icontains=self.email)
        acted |= Q(actor_kind=audit.Kind.CUSTOMER, actor_id__in=self.customers)
        about = Q(object_type="staff", object_id__in=self.staff) | Q(object_type="order", object_id__in=self.orders)
        about |= Q(object_type="customer", object_id__in=self.customers)
        return self._found(acted | about | self._mentioned())

    def erase_from(self, entry: AuditEntry) -> bool:
        """Erase the person from the entry. Returns True if the entry named the person."""
        acted, about, named = self._has_acted(entry), self._is_about(entry), self._is_named_in(entry)
        if acted:
            entry.actor_name, entry.place = entry.actor_name and ERASED, entry.place and ERASED
        if about:
            entry.object_name = entry.object_name and ERASED
            entry.before, entry.after = _without_texts(entry.before), _without_texts(entry.after)
        elif named:
            entry.object_name = self._without(entry.object_name)
            entry.before, entry.after = self._without(entry.before), self._without(entry.after)
        return acted or about or named

    def is_named_by(self, entry: AuditEntry) -> bool:
        """Returns True if the entry has the person's name, address or network."""
        return entry.erased_at is None and (self._has_acted(entry) or self._is_about(entry) or self._is_named_in(entry))

    def _found(self, which: Q) -> Iterator[AuditEntry]:
        ids = list(AuditEntry.objects.filter(which, shop=self.shop).order_by("pk").values_list("pk", flat=True))
        for start in range(0, len(ids), BATCH_ROWS):
            yield from AuditEntry.objects.filter(shop=self.shop, pk__in=ids[start : start + BATCH_ROWS])

    def _mentioned(self) -> Q:
        """Entries with the address in a text: as it is, escaped, as SQLite's JSON has letters beyond ASCII, or as
        the query string of a list has it."""
        found = Q(object_name__icontains=self.email)
        for text in {self.email, json.dumps(self.email)[1:-1], quote_plus(self.email)}:
            found |= Q(before__icontains=text) | Q(after__icontains=text)
        return found

    def _customers_named(self) -> set[int]:
        """Ids of customers whose entries contain the address. Finds customers whose row is deleted, too."""
        found = self._found(Q(object_type="customer") & self._mentioned())
        return {entry.object_id for entry in found if entry.object_id is not None and self._is_named_in(entry)}

    def _has_acted(self, entry: AuditEntry) -> bool:
        if self.address.search(entry.actor_name):
            return True
        ids = {audit.Kind.STAFF: self.staff, audit.Kind.CUSTOMER: self.customers}
        return entry.actor_id in ids.get(audit.Kind(entry.actor_kind), set())

    def _is_about(self, entry: AuditEntry) -> bool:
        ids = {"staff": self.staff, "customer": self.customers, "order": self.orders}
        return entry.object_id in ids.get(entry.object_type, set())

    def _is_named_in(self, entry: AuditEntry) -> bool:
        texts = json.dumps([entry.object_name, entry.before, entry.after], ensure_ascii=False)
        return self.address.search(texts) is not None

    def _without(self, value: Any) -> Any:
        """The value, with each text erased that contains the address."""
        if isinstance(value, dict):
            return {self._without(name): self._without(each) for name, each in value.items()}
        if isinstance(value, list):
            return [self._without(each) for each in value]
        return ERASED if isinstance(value, str) and self.address.search(value) else value


def _without_texts(value: Any) -> Any:
    """The value, with all texts erased."""
    if isinstance(value, dict):
        return {name: _without_texts(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_texts(each) for each in value]
    return value if isinstance(value, _HARMLESS) or value == "" else ERASED
