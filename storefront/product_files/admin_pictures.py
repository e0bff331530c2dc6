"""Shows the pictures of an import on its page."""

from typing import Any

from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
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

    @display(description=_lazy("pictures"))
    def pictures_shown(self, row: ProductImport) -> str:
        progress = queries.progress_of_import(row.shop, row.pk)
        if not row.fetch_pictures:
            return _("Left at their addresses")
        if not progress.total:
            return _("None to fetch")
        text = _("%(fetched)s of %(total)s fetched") % {
            "fetched": format_count(progress.fetched),
            "total": format_count(progress.total),
        }
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
            "<p>{}</p>{}{}",
            _("%(fetched)s, %(count)s failed") % {"fetched": text, "count": format_count(progress.failed)},
            table(lines, [_("Product"), _("Address"), _("Reason")]),
            format_html(_("<p>{count} more.</p>"), count=format_count(more)) if more > 0 else "",
        )

    @deed(
        _lazy("Try failed pictures again"),
        Right.IMPORT_PRODUCTS,
        Moves.NOTHING,
        icon="refresh",
        url_path="pictures",
        when=has_failed,
    )
    @asks(_lazy("Try failed pictures again?"), _lazy("The worker fetches them once more."), _lazy("Try again"))
    def retry_pictures(self, request: Any, row: Any, form: Any) -> str:
        count = retry_failed(
            shop=request.shop,
            product_import=row.pk,
            audit_object=audit.Object("import", row.pk, row.file_name),
            now=request.now,
        )
        return _("The worker fetches %(count)s pictures again.") % {"count": format_count(count)}
