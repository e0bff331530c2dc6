"""Signs the links to an order's downloads, and checks whether a file can be downloaded now.

Threats. Links are in mails and in browsers' histories, where others see them. So each is signed, bound to one file of
one order line of one shop, and its page checks access as the order's page does (`checkout/order_access.py`). Whether
the order is paid, cancelled or refunded is read from the order at each download.
"""

from datetime import datetime
from enum import StrEnum

from django.core.signing import BadSignature, Signer

from storefront.kit.ids import MAX_ID
from storefront.orders.models import Download, Order, OrderLine
from storefront.shops.models import Shop
from storefront.shops.places import page_address


class Availability(StrEnum):
    READY = "ready"
    UNPAID = "unpaid"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"
    USED_UP = "used_up"


def availability(download: Download, now: datetime) -> Availability:
    """The state of the download: available, or the reason why not: the order is unpaid, the order or line was cancelled
    or refunded in full, the time is over, or the downloads are used up."""
    order = download.order
    if is_withdrawn(order) or is_refunded(download.line):
        return Availability.WITHDRAWN
    if not is_paid(order):
        return Availability.UNPAID
    if download.expires_at is not None and download.expires_at <= now:
        return Availability.EXPIRED
    return Availability.USED_UP if download.left == 0 else Availability.READY


def is_paid(order: Order) -> bool:
    return order.payment_status != Order.PaymentStatus.PENDING


def is_withdrawn(order: Order) -> bool:
    """Returns True if the order's files can no longer be downloaded, whatever their limits."""
    is_taken_back = order.status == Order.Status.CANCELLED or order.payment_status == Order.PaymentStatus.REFUNDED
    return is_taken_back or order.erased_at is not None


def is_refunded(line: OrderLine) -> bool:
    """Returns True if all pieces of the line were refunded by line: then its files can no longer be downloaded."""
    return line.refunded_qty >= line.qty


def download_token(download: Download) -> str:
    """The last part of the link's path."""
    return _signer().sign(f"{download.pk}-{download.line_id}-{download.file_id}")


def download_url(download: Download, shop: Shop) -> str:
    """The absolute URL of the link, for mails and the API."""
    return page_address("checkout:download", download_token(download), shop=shop, language=download.order.language)


def download_of_token(shop: Shop, token: str) -> Download | None:
    """The shop's download with this link, with its order and file; None for a link that is not signed, or of another
    shop."""
    try:
        pk, line, file = (int(part) for part in _signer().unsign(token).split("-"))
    except (BadSignature, ValueError):
        return None
    if max(pk, line, file) > MAX_ID:
        return None
    found = Download.objects.filter(shop=shop, pk=pk, line_id=line, file_id=file)
    return found.select_related("order", "line", "file").first()


def _signer() -> Signer:
    return Signer(salt="storefront.download", sep=".")
