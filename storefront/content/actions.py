from datetime import datetime

from django.db import transaction

from storefront import audit
from storefront.content.models import Page
from storefront.content.starting_texts import STARTING_TEXTS
from storefront.shops.models import Shop


@transaction.atomic
def add_usual_pages(*, shop: Shop, now: datetime) -> list[Page]:
    """Add the usual pages that the shop lacks, unpublished, with starting texts. Skips a kind that has a page, or whose
    address is taken. Two calls at once add each page once."""
    known = Page.objects.filter(shop=shop).values_list("kind", "slug")
    kinds, slugs = {kind for kind, _ in known}, {slug for _, slug in known}
    rows = [
        Page(
            shop=shop,
            kind=kind,
            title=text.title,
            slug=text.slug,
            body=text.body,
            position=position,
            is_starting_text=True,
            created_at=now,
            updated_at=now,
        )
        for position, (kind, text) in enumerate(STARTING_TEXTS.items())
        if kind not in kinds and text.slug not in slugs
    ]
    Page.objects.bulk_create(rows, ignore_conflicts=True)
    found = Page.objects.filter(shop=shop, is_starting_text=True, kind__in=[row.kind for row in rows])
    added = [page for page in found if page.created_at == now]
    for page in added:
        audit.record_created(shop=shop, object=page, now=now)
    return added
