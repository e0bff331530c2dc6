"""Documents in the admin: on an order's page, with the actions that issue them, and the list of all invoices and credit
notes."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.documents import issuing
from storefront.documents.admin_forms import CorrectionForm, InvoiceSettingsForm
from storefront.documents.admin_printing import MAX_AT_ONCE, TOO_MANY, OrderWithPrintQueueAdmin, cancelled, print_chosen
from storefront.documents.links import document_response, pdf_response
from storefront.documents.models import Document, InvoiceSettings
from storefront.documents.numbering import begin_series
from storefront.documents.queries import (
    current_invoice,
    documents_of,
    fulfilment_of,
    invoices_of,
    packing_slip,
    packing_slips,
    settings_of,
)
from storefront.kit.format import format_money, format_time
from storefront.kit.ids import as_id
from storefront.orders.models import Order
from storefront.orders.timeline import Happening
from storefront.shops.rights import Right
from storefront.staff.admin_base import OneRowAdmin, ReadOnlyAdmin
from storefront.staff.admin_parts import Moves, asks, chosen_deed, column, deed, layout, moment, money

__all__ = ["DocumentAdmin", "InvoiceSettingsAdmin", "OrderWithDocumentsAdmin"]


@admin.register(Document)
class DocumentAdmin(ReadOnlyAdmin):
    menu_title = _lazy("Invoices")
    icon = "description"
    empty_text = _lazy(
        "Invoices and credit notes are listed here. They are issued once you have filled in “Invoices” in the settings."
    )
    rights = {"view": Right.VIEW_ORDERS}
    list_display = ["number", "what", "order", "buyer", "sum", "issued"]
    list_select_related = ["shop", "order"]
    list_filter = ["kind"]
    search_fields = ["number", "order__number", "order__email"]
    ordering = ["-issued_at", "-id"]
    fields = readonly_fields = ["number", "what", "order", "credited", "buyer", "sum", "issued"]

    sum = money("amount", _lazy("amount"))
    issued = moment("issued_at", _lazy("issued"))
    what = column(_lazy("document"), lambda row: row.get_kind_display(), by="kind")
    credited = column(_lazy("credits"), lambda row: str(row.invoice or "–"))
    buyer = column(_lazy("customer"), lambda row: ", ".join(row.record["buyer"][:1]))

    @deed(_lazy("View PDF"), Right.VIEW_ORDERS, Moves.NOTHING, icon="picture_as_pdf", url_path="document.pdf")
    def pdf(self, request: Any, row: Any) -> Any:
        return document_response(row)

    @chosen_deed(_lazy("Download as one PDF"), Right.VIEW_ORDERS, Moves.PERSONAL_DATA)
    def pdf_of_chosen(self, request: Any, queryset: QuerySet) -> Any:
        found = list(queryset[: MAX_AT_ONCE + 1])
        if not found or len(found) > MAX_AT_ONCE:
            self.message_user(request, TOO_MANY if found else _("There is nothing to print."), messages.WARNING)
            return None
        return pdf_response([row.record for row in found], "documents.pdf")


@admin.register(Order)
class OrderWithDocumentsAdmin(OrderWithPrintQueueAdmin):
    """Orders, with their payments, documents and the print queue."""

    def possible_actions(self, order: Order) -> set[str]:
        possible = super().possible_actions(order)
        if order.status != Order.Status.CANCELLED:
            possible.add("packing_slip")
        seller = settings_of(order.shop)
        if seller is not None and seller.is_on:
            invoice = current_invoice(order.shop, order)
            if invoice is None and issuing.is_invoiceable(order):
                possible.add("issue_invoice")
            if invoice is not None and order.erased_at is None and issuing.left_to_credit(invoice):
                possible.add("correct_invoice")
        return possible

    def page_of(self, request: Any, order: Order) -> dict[str, Any]:
        page = super().page_of(request, order)
        documents = list(documents_of(request.shop, order))
        papers = [
            {
                "name": str(row),
                "url": reverse("admin:documents_document_pdf", args=[row.pk]),
                "amount": format_money(row.amount, row.currency),
                "issued": format_time(row.issued_at, request.shop.timezone),
            }
            for row in documents
        ]
        issued = [
            Happening(row.issued_at, _("%(document)s issued") % {"document": row}, icon="description", rank=4)
            for row in documents
        ]
        return page | {"papers": papers, "happened": [*page["happened"], *issued]}

    @deed(_lazy("Packing slip"), Right.VIEW_ORDERS, Moves.NOTHING, icon="inventory", url_path="packing-slip.pdf")
    def packing_slip(self, request: Any, order: Any) -> Any:
        """The packing slip; with `fulfilment`, of that fulfilment."""
        asked = request.GET.get("fulfilment")
        fulfilment = fulfilment_of(order, as_id(asked) or 0) if asked else None
        if asked and fulfilment is None:
            raise Http404
        record = packing_slip(request.shop, order, fulfilment, request.now)
        return pdf_response([record], f"packing-slip-{order.number}.pdf")

    @chosen_deed(_lazy("Print packing slips"), Right.VIEW_ORDERS, Moves.PERSONAL_DATA)
    def packing_slips_of_chosen(self, request: Any, queryset: QuerySet) -> Any:
        return print_chosen(
            self,
            request,
            queryset.prefetch_related("lines"),
            "packing_slips",
            cancelled,
            lambda orders: packing_slips(request.shop, orders, request.now),
        )

    @chosen_deed(_lazy("Print invoices"), Right.VIEW_ORDERS, Moves.PERSONAL_DATA)
    def invoices_of_chosen(self, request: Any, queryset: QuerySet) -> Any:
        rows = list(queryset[: MAX_AT_ONCE + 1])
        invoices = invoices_of(request.shop, rows)

        def refusal(order: Order) -> str:
            return "" if order.pk in invoices else _("has no invoice")

        return print_chosen(
            self, request, rows, "invoices", refusal, lambda orders: [invoices[order.pk].record for order in orders]
        )

    @deed(_lazy("Issue invoice"), Right.ISSUE_INVOICES, Moves.NOTHING, icon="receipt_long")
    @asks(
        _lazy("Issue the invoice?"),
        _lazy("This order was paid while the shop issued no invoices. The customer gets an email."),
        _lazy("Issue invoice"),
    )
    def issue_invoice(self, request: Any, order: Any, form: Any) -> Any:
        return self.perform(request, order, issuing.issue_invoice, _("Invoice issued."))

    @deed(_lazy("Correct invoice"), Right.ISSUE_INVOICES, Moves.NOTHING, icon="edit_document")
    @asks(
        _lazy("Correct the invoice?"),
        _lazy(
            "The invoice stays as it is. A credit note cancels it, and a new one is issued with this address and the "
            "seller's details from the settings. The customer gets an email about each."
        ),
        _lazy("Credit and reissue"),
        CorrectionForm,
    )
    def correct_invoice(self, request: Any, order: Any, form: Any) -> Any:
        buyer = form.cleaned_data["buyer"]
        return self.perform(request, order, issuing.correct_invoice, _("Corrected invoice issued."), buyer=buyer)


@admin.register(InvoiceSettings)
class InvoiceSettingsAdmin(OneRowAdmin):
    menu_title = _lazy("Invoices")
    form = InvoiceSettingsForm
    translated = ("registration", "bank", "footer")
    rights = {"view": Right.MANAGE_SETTINGS, "change": Right.MANAGE_SETTINGS}
    moves = Moves.MONEY
    fieldsets: Any = layout(
        "is_on",
        "Seller: legal_name address vat_id registration bank footer",
        "Numbers: invoice_prefix next_invoice credit_note_prefix next_credit_note",
    )

    def the_row(self, request: Any) -> InvoiceSettings:
        """Redirect to the form of the shop's settings, which the first visit creates."""
        return InvoiceSettings.objects.get_or_create(shop=request.shop)[0]

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        for field, prefix in form.chosen_numbers():
            begin_series(shop=request.shop, prefix=prefix, at=form.cleaned_data[field], now=request.now)
