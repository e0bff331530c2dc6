"""Ways back to the site of the integration that sent the shopper here: after the order, or instead of it."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from storefront.orders.models import Order

# In a `return_url`, replaced by the order's number.
ORDER_NUMBER = "{ORDER_NUMBER}"
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


@dataclass(frozen=True)
class WayBack:
    """A link to another site. `host` is what the shopper reads, such as `www.example.com`."""

    url: str
    host: str


def way_back(url: str) -> WayBack | None:
    """The link to this URL; None for an empty one."""
    return WayBack(url, urlsplit(url).hostname or "") if url else None


def way_back_from(order: Order) -> WayBack | None:
    """The link to the order's `return_url`, with the order's number where the URL asks for it."""
    return way_back(order.return_url.replace(ORDER_NUMBER, str(order.number)))


def origin_of(url: str) -> str:
    """The URL's origin as browsers send it: scheme, host and port, in lower case, without a default port."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower().removesuffix(_DEFAULT_PORTS[parts.scheme]) if url else ""
