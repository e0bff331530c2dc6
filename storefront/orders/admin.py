from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext

from storefront.kit.format import format_time
from storefront.orders import actions, admin_page, timeline
from storefront.orders.admin_export import exported_orders
from storefront.orders.admin_forms import CancelFulfilmentForm, DownloadsForm, FulfilForm, OrderForm, WriteForm
from storefront.orders.admin_list import OrderLists
from storefront.orders.allowing import allow_downloads
from storefront.orders.desk_walk import LIST_VAR, neighbours
from storefront.orders.download_links import is_withdrawn
from storefront.orders.fulfilling import cancel_fulfilment, close_order, fulfil_order
from storefront.orders.models import Order, OrderMail
from storefront.orders.problems import problems_of
from storefront.orders.sending import waiting
from storefront.orders.sent_mails import write_to_customer
from storefront.shops.rights import Right
from storefront.staff.admin_base import redirect, refusals
from storefront.staff.admin_parts import PRIMARY, Moves, asks, chosen_deed, column, deed, layout, list_deed

# Entries of the timeline that are shown before the rest is opened.
SHOWN_HAPPENINGS = 5

# Actions that the template shows beside their subject; the others are at the top.
PLACED = {
    *("fulfil", "close", "cancel_fulfilment", "allow_downloads", "write", "mark_paid", "refund"),
    *("packing_slip", "issue_invoice", "correct_invoice"),
}


class OrderAdmin(OrderLists):
    """Orders. Their page has its own template: only note and tags can be edited; everything else changes by forms and
    dialogs. Actions without a place in the template are at the top.

    `payments/admin.py` adds payments and refunds to this class. `documents/admin.py` adds documents, and registers it.
    """

    icon = "receipt_long"
    empty_text = _lazy("Orders are listed here as soon as they are placed.")
    form = OrderForm
    change_form_template = "orders/admin/order.html"
    rights = {"view": Right.VIEW_ORDERS, "change": Right.ANNOTATE_ORDERS}
    moves = Moves.NOTHING
    saves_views = Right.ANNOTATE_ORDERS
    fieldsets: Any = layout("note tags")

    def save_model(self, request: Any, obj: Order, form: Any, change: bool) -> None:
        changes = {name: getattr(obj, name) for name in form.changed_data}
        actions.annotate_order(shop=request.shop, order=obj, changes=changes, now=request.now)

    def get_object(self, request: Any, object_id: str, from_field: str | None = None) -> Order | None:
        """The order, read once in a request."""
        read = request.__dict__.setdefault("orders_read", {})
        if object_id not in read or request.method != "GET":
            read[object_id] = super().get_object(request, object_id, from_field)
        return read[object_id]

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Only the actions that are possible in the order's current state."""
        order = self.get_object(request, str(object_id))
        possible = self.possible_actions(order) if order else set()
        offered = super().get_actions_detail(request, object_id)
        return [each for each in offered if self.deed_of(each) in possible]

    def possible_actions(self, order: Order) -> set[str]:
        possible = {"print_page"} if order.erased_at else {"write", "print_page"}
        if order.status == Order.Status.OPEN and waiting(list(order.lines.all())):
            possible.add("fulfil")
            if order.fulfilment_status == Order.FulfilmentStatus.PARTIALLY_FULFILLED:
                possible.add("close")
        # An erased order has no address to send anything to.
        if order.erased_at is None and order.fulfilments.filter(cancelled_at=None).exists():
            possible.add("cancel_fulfilment")
        if not is_withdrawn(order) and order.downloads.exists():
            possible.add("allow_downloads")
        return possible

    def render_change_form(self, request: Any, context: Any, *args: Any, obj: Any = None, **kwargs: Any) -> Any:
        if obj is not None:
            # URLs by name of the action, for the template, since the theme's header shows none of them.
            urls = {getattr(getattr(self, name), "url_path", name): name for name in self.actions_detail}
            offered = context.get("actions_detail") or []
            context["deeds"] = {urls[each["path"].rstrip("/").rpartition("/")[2]]: each for each in offered}
            context |= self.walk(request, obj)
            for each in offered:
                each["path"] += context["kept"]
            if "print_page" in context["deeds"]:
                context["deeds"]["print_page"]["key"] = "p"
            context["other_deeds"] = [each for name, each in context["deeds"].items() if name not in PLACED]
            context["actions_detail"] = []
            context |= self.page_of(request, obj)
            context["mended"] = [(each, context["deeds"].get(each.deed)) for each in context["problems"]]
            context["may_see_products"] = Right.VIEW_PRODUCTS in request.rights
            context["may_see_customers"] = Right.VIEW_CUSTOMERS in request.rights
            happened = timeline.as_shown(context["happened"], request.shop)
            context["happened"], context["happened_before"] = happened[:SHOWN_HAPPENINGS], happened[SHOWN_HAPPENINGS:]
            if "fulfil" in context["deeds"]:
                context["fulfil_form"] = FulfilForm(request, obj.pk)
        return super().render_change_form(request, context, *args, obj=obj, **kwargs)

    def walk(self, request: Any, order: Order) -> dict[str, str]:
        """The addresses of the list that the order was opened from, and of the orders before and after it there."""
        before, after = neighbours(self, request, order)
        kept = f"?{filters}" if (filters := self.get_preserved_filters(request)) else ""
        listed = f"?{query}" if (query := request.GET.get(LIST_VAR, "")) else ""
        pages = {"before": before, "after": after}
        return {name: reverse("admin:orders_order_change", args=[pk]) + kept for name, pk in pages.items() if pk} | {
            "kept": kept,
            "back_to_list": reverse("admin:orders_order_changelist") + listed,
        }

    def back_to(self, request: Any, row: Any) -> HttpResponse:
        """The order's page, which still knows the list that it was opened from."""
        kept = self.get_preserved_filters(request)
        if row is None or not kept:
            return super().back_to(request, row)
        return redirect(request, f"{reverse('admin:orders_order_change', args=[row.pk])}?{kept}")

    def page_of(self, request: Any, order: Order) -> dict[str, Any]:
        """The context of the order's page and its print view. `sums` are amounts, `happened` is the timeline,
        unsorted."""
        shop, order.shop = request.shop, request.shop
        fulfilments = list(order.fulfilments.prefetch_related("lines__line"))
        lines, mails = list(order.lines.all()), list(OrderMail.objects.filter(shop=shop, order=order))
        log = timeline.log_of(shop, order)
        return {
            "order": order,
            "shop": shop,
            "placed": format_time(order.placed_at, shop.timezone),
            "cancelled": format_time(order.cancelled_at, shop.timezone),
            "badges": admin_page.badges(order),
            "lines": admin_page.lines_of(shop, order, lines),
            "sums": admin_page.sums_of(order),
            "people": admin_page.people_of(shop, order),
            "source": admin_page.source_of(order),
            "downloads": admin_page.downloads_of(shop, order.downloads.all()),
            "fulfilments": admin_page.fulfilments_of(shop, order, fulfilments),
            "log": log,
            "problems": problems_of(shop, order, lines, mails, request.now),
            "happened": timeline.happenings(order, fulfilments, mails, log),
        }

    @deed(_lazy("Mark as fulfilled"), Right.FULFIL_ORDERS, Moves.NOTHING, icon="local_shipping", variant=PRIMARY)
    @asks(
        _lazy("Mark as fulfilled?"),
        _lazy("Choose how many of each item are sent together. The customer gets an email that lists them."),
        _lazy("Mark as fulfilled"),
        FulfilForm,
    )
    def fulfil(self, request: Any, order: Any, form: Any) -> Any:
        return self.perform(request, order, fulfil_order, _("Marked as fulfilled."), **form.given)

    @deed(_lazy("Leave the rest unsent"), Right.FULFIL_ORDERS, Moves.NOTHING, icon="block")
    @asks(
        _lazy("Leave the rest of this order unsent?"),
        _lazy(
            "What was not sent goes back into stock, and the order counts as sent. This refunds nothing, and the"
            " customer gets no email."
        ),
        _lazy("Leave the rest unsent"),
    )
    def close(self, request: Any, order: Any, form: Any) -> Any:
        return self.perform(request, order, close_order, _("The rest will not be sent."))

    @deed(_lazy("Cancel a fulfilment"), Right.FULFIL_ORDERS, Moves.NOTHING, icon="undo")
    @asks(
        _lazy("Cancel a fulfilment?"),
        _lazy("Its items then need to be fulfilled again. The customer gets no email."),
        _lazy("Cancel fulfilment"),
        CancelFulfilmentForm,
    )
    def cancel_fulfilment(self, request: Any, order: Any, form: Any) -> Any:
        chosen = form.cleaned_data["fulfilment"]
        return self.perform(request, order, cancel_fulfilment, _("Fulfilment cancelled."), fulfilment_id=chosen)

    @deed(_lazy("Allow downloads again"), Right.FULFIL_ORDERS, Moves.NOTHING, icon="download")
    @asks(
        _lazy("Allow downloads again?"),
        _lazy("The files can then be downloaded again, as often and for as long as after the payment."),
        _lazy("Allow again"),
        DownloadsForm,
    )
    def allow_downloads(self, request: Any, order: Any, form: Any) -> Any:
        ids = form.cleaned_data["files"]
        return self.perform(request, order, allow_downloads, _("Downloads allowed again."), ids=ids)

    @deed(_lazy("Write to the customer"), Right.WRITE_TO_CUSTOMERS, Moves.MONEY, icon="mail")
    @asks(
        _lazy("Write to the customer"),
        _lazy("Sent as an email from the shop, with a link to the order. The order's timeline keeps it."),
        _lazy("Send email"),
        WriteForm,
    )
    def write(self, request: Any, order: Any, form: Any) -> Any:
        return self.perform(request, order, write_to_customer, _("The email is on its way."), **form.given)

    @deed(_lazy("Print"), Right.VIEW_ORDERS, Moves.NOTHING, icon="print", url_path="print")
    def print_page(self, request: Any, order: Any) -> Any:
        """A printable page of the order for the shop's own use."""
        return TemplateResponse(request, "orders/admin/print.html", self.page_of(request, order))

    @list_deed(_lazy("Export CSV"), Right.EXPORT_SALES, Moves.PERSONAL_DATA, icon="download", url_path="export.csv")
    def export_csv(self, request: Any) -> Any:
        """Export the orders that the list shows with its filters and search."""
        return exported_orders(request, self.listed(request))

    def perform(self, request: Any, order: Order, change: Any, text: str, **given: Any) -> HttpResponse:
        change(shop=request.shop, order=order, now=request.now, **given)
        return self.done(request, order, text)

    @chosen_deed(_lazy("Mark as fulfilled"), Right.FULFIL_ORDERS, Moves.NOTHING)
    def fulfil_chosen(self, request: Any, queryset: QuerySet) -> Any:
        """Fulfil each order on its own, so that a refused one does not block the others."""
        orders = list(queryset)
        refused = refusals(orders, lambda order: fulfil_order(shop=request.shop, order=order, now=request.now))
        if count := len(orders) - len(refused):
            text = ngettext("1 order was marked as fulfilled.", "%(count)d orders were marked as fulfilled.", count)
            self.message_user(request, text % {"count": count}, messages.SUCCESS)
        if refused:
            self.message_user(
                request, _("Not fulfilled: %(reasons)s") % {"reasons": " ".join(refused)}, messages.WARNING
            )

    order = column(_lazy("order"), lambda row: f"#{row.number}", by="number")
