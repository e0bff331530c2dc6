from collections.abc import Mapping
from typing import Any

from django.db.models.fields.json import KT

from storefront.content import page_slugs
from storefront.content.address_models import MAX_PATH_LENGTH
from storefront.content.models import Looks, Page, Redirect
from storefront.kit.translations import spoken
from storefront.shops.models import Shop
from storefront.shops.spoken import further_language


def published_pages(shop: Shop, language: str = "", *, with_slugs: bool = False) -> list[Any]:
    """The shop's published pages in the order of its footer, without their texts. Their translations, which have the
    texts, are read in the language of title and slug alone. `with_slugs`: also `slugs`, by language."""
    pages: Any = Page.objects.filter(shop=shop, is_published=True).defer("body", "summary", "translations")
    language = further_language(shop, language)
    codes = shop.further_languages if with_slugs else [language] if language else []
    pages = pages.annotate(**{f"slug_in_{code}": KT(f"translations__{code}__slug") for code in codes})
    if language:
        pages = pages.annotate(title_in_language=KT(f"translations__{language}__title"))
    found = list(pages)
    for page in found:
        page.slugs = {shop.language: page.slug} | {
            code: getattr(page, f"slug_in_{code}") or page.slug for code in codes
        }
        if language:
            page.title = page.title_in_language or page.title
            page.slug = page.slugs[language]
    return found


def published_page(shop: Shop, slug: str, language: str = "") -> Any:
    """The page that has this slug in one of the shop's languages, or had it before, in this language: its `slug` is
    that of the language, its `slugs` are those of all. None if shoppers see no such page."""
    # PostgreSQL refuses NUL characters in texts.
    if "\0" in slug:
        return None
    language = further_language(shop, language) or shop.language
    pages = Page.objects.filter(page_slugs.has_slug(shop, [slug]), shop=shop, is_published=True)
    # Other ways than the form may have given one slug to several pages: that of the language comes first.
    found: Any = min(
        pages,
        key=lambda page: (page_slugs.slugs_of(shop, page)[language] != slug, page.slug != slug, page.pk),
        default=None,
    )
    found = found or page_slugs.moved_page(shop, slug)
    if found is None:
        return None
    found.slugs = page_slugs.slugs_of(shop, found)
    spoken([found], further_language(shop, language), "title", "body", "summary")
    found.slug = found.slugs[language]
    return found


def looks_of(shop: Shop, language: str = "", facts: Mapping[str, Any] | None = None) -> Looks:
    """The shop's looks with its own links; the default looks if nobody has chosen any. Each of the `facts`, expressions
    about the shop, is an attribute of the looks, from the same query."""
    row = Shop.objects.select_related("looks").prefetch_related("looks__links").annotate(**facts or {}).get(pk=shop.pk)
    found: Looks = getattr(row, "looks", None) or Looks(shop=shop)
    language = further_language(shop, language)
    spoken([found], language, "footer_text", "hours")
    spoken(found.links.all() if found.pk else (), language, "label")
    for name in facts or ():
        setattr(found, name, getattr(row, name))
    return found


def redirect_target(shop: Shop, path: str) -> str | None:
    """Where the merchant's redirect from this path leads; the path is in the normal form."""
    if "\0" in path or len(path) > MAX_PATH_LENGTH:
        return None
    return Redirect.objects.filter(shop=shop, path=path).values_list("target", flat=True).first()
