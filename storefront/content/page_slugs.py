"""Addresses of the pages that a merchant wrote: a slug for each language, and those that a page had before.

A page's slug in a further language is stored among its translations. A slug belongs to one page, whatever the language:
an address that was made for another language then leads on to the page in this one.
"""

from collections.abc import Collection, Iterable

from django.db.models import Q

from storefront.content.models import Page
from storefront.shops.models import Shop

# Slugs that a page had before and that lead to it; older ones are forgotten.
MAX_OLD_SLUGS = 50


def slugs_of(shop: Shop, page: Page) -> dict[str, str]:
    """The page's slug in each of the shop's languages, the main one first."""
    stored = page.translations or {}
    further = {code: (stored.get(code) or {}).get("slug") or page.slug for code in shop.further_languages}
    return {shop.language: page.slug} | further


def has_slug(shop: Shop, slugs: Iterable[str]) -> Q:
    """The condition for pages that have one of these slugs in one of the shop's languages."""
    slugs = list(slugs)
    found = Q(slug__in=slugs)
    for code in shop.further_languages:
        for slug in slugs:
            found |= Q(**{f"translations__{code}__slug": slug})
    return found


def taken(shop: Shop, slugs: Collection[str], *, but: Page) -> set[str]:
    """Which of these slugs another page of the shop has. The shop's pages are locked until the end of the transaction,
    so that of two forms that give one slug to two pages the second sees the first."""
    list(Page.objects.select_for_update().filter(shop=shop).values_list("pk", flat=True))
    others = Page.objects.filter(has_slug(shop, slugs), shop=shop).exclude(pk=but.pk or 0).only("slug", "translations")
    return {slug for page in others for slug in slugs_of(shop, page).values()}.intersection(slugs)


def moved_page(shop: Shop, slug: str) -> Page | None:
    """The published page that had this slug before."""
    pages = Page.objects.filter(shop=shop, is_published=True)
    # A shop has few pages, and SQLite cannot look into lists.
    found = [id for id, old_slugs in pages.values_list("pk", "old_slugs") if slug in old_slugs]
    return pages.filter(pk=found[0]).first() if found else None


def remembered(page: Page, gone: Iterable[str], kept: Collection[str]) -> list[str]:
    """The slugs that lead to the page from now on besides those that it keeps, once these are gone."""
    found = dict.fromkeys([*(page.old_slugs or ()), *sorted(gone)])
    return [slug for slug in found if slug and slug not in kept][-MAX_OLD_SLUGS:]
