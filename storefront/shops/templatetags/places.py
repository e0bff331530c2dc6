"""The tag `page_url` and the filter `shop_url`: links to pages at any place. Every template has them."""

from typing import Any

from django import template
from django.template import Context

from storefront.shops import places
from storefront.shops.models import Shop

register = template.Library()


@register.simple_tag(takes_context=True)
def page_url(context: Context, name: str, *args: Any, shop: Shop | None = None, plain: bool = False) -> str:
    """Like `{% url %}`, for pages of the shop. With `shop`, as in mails, the absolute URL."""
    if shop is not None:
        return places.page_address(name, *args, shop=shop)
    return places.page_url(context.request, name, *args, plain=plain)  # type: ignore[attr-defined]


@register.filter
def shop_url(shop: Shop) -> str:
    """The address of the shop's pages in the language that is spoken, without a slash at its end."""
    return places.spoken_base(places.SHOP, shop)
