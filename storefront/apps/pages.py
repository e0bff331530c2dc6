from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render

from storefront.apps import rendering
from storefront.apps.rendering import Block
from storefront.apps.shared_blocks import shared_blocks
from storefront.shops.request import Request


def blocks_page(
    request: Request, type: str, *, items: list[dict[str, Any]], totals: dict[str, Any], link: UUID | None
) -> HttpResponse:
    """The blocks of this type as a fragment that htmx inserts in a page; 204 if there are none. `link` is the public id
    of the checkout link that the items are ordered by, which apps know as `cart` (R-APP-41)."""
    payload = {"items": items, "totals": totals, "cart": str(link) if link else None}
    return _page(request, rendering.fetch_blocks(request.shop, type, payload=payload, now=request.now))


def shared_blocks_page(
    request: Request, type: str, *, items: list[dict[str, Any]], totals: dict[str, Any], place: str
) -> HttpResponse:
    """Like `blocks_page`, for blocks that are the same for all visitors. `place` is the visitor's place
    (`callers.place_of`)."""
    payload = {"items": items, "totals": totals, "cart": None}
    return _page(request, shared_blocks(request.shop, type, payload=payload, place=place, now=request.now))


def _page(request: Request, blocks: list[Block]) -> HttpResponse:
    answer = render(request, "apps/blocks.html", {"blocks": blocks}) if blocks else HttpResponse(status=204)
    answer["Cache-Control"] = "no-store"
    return answer
