"""Marks the requests that replicas answer."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar

from django.conf import settings
from django.http import HttpResponse

from storefront.kit.replicas import reading, watching
from storefront.shops import positions
from storefront.shops.models import Shop

# Parameters of a list that is copied (`sync/`).
COPIES = {"after", "updated_since"}

Handler = Callable[..., HttpResponse]
Figures = TypeVar("Figures")


def from_replica(handler: Handler) -> Handler:
    """Decorator of a handler of a request with a shop that only reads, and reads nothing of a cart or a session. It may
    run twice: on a replica that fails, and then on the primary. Copies of lists, which must miss no change, are read on
    the primary."""

    @wraps(handler)
    def reading_handler(request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.REPLICAS or COPIES.intersection(request.GET):
            return handler(request, *args, **kwargs)
        return answer(request, partial(handler, request, *args, **kwargs))

    return reading_handler


def answer(request: Any, respond: Callable[[], HttpResponse]) -> HttpResponse:
    """The response of a read, rendered. `read_seconds_ago` is how old its data can be."""
    # Read here if it was not yet, on the primary.
    shop_id = request.shop.pk
    response, is_of_replica = reading.read(lambda: _rendered(respond()), partial(positions.needed, shop_id))
    response.read_seconds_ago = watching.MAX_LAG_SECONDS if is_of_replica else 0  # type: ignore[attr-defined]
    return response


def page_from_replica(page: Handler) -> Handler:
    """Decorator of a page that is the same for all visitors without a session, who have written nothing."""
    of_replica = from_replica(page)

    @wraps(page)
    def reading_page(request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        has_session = settings.SESSION_COOKIE_NAME in request.COOKIES
        return (page if has_session else of_replica)(request, *args, **kwargs)

    return reading_page


def figures(shop: Shop, work: Callable[[], Figures]) -> Figures:
    """The result of `work`, which reads figures of the shop."""
    return reading.read(work, partial(positions.needed, shop.pk))[0]


def _rendered(response: Any) -> HttpResponse:
    """Templates read, too."""
    if not getattr(response, "is_rendered", True):
        response.render()
    return response
