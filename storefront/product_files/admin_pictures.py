"""Shows the pictures of an import on its page."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from unfold.decorators import action, display
from unfold.enums import ActionVariant

from storefront.kit.format import format_count
from storefront.pictures import queries
from storefront.pictures.requesting import retry_failed
from storefront.product_files.models import ProductImport
from storefront.shops import audit
from storefront.shops.admin_base import plain_dialog

SHOWN_FAILURES = 100


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
        lines = format_html_join(
            "",
            '<tr><td class="pr-4 py-1 align-top">{}</td><td class="pr-4 py-1 align-top break-all">{}</td>'
            '<td class="py-1">{}</td></tr>',
            ((each.media.product.name, each.media.source_url, each.reason) for each in failures),
        )
        more = progress.failed - len(failures)
        return format_html(
            '<p>{}, {} failed</p><table class="text-left"><thead><tr><th class="pr-4">Product</th>'
            '<th class="pr-4">Address</th><th>Reason</th></tr></thead><tbody>{}</tbody></table>{}',
            text,
            format_count(progress.failed),
            lines,
            format_html("<p>{} more.</p>", format_count(more)) if more > 0 else "",
        )

    def get_actions_detail(self: Any, request: HttpRequest, object_id: Any) -> list[Any]:
        """The button only where a picture failed."""
        offered = super().get_actions_detail(request, object_id)  # type: ignore[misc]
        row = self.get_object(request, str(object_id))
        if row and queries.failures_of_import(row.shop, row.pk, 1):
            return offered
        return [each for each in offered if not each.action_name.endswith("_retry_pictures")]

    @action(
        description="Try failed pictures again",
        icon="refresh",
        url_path="pictures",
        variant=ActionVariant.DEFAULT,
        dialog=plain_dialog("Try failed pictures again?", "The worker fetches them once more.", submit="Try again"),
    )
    def retry_pictures(self: Any, request: Any, form: Any, object_id: str) -> HttpResponse:
        row = self.row_or_404(request, object_id)
        count = retry_failed(
            shop=request.shop,
            product_import=row.pk,
            audit_object=audit.Object("import", row.pk, row.file_name),
            now=request.now,
        )
        return self.done(request, row, f"The worker fetches {format_count(count)} pictures again.")
