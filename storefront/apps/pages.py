from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from storefront.apps import rendering
from storefront.shops.request import Request


def blocks_page(request: Request, type: str, *, items: list[dict[str, Any]], totals: dict[str, Any]) -> HttpResponse:
    """The blocks of this type as a piece of a page, which htmx puts in its place; 204 where there are none."""
    blocks = rendering.blocks(request.shop, type, payload={"items": items, "totals": totals}, now=request.now)
    answer = render(request, "apps/blocks.html", {"blocks": blocks}) if blocks else HttpResponse(status=204)
    answer["Cache-Control"] = "no-store"
    return answer
