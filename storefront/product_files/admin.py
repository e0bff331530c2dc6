import csv
import io
import tempfile
from collections import Counter
from datetime import datetime
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import pgettext_lazy
from unfold.decorators import display

from storefront import audit
from storefront.catalogue.admin_pages.imported import ImportFilter, products_of
from storefront.kit.files.spreadsheets import escape_formula
from storefront.kit.files.uploads import too_large
from storefront.kit.format import format_count
from storefront.product_files import jobs
from storefront.product_files.admin_decisions import DecisionsOnImport
from storefront.product_files.admin_mapping import MappingOfImport
from storefront.product_files.admin_pictures import PicturesOfImport
from storefront.product_files.csv_reading import UnreadableFile
from storefront.product_files.deciding import check_asking
from storefront.product_files.exporting import export_products, record_export
from storefront.product_files.losses import Losses, sentences
from storefront.product_files.models import ProductImport
from storefront.product_files.parsed_products import REPORT_COLUMNS, Problem, report_row
from storefront.product_files.sources import checked_name, source_names
from storefront.shops.models import Shop
from storefront.shops.rights import Right
from storefront.shops.task_quota import check_tasks
from storefront.staff.admin_base import ShopScopedAdmin, check_own_site
from storefront.staff.admin_forms import ShopScopedForm
from storefront.staff.admin_parts import Moves, badge, column, deed, link, list_deed, moment, person, table

STATE_COLOURS = {
    "waiting": "info",
    "running": "info",
    "unmapped": "warning",
    "asking": "warning",
    "done": "success",
    "failed": "danger",
    "declined": "info",
    "undoing": "info",
    "undone": "info",
}
SHOWN_PROBLEMS = 200
SHOWN_PRODUCTS = 5
# What an entry of a report is, in the language of whoever reads it.
SEVERITIES = {
    "error": pgettext_lazy("import report", "error"),
    "warning": pgettext_lazy("import report", "warning"),
    "note": pgettext_lazy("import report", "note"),
    "conflict": pgettext_lazy("import report", "conflict"),
    "skipped": pgettext_lazy("import report", "skipped"),
}


class ProductImportForm(ShopScopedForm):
    def clean_file(self) -> Any:
        file = self.cleaned_data.get("file")
        if not file:
            raise forms.ValidationError(_("Choose a file."))
        if file.size > settings.UPLOAD_BYTES:
            raise forms.ValidationError(too_large())
        return file

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The page of a finished import has no fields to fill in.
        if "source" in self.fields and (names := source_names(self.shop)):
            self.fields["source"].help_text = _("%(help)s So far: %(names)s.") % {
                "help": self.fields["source"].help_text,
                "names": ", ".join(names),
            }

    def clean_source(self) -> str:
        try:
            return checked_name(self.cleaned_data["source"])
        except UnreadableFile as refusal:
            raise forms.ValidationError(refusal.text) from None


@admin.register(ProductImport)
class ProductImportAdmin(DecisionsOnImport, MappingOfImport, PicturesOfImport, ShopScopedAdmin):
    """Uploads of product files, the progress of their imports, and the reports. Exports are actions of the list."""

    menu_title = _lazy("Import and export")
    icon = "upload_file"
    empty_text = _lazy(
        "Import your products from Shopify, WooCommerce, another program or a table of your own, CSV or Excel: choose"
        " the file, and see what would change before anything does."
    )
    form = ProductImportForm
    rights = {"view": Right.EXPORT_PRODUCTS, "add": Right.IMPORT_PRODUCTS}
    moves = Moves.NOTHING
    list_display = ["file_name", "state_shown", "result", "begun", "who"]
    list_select_related = ["shop", "user"]
    ordering = ["-created_at", "-id"]
    new_fields = ["file", "format", "source", "encoding", "update", "fetch_pictures", "dry_run"]
    opens_added = True
    save_text = _lazy("Import")
    exports = ["export_native", "export_woocommerce", "export_shopify"]
    actions_detail = ["confirm", "decline", "map_columns", "download_report", "retry_pictures", "undo_import"]
    actions_list = [{"title": _lazy("Export all products"), "icon": "download", "items": exports}]
    change_form_outer_before_template = "catalogue/admin/import_progress.html"

    begun = moment("created_at", _lazy("uploaded"))
    finished = moment("finished_at", _lazy("finished"))
    state_shown = badge("state", STATE_COLOURS)
    who = column(_lazy("by"), lambda row: person(row.user))

    @display(description=_lazy("result"))
    def result(self, row: ProductImport) -> str:
        if row.state == ProductImport.State.WAITING:
            return _("Waiting to start")
        if row.state == ProductImport.State.RUNNING:
            return _("%(percent)s%% of the file processed") % {"percent": row.percent}
        if row.state == ProductImport.State.DECLINED:
            return _("Nothing was imported")
        if row.needs_mapping:
            return _("Nothing imported so far: the file is of no known format, and its columns have to be mapped")
        counts = [
            (row.created, _("%(count)s created")),
            (row.updated, _("%(count)s updated")),
            (row.skipped, _("%(count)s skipped")),
            (row.failed, _("%(count)s failed")),
            *([(row.conflicts, _("%(count)s in conflict"))] if row.conflicts else []),
        ]
        text = ", ".join(text % {"count": format_count(count)} for count, text in counts)
        if row.state == ProductImport.State.ASKING:
            return _("Nothing is imported yet. It would be: %(text)s") % {"text": text}
        return _("Dry run, nothing changed: %(text)s") % {"text": text} if row.dry_run else text

    @display(description=_lazy("products"))
    def products_shown(self, row: ProductImport) -> str:
        """Links to the first products that were created or changed, and to the list of all of them."""
        found = list(products_of(row).order_by("-id").values_list("pk", "name")[: SHOWN_PRODUCTS + 1])
        links = [link("catalogue_product_change", *each) for each in found[:SHOWN_PRODUCTS]]
        everything = f"{reverse('admin:catalogue_product_changelist')}?{ImportFilter.parameter_name}={row.pk}"
        links.append(format_html('<a href="{}">{}</a>', everything, _("All products of this import")))
        return format_html_join("", '<p class="leading-relaxed">{}</p>', ((each,) for each in links))

    @display(description=_lazy("problems"))
    def problems_shown(self, row: ProductImport) -> str:
        """A table of the first problems; the file has all that were stored."""
        if not row.problems:
            return _("None")
        file = reverse("admin:catalogue_productimport_download_report", args=[row.pk])
        link_to_file = format_html('<p class="mb-2"><a href="{}">{}</a></p>', file, _("All of them as a file"))
        headings = [_("Line"), _("Key"), _("What"), _("Reason")]
        shown = link_to_file + table(_report_rows(row)[:SHOWN_PROBLEMS], headings)
        more = len(row.problems) - SHOWN_PROBLEMS
        return (
            shown
            if more <= 0
            else shown + format_html(_("<p>{count} more in the downloaded report.</p>"), count=format_count(more))
        )

    @display(description=_lazy("what would change"))
    def changes_shown(self, row: ProductImport) -> str:
        words = {"create": _("New"), "update": _("Changed")}
        return table((words.get(each["change"], ""), each["name"], ", ".join(each["fields"])) for each in row.changes)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        if obj is None:
            return super().get_fields(request)
        reason = ["reason"] if obj.reason else []
        has_run = obj.has_ended and not obj.dry_run and obj.state != ProductImport.State.DECLINED
        pictures = ["pictures_shown"] if has_run else []
        columns = ["mapping_shown"] if obj.mapping else []
        changes = ["changes_shown"] if obj.dry_run and obj.changes else []
        products = ["products_shown"] if has_run and products_of(obj).exists() else []
        source = ["source"] if obj.source else []
        parts = [*self.decision_fields(obj), *columns, *pictures, *changes, "begun", "finished", "who"]
        return ["file_name", *source, "state", *reason, "result", *products, "problems_shown", *parts]

    def save_model(self, request: Any, obj: ProductImport, form: Any, change: bool) -> None:
        check_tasks(shop=request.shop)
        check_asking(request.shop)
        obj.user, obj.file_name = request.user, str(obj.file.name)[-255:]
        super().save_model(request, obj, form, change)
        jobs.run_product_import.enqueue(request.shop.pk, obj.pk, audit.current_place())

    def log_addition(self, request: Any, obj: Any, message: Any) -> None:
        """Records nothing: the worker writes the import's one audit entry when it ends."""

    def history_of(self, row: ProductImport) -> audit.Object:
        return audit.Object("import", row.pk, row.file_name)

    @deed(_lazy("Download the report"), Right.EXPORT_PRODUCTS, Moves.NOTHING, icon="download", url_path="report")
    def download_report(self, request: Any, row: Any) -> Any:
        response = HttpResponse(content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="import-{row.pk}.csv"'
        # With a BOM, spreadsheet programs read the file as UTF-8.
        response.write("\ufeff")
        lines = csv.writer(response)
        lines.writerow(REPORT_COLUMNS)
        # Reasons quote the uploaded file, so they can begin like a formula.
        lines.writerows(map(escape_formula, cells) for cells in _report_rows(row))
        return response

    def _export(self, request: Any, format: str) -> HttpResponseBase:
        check_own_site(request)
        file, lost = exported(request.shop, format, request.now)
        # Shown on the next page, since the answer is the file.
        for sentence in sentences(format, lost):
            self.message_user(request, sentence, messages.WARNING)
        return file

    @list_deed(_lazy("Native (JSON Lines), complete"), Right.EXPORT_PRODUCTS, Moves.NOTHING, url_path="export/native")
    def export_native(self, request: Any) -> Any:
        return self._export(request, "native")

    @list_deed(
        _lazy("WooCommerce CSV, what it can hold"), Right.EXPORT_PRODUCTS, Moves.NOTHING, url_path="export/woocommerce"
    )
    def export_woocommerce(self, request: Any) -> Any:
        return self._export(request, "woocommerce")

    @list_deed(_lazy("Shopify CSV, what it can hold"), Right.EXPORT_PRODUCTS, Moves.NOTHING, url_path="export/shopify")
    def export_shopify(self, request: Any) -> Any:
        return self._export(request, "shopify")


def _report_rows(row: ProductImport) -> list[tuple[str, str, str, str]]:
    rows = (report_row(Problem(**each)) for each in row.problems)
    return [(line, key, str(SEVERITIES.get(what, what)), reason) for line, key, what, reason in rows]


def exported(shop: Shop, format: str, now: datetime) -> tuple[FileResponse, Losses]:
    """All of the shop's products as a download, and what it does not hold. Written to disk first, so that an error does
    not send half a file."""
    lost: Losses = Counter()
    raw = tempfile.TemporaryFile()  # noqa: SIM115, the response closes it
    out = io.TextIOWrapper(raw, encoding="utf-8", newline="", write_through=True)
    count = export_products(shop=shop, format=format, out=out, lost=lost)
    record_export(shop=shop, format=format, products=count, lost=lost, now=now)
    out.detach()
    raw.seek(0)
    extension = "jsonl" if format == "native" else "csv"
    name = f"{shop.domain}-{format}-{shop.local_time(now):%Y-%m-%d}.{extension}"
    return FileResponse(raw, as_attachment=True, filename=name), lost
