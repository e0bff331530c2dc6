"""Adds payments, abandoned checkouts and a new shop's first steps to the admin's start page."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _

from storefront.catalogue.models import Product
from storefront.checkout.jobs import KEPT_FOR
from storefront.checkout.models import Checkout
from storefront.content.models import Looks, LooksVersion, Page
from storefront.content.sections import shows_demo_pictures
from storefront.documents.models import InvoiceSettings
from storefront.kit.format import format_count
from storefront.orders import dashboard
from storefront.orders.models import Order
from storefront.payments.models import Payment, ProviderAccount
from storefront.pricing.models import PickupPlace, ShippingRate, TaxRate
from storefront.shops.models import Shop
from storefront.shops.rights import Right
from storefront.staff import doors

# For how long after its last change a payment that needs attention is mentioned.
MENTIONED_FOR = timedelta(days=14)
MAX_PAYMENTS = 5
# A shop with this many orders is not shown first steps.
ORDERS_OF_A_RUNNING_SHOP = 10
NEEDED_PAGES = {Page.Kind.IMPRINT, Page.Kind.TERMS, Page.Kind.PRIVACY}


def show(request: Any, context: dict[str, Any]) -> dict[str, Any]:
    """Add to the template context of the admin's start page what the user's role may see."""
    if Right.VIEW_PAYMENTS in request.rights:
        _warn_of_alerts(request)
    context = dashboard.show(request, context)
    if Right.SEE_FIGURES in request.rights:
        since, until = context["period"].span
        left = Checkout.objects.filter(shop=request.shop, order=None, abandoned_at__isnull=False)
        count = left.filter(updated_at__gte=since, updated_at__lt=until).count()
        is_cut = since < request.now - KEPT_FOR
        context["abandoned"] = format_count(count)
        context["abandoned_of"] = (
            _("of the last %(days)s days, which is how long they are kept") % {"days": KEPT_FOR.days} if is_cut else ""
        )
    if Right.MANAGE_SETTINGS in request.rights:
        context |= context_of(request.shop)
    return context


def _warn_of_alerts(request: Any) -> None:
    recent = Payment.objects.filter(shop=request.shop, updated_at__gt=request.now - MENTIONED_FOR).exclude(alert="")
    for payment in recent.order_by("-updated_at")[:MAX_PAYMENTS]:
        page = reverse("admin:payments_payment_change", args=[payment.pk])
        messages.warning(request, format_html('<a href="{}">A payment</a> needs attention: {}', page, payment.alert))


@dataclass(frozen=True)
class Step:
    text: str
    is_done: bool
    url: str


def first_steps(shop: Shop) -> list[Step]:
    """The steps of a new shop; empty once they are hidden or all done, and for a shop that runs."""
    if shop.steps_hidden_at is not None:
        return []
    orders = Order.objects.filter(shop=shop).values_list("pk", flat=True)[:ORDERS_OF_A_RUNNING_SHOP]
    count = len(orders)
    if count == ORDERS_OF_A_RUNNING_SHOP:
        return []
    steps = _steps(shop, has_orders=count > 0)
    return [] if all(step.is_done for step in steps) else steps


def _steps(shop: Shop, *, has_orders: bool) -> list[Step]:
    settings = reverse("admin:shops_shop_change", args=[shop.pk])
    has_delivery = any(model.objects.filter(shop=shop).exists() for model in (ShippingRate, PickupPlace))
    has_address = InvoiceSettings.objects.filter(shop=shop).exclude(address="").exists()
    address = _list("documents_invoicesettings") if shop.email else settings
    return [
        Step(_("Name and address"), bool(shop.email) and has_address, address),
        _look(shop),
        Step(_("Logo and colours"), Looks.objects.filter(shop=shop).exclude(logo="").exists(), _list("content_looks")),
        Step(_("Products"), has_products(shop), reverse("admin:catalogue_product_add")),
        Step(_("Delivery"), has_delivery, _list("pricing_shippingrate")),
        Step(_("Tax"), TaxRate.objects.filter(shop=shop).exists(), _list("pricing_taxrate")),
        Step(_("Payment"), _has_payment(shop), settings),
        Step(_("Imprint, terms and privacy"), _has_pages(shop), _list("content_page")),
        Step(_("A test order"), has_orders, shop.base_url),
        Step(_("Open the doors"), not doors.is_closed(shop), settings),
    ]


def _look(shop: Shop) -> Step:
    """A theme was chosen, or the looks were changed, and no demo picture is left."""
    looks = Looks.objects.filter(shop=shop).first()
    if looks and shows_demo_pictures(looks.sections):
        return Step(_("Your own pictures in place of the demo pictures"), False, _list("content_looks"))
    is_done = bool(looks and looks.logo) or LooksVersion.objects.filter(shop=shop).exists()
    return Step(_("Choose a look"), is_done, reverse("admin:content_looks_themes"))


def has_products(shop: Shop) -> bool:
    return Product.objects.filter(shop=shop, deleted_at=None).exists()


def _has_payment(shop: Shop) -> bool:
    """Returns True if shoppers can pay: by a provider that was set up, or by following the payment instructions."""
    has_words = "manual" in shop.payment_methods and bool(shop.manual_payment_instructions)
    return has_words or ProviderAccount.objects.filter(shop=shop, provider__in=shop.payment_methods).exists()


def _has_pages(shop: Shop) -> bool:
    kinds = Page.objects.filter(shop=shop, is_published=True, kind__in=NEEDED_PAGES).values_list("kind", flat=True)
    return set(kinds) == NEEDED_PAGES


def _list(page: str) -> str:
    return reverse(f"admin:{page}_changelist")


def context_of(shop: Shop) -> dict[str, Any]:
    """The template context of the start page."""
    steps = first_steps(shop)
    if not steps:
        return {}
    is_closed = doors.is_closed(shop)
    deed = {
        "path": reverse("admin:shops_shop_open_doors", args=[shop.pk]),
        "dialog": True,
        "title": _("Open the doors"),
    }
    hide = {
        "path": reverse("admin:shops_shop_hide_steps", args=[shop.pk]),
        "dialog": True,
        "title": _("Hide these steps"),
    }
    return {
        "first_steps": steps,
        "steps_done": sum(step.is_done for step in steps),
        "open_doors": deed if is_closed else None,
        "hide_steps": hide,
        "import_url": "" if has_products(shop) else reverse("admin:catalogue_productimport_add"),
    }
