from typing import Any

from django import template
from django.template import Context

from storefront.apps.extensions import has_extensions

register = template.Library()


@register.inclusion_tag("apps/blocks_place.html", takes_context=True)
def app_blocks(context: Context, type: str, url: str) -> dict[str, Any]:
    """Where apps show their blocks of this type, once the page is there and has fetched them from the URL. Nothing in
    a shop without any, nor in a browser without scripts."""
    return {"url": url if has_extensions(context["request"].shop, type) else None}
