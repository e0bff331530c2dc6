from typing import Any

from django import template
from django.template import Context

from storefront.apps.extensions import has_extensions

register = template.Library()


@register.inclusion_tag("apps/blocks_place.html", takes_context=True)
def app_blocks(context: Context, type: str, url: str) -> dict[str, Any]:
    """The element into which the browser loads the blocks of this type from the URL. Empty if the shop has none."""
    return {"url": url if has_extensions(context["request"].shop, type) else None}
