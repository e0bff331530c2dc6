"""What customers bought, in the admin: columns of their list, a part of their page, and guests by their address."""

from typing import Any

from django.contrib.admin.views.main import ChangeList
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.customers.admin import CustomerAdmin
from storefront.customers.models import Customer
from storefront.customers.queries import customer_by_email, normal_email
from storefront.gift_cards.erasing import cards_of
from storefront.kit.format import format_count, format_day, format_money, format_time
from storefront.kit.ids import as_id
from storefront.orders import people
from storefront.orders.admin_page import badges
from storefront.orders.history import order_ids_of
from storefront.orders.models import Order, OrderMail
from storefront.orders.people import Bought
from storefront.orders.templatetags import order_text
from storefront.orders.timeline import MAILS
from storefront.shops.models import Shop
from storefront.shops.rights import Right
from storefront.staff.admin_base import redirect
from storefront.staff.admin_parts import Moves, column, own_page

GUESTS_PER_PAGE = 50
# Rows of each kind on a person's page. The list of orders finds all orders by the address.
MAX_SHOWN = 20


class CustomersWithOrders(ChangeList):
    """Reads what the customers of a page bought together, not row by row."""

    def get_results(self, request: Any) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)
        bought = people.bought_by(request.shop, self.result_list)
        for row in self.result_list:
            row.bought = bought.get(row.pk, Bought())


class CustomerWithOrdersAdmin(CustomerAdmin):
    """Customers with what they bought, and guests. `privacy/admin.py` adds a person's data, and registers it."""

    list_display = ["name_or_email", "email", "group", "order_count", "spent", "last_order", "since"]
    on_phone = ("name_or_email", "spent", "email", "order_count")
    named_on_phone = ("order_count",)

    order_count = column(_lazy("orders"), lambda row: format_count(row.bought.count))
    spent = column(_lazy("sum"), lambda row: sums_text(row.bought) or "–")
    last_order = column(_lazy("last order"), lambda row: format_day(row.bought.last, row.shop.timezone) or "–")
    bought = column(_lazy("orders"), lambda row: part_of_page(row.shop, row.email, row) if row.pk else _("None"))

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return CustomersWithOrders

    def tabs_of_list(self, request: Any, query: str) -> list[dict[str, Any]]:
        tabs = super().tabs_of_list(request, query)
        search = request.GET.get("q", "")
        url = reverse("admin:customers_customer_guests") + (f"?{urlencode({'q': search})}" if search else "")
        return [*tabs, {"title": _("Guests"), "url": url, "is_chosen": False, "query": ""}]

    @own_page("guests/", "view", Moves.NOTHING)
    def guests(self, request: Any) -> HttpResponse:
        """The guests, or the one with this address. A customer's address leads to the customer's page."""
        email = normal_email(request.GET.get("email", ""))
        return self.guest(request, email) if email else self.guest_list(request)

    def guest(self, request: Any, email: str) -> HttpResponse:
        if customer := customer_by_email(request.shop, email):
            return redirect(request, reverse("admin:customers_customer_change", args=[customer.pk]))
        part = part_of_page(request.shop, email)
        if not part:
            raise Http404
        erase = f"{reverse('admin:privacy_datarequest_add')}?{urlencode({'email': email})}"
        may_erase = Right.MANAGE_PERSONAL_DATA in request.rights
        context = {"title": email, "part": part, "erase_url": erase if may_erase else ""}
        return self.page(request, "orders/admin/guest.html", **context)

    def guest_list(self, request: Any) -> HttpResponse:
        shop, search = request.shop, request.GET.get("q", "").strip()
        found, end = people.guests_page(shop, search=search, after=_place(request), count=GUESTS_PER_PAGE)
        rows = [
            {
                "guest": guest,
                "url": f"?{urlencode({'email': guest.email})}",
                "count": format_count(guest.bought.count),
                "sum": sums_text(guest.bought) or "–",
                "last": format_day(guest.bought.last, shop.timezone),
            }
            for guest in found
        ]
        following = {"q": search, "after": f"{end[0].isoformat()}_{end[1]}"} if end else {}
        context = {
            "title": _("Guests"),
            "rows": rows,
            "search": search,
            "after": f"?{urlencode(following)}" if following else "",
        }
        return self.page(request, "orders/admin/guests.html", **context)


def _place(request: Any) -> people.Place | None:
    """The place behind which the page begins; the first page if the address names none."""
    moment, _sep, pk = request.GET.get("after", "").partition("_")
    try:
        at, id = parse_datetime(moment), as_id(pk)
    except ValueError:
        return None
    return (at, id) if at and at.tzinfo and id else None


def sums_text(bought: Bought) -> str:
    return " + ".join(format_money(spent, currency) for currency, spent in sorted(bought.sums.items()))


def part_of_page(shop: Shop, email: str, customer: Customer | None = None) -> SafeString | str:
    """What the shop has of this person: orders, sums, addresses, mails, gift cards. Empty without an order."""
    ids = order_ids_of(shop, email=email, customer=customer)
    if not ids:
        return _("None") if customer else ""
    orders = Order.objects.filter(shop=shop, pk__in=ids)
    shown = list(orders.order_by("-placed_at", "-pk")[:MAX_SHOWN])
    addresses = [
        tuple(order_text.address_lines(address))
        for order in shown
        for address in (order.shipping_address, order.billing_address)
        if address
    ]
    mails = OrderMail.objects.filter(shop=shop, order__in=ids).select_related("order").order_by("-pk")[:MAX_SHOWN]
    bought = people.bought_in(orders)
    context = {
        "count": bought.count,
        "sums": sums_text(bought) or format_money(people.ZERO, shop.currency),
        "orders": [
            {
                "row": order,
                "placed": format_time(order.placed_at, shop.timezone),
                "total": format_money(order.total, order.currency),
                "badges": badges(order),
            }
            for order in shown
        ],
        "more_url": f"{reverse('admin:orders_order_changelist')}?{urlencode({'q': email})}"
        if len(ids) > MAX_SHOWN
        else "",
        "addresses": list(dict.fromkeys(addresses)),
        "mails": [
            {
                "what": mail.subject or MAILS.get(mail.kind, _("Email")),
                "row": mail,
                "at": format_time(mail.sent_at or mail.failed_at or mail.created_at, shop.timezone),
            }
            for mail in mails
        ],
        "cards": [
            {"row": card, "balance": format_money(card.balance, card.currency)}
            for card in cards_of(shop, email, ids).order_by("-pk")[:MAX_SHOWN]
        ],
    }
    return render_to_string("orders/admin/_person.html", context)
