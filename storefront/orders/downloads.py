"""The downloads of order lines: copied from the product when the order is placed, opened when it is paid, counted at
each download, and allowed again by the shop.

Nothing is written when an order is cancelled or refunded: `download_links.availability` reads that from the order.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.db import transaction

from storefront.catalogue.digital_files import Sold, files_of
from storefront.catalogue.models import DigitalFile
from storefront.kit.api.ranges import Span
from storefront.orders import jobs
from storefront.orders.download_links import Availability, availability
from storefront.orders.models import Download, Order, OrderLine

# A request for a part of a file within this time after a download began belongs to that download, until more than
# RESUMED_SIZES times the file's size was sent. Otherwise one counted download could fetch the file many times, part by
# part.
RESUMED_WITHIN = timedelta(hours=1)
RESUMED_SIZES = 3
# More days than these count as no limit, since a date could not be that late.
MAX_DAYS = 36_500


def copy_files(*, order: Order, lines: Sequence[OrderLine]) -> None:
    """Copy to each line the files that its product or variant has now; a bundle has the files of its items."""
    files = files_of(order.shop, {sold for line in lines for sold in _sold(line)})
    if files:
        Download.objects.bulk_create(
            new_download(order, line, file) for line in lines for file in _without_repeats(line, files)
        )


def new_download(order: Order, line: OrderLine, file: DigitalFile, expires_at: datetime | None = None) -> Download:
    """Build a line's download of the file, not stored yet, with the current limits of the file's product."""
    return Download(
        shop=order.shop,
        order=order,
        line=line,
        file_id=file.file_id,
        name=file.name,
        max_downloads=file.product.max_downloads,
        expiry_days=file.product.download_expiry_days,
        expires_at=expires_at,
    )


def open_downloads(*, order: Order, now: datetime) -> None:
    """Start the time in which the order's files can be downloaded, and queue the mail with their links. Call it in the
    transaction in which the order becomes paid, before its record is made."""
    rows = list(order.downloads.all())
    start_time(rows, now)
    if rows:
        jobs.send_downloads_mail.enqueue(order.shop_id, order.pk)


def start_time(rows: Iterable[Download], now: datetime) -> None:
    """Start the time in which these files can be downloaded."""
    rows = [row for row in rows if row.expiry_days]
    for row in rows:
        row.expires_at = expiry(row.expiry_days, now)
    Download.objects.bulk_update(rows, ["expires_at"])


def expiry(days: int, start: datetime) -> datetime | None:
    """The time when a file expires that can be downloaded for this many days from `start`; None for 0 days: never."""
    return start + timedelta(days=days) if 0 < days <= MAX_DAYS else None


@transaction.atomic
def begin_download(*, download: Download, span: Span, now: datetime) -> Availability:
    """Count a download of this part of the file. Returns READY if it may be sent; otherwise the reason why not, and
    nothing is counted.

    Further parts of a download that began within RESUMED_WITHIN are not counted again. The row is locked, so concurrent
    requests never exceed the limit.
    """
    rows = Download.objects.select_for_update(of=("self",)).select_related("order", "line", "file")
    row = rows.get(shop=download.shop_id, pk=download.pk)
    found = availability(row, now)
    if found in (Availability.READY, Availability.USED_UP) and _is_resumed(row, span, now):
        row.sent += span.length
        row.save(update_fields=["sent"])
        return Availability.READY
    if found is Availability.READY:
        row.used, row.begun_at, row.sent = row.used + 1, now, span.length
        row.save(update_fields=["used", "begun_at", "sent"])
    return found


def _is_resumed(row: Download, span: Span, now: datetime) -> bool:
    is_recent = row.begun_at is not None and now - row.begun_at < RESUMED_WITHIN
    is_part = span.length < row.file.size
    return is_recent and is_part and row.sent + span.length <= RESUMED_SIZES * row.file.size


def _sold(line: OrderLine) -> list[Sold]:
    """The line's product or variant, and a bundle's items."""
    items = [(item["product_id"], item["variant_id"]) for item in line.bundle_items]
    return [(line.product_id, line.variant_id), *items] if line.product_id else items


def _without_repeats(line: OrderLine, files: dict[Sold, list[DigitalFile]]) -> Iterable[DigitalFile]:
    return {file.file_id: file for sold in _sold(line) for file in files.get(sold, [])}.values()
