"""Ways back to the integration's site that sent the shopper here: after the order, or instead of it (R-LINK-23)."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from storefront.carts.merging import last_arrival
from storefront.carts.models import Cart, CartLine
from storefront.orders.models import Order
from storefront.shops.models import Shop

# Placeholder in a `return_url`, replaced by the order's number.
ORDER_NUMBER = "{ORDER_NUMBER}"
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


@dataclass(frozen=True)
class WayBack:
    """A link to another site. `host` is what the shopper reads, such as `www.example.com`."""

    url: str
    host: str


def way_back_from(order: Order) -> WayBack | None:
    """The link to the order's `return_url`, with the order's number where the URL asks for it."""
    return _way_back(order.return_url.replace(ORDER_NUMBER, str(order.number)))


def way_back_of_basket(shop: Shop, cart: Cart, lines: Sequence[CartLine]) -> WayBack | None:
    """The link to the `cancel_url` of the checkout link that brought items of this basket."""
    arrival = last_arrival(shop, cart, lines)
    return _way_back(arrival.cancel_url) if arrival else None


def origin_of(url: str) -> str:
    """The URL's origin as browsers send it: scheme, host and port, in lower case, without a default port."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower().removesuffix(_DEFAULT_PORTS[parts.scheme]) if url else ""


def _way_back(url: str) -> WayBack | None:
    return WayBack(url, urlsplit(url).hostname or "") if url else None
