from storefront.content.address_models import MAX_PATH_LENGTH
from storefront.content.models import Looks, Page, Redirect
from storefront.shops.models import Shop


def published_pages(shop: Shop) -> list[Page]:
    """The shop's published pages in the order of its footer, without their texts."""
    return list(Page.objects.filter(shop=shop, is_published=True).defer("body", "summary"))


def published_page(shop: Shop, slug: str) -> Page | None:
    # PostgreSQL refuses NUL characters in texts.
    return Page.objects.filter(shop=shop, is_published=True, slug=slug).first() if "\0" not in slug else None


def looks_of(shop: Shop) -> Looks:
    """The shop's looks with its own links; the default looks if nobody has chosen any."""
    found = Looks.objects.filter(shop=shop).prefetch_related("links").first()
    return found or Looks(shop=shop)


def redirect_target(shop: Shop, path: str) -> str | None:
    """Where the merchant's redirect from this path leads; the path is in the normal form."""
    if "\0" in path or len(path) > MAX_PATH_LENGTH:
        return None
    return Redirect.objects.filter(shop=shop, path=path).values_list("target", flat=True).first()
