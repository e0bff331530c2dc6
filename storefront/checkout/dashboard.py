"""Adds payments, abandoned checkouts and a new shop's first steps to the admin's start page."""

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _

from storefront.checkout.first_steps import first_steps, has_products, missing, open_doors_url
from storefront.checkout.jobs import KEPT_FOR
from storefront.checkout.models import Checkout
from storefront.kit.format import format_count
from storefront.orders import dashboard
from storefront.payments.models import Payment
from storefront.shops.models import Shop
from storefront.shops.rights import Right
from storefront.staff import doors

# For how long after its last change a payment that needs attention is mentioned.
MENTIONED_FOR = timedelta(days=14)
MAX_PAYMENTS = 5


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


def context_of(shop: Shop) -> dict[str, Any]:
    """The template context of the start page."""
    steps = first_steps(shop)
    if not steps:
        return {}
    is_closed = doors.is_closed(shop)
    hide = {
        "path": reverse("admin:shops_shop_hide_steps", args=[shop.pk]),
        "dialog": True,
        "title": _("Hide these steps"),
    }
    return {
        "first_steps": steps,
        "steps_done": sum(step.is_done for step in steps),
        "open_doors": open_doors_url(shop) if is_closed else "",
        "missing": missing(shop) if is_closed else [],
        "hide_steps": hide,
        "import_url": "" if has_products(shop) else reverse("admin:catalogue_productimport_add"),
    }
