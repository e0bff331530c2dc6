"""Shows the pictures of an import on its page."""

from typing import Any

from django.utils.html import format_html
from unfold.decorators import display

from storefront import audit
from storefront.kit.format import format_count
from storefront.pictures import queries
from storefront.pictures.requesting import retry_failed
from storefront.product_files.models import ProductImport
from storefront.shops.rights import Right
from storefront.staff.admin_parts import Moves, asks, deed, table

SHOWN_FAILURES = 100


def has_failed(row: ProductImport) -> bool:
    return bool(queries.failures_of_import(row.shop, row.pk, 1))


class PicturesOfImport:
    """Mixin of the imports' admin: how many pictures are fetched, why others are not, and a button to
    try those again."""

    @display(description="pictures")
    def pictures_shown(self, row: ProductImport) -> str:
        progress = queries.progress_of_import(row.shop, row.pk)
        if not row.fetch_pictures:
            return "Left at their addresses"
        if not progress.total:
            return "None to fetch"
        text = f"{format_count(progress.fetched)} of {format_count(progress.total)} fetched"
        if not progress.failed:
            return text
        failures = queries.failures_of_import(row.shop, row.pk, SHOWN_FAILURES)
        lines = (
            (
                each.media.product.name,
                format_html('<span class="break-all">{}</span>', each.media.source_url),
                each.reason,
            )
            for each in failures
        )
        more = progress.failed - len(failures)
        return format_html(
            "<p>{}, {} failed</p>{}{}",
            text,
            format_count(progress.failed),
            table(lines, ["Product", "Address", "Reason"]),
            format_html("<p>{} more.</p>", format_count(more)) if more > 0 else "",
        )

    @deed(
        "Try failed pictures again",
        Right.IMPORT_PRODUCTS,
        Moves.NOTHING,
        icon="refresh",
        url_path="pictures",
        when=has_failed,
    )
    @asks("Try failed pictures again?", "The worker fetches them once more.", "Try again")
    def retry_pictures(self, request: Any, row: Any, form: Any) -> str:
        count = retry_failed(
            shop=request.shop,
            product_import=row.pk,
            audit_object=audit.Object("import", row.pk, row.file_name),
            now=request.now,
        )
        return f"The worker fetches {format_count(count)} pictures again."
