from typing import Any

from django.db.models.fields.json import KeyTextTransform, KeyTransform

from storefront.content.address_models import MAX_PATH_LENGTH
from storefront.content.models import Looks, Page, Redirect
from storefront.kit.translations import spoken
from storefront.shops.models import Shop
from storefront.shops.spoken import further_language


def published_pages(shop: Shop, language: str = "") -> list[Page]:
    """The shop's published pages in the order of its footer, without their texts. Their translations, which have the
    texts, are read in the language of a title alone."""
    pages = Page.objects.filter(shop=shop, is_published=True).defer("body", "summary", "translations")
    if language in ("", shop.language):
        return list(pages)
    titles = KeyTextTransform("title", KeyTransform(language, "translations"))
    found: list[Any] = list(pages.annotate(title_in_language=titles))
    for page in found:
        page.title = page.title_in_language or page.title
    return found


def published_page(shop: Shop, slug: str, language: str = "") -> Page | None:
    # PostgreSQL refuses NUL characters in texts.
    found = Page.objects.filter(shop=shop, is_published=True, slug=slug)[:1] if "\0" not in slug else []
    return next(iter(spoken(found, further_language(shop, language), "title", "body", "summary")), None)


def looks_of(shop: Shop, language: str = "") -> Looks:
    """The shop's looks with its own links; the default looks if nobody has chosen any."""
    rows = Looks.objects.filter(shop=shop).prefetch_related("links")[:1]
    language = further_language(shop, language)
    found = spoken(rows, language, "footer_text")
    spoken((link for looks in found for link in looks.links.all()), language, "label")
    return found[0] if found else Looks(shop=shop)


def redirect_target(shop: Shop, path: str) -> str | None:
    """Where the merchant's redirect from this path leads; the path is in the normal form."""
    if "\0" in path or len(path) > MAX_PATH_LENGTH:
        return None
    return Redirect.objects.filter(shop=shop, path=path).values_list("target", flat=True).first()
