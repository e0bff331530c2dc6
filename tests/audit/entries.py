"""What a test asks the audit log."""

from collections.abc import Iterator
from contextlib import contextmanager

from storefront.shops.models import AuditEntry, Shop


def entries(shop: Shop, **narrowed) -> list[AuditEntry]:
    """The shop's entries, oldest first."""
    return list(AuditEntry.objects.filter(shop=shop, **narrowed).order_by("id"))


@contextmanager
def one_entry(shop: Shop) -> Iterator[list[AuditEntry]]:
    """Asserts that the block writes one entry of this shop and none of any other; the list has it afterwards. Entries
    of signing in to the admin are ignored."""
    known = set(AuditEntry.objects.values_list("pk", flat=True))
    found: list[AuditEntry] = []
    yield found
    found += AuditEntry.objects.exclude(pk__in=known).exclude(action="staff.signed_in").order_by("id")
    assert [(entry.shop_id, entry.action) for entry in found] == [(shop.pk, entry.action) for entry in found[:1]]
    assert found, "nothing was recorded"
