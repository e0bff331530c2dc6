"""Adds payments to the admin's start page."""

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.urls import reverse
from django.utils.html import format_html

from storefront.orders import dashboard
from storefront.payments.models import Payment
from storefront.shops.rights import Right

# For how long after its last change a payment that needs attention is mentioned.
MENTIONED_FOR = timedelta(days=14)
MAX_PAYMENTS = 5


def show(request: Any, context: dict[str, Any]) -> dict[str, Any]:
    """Add to the template context of the admin's start page what the user's role may see."""
    if Right.VIEW_PAYMENTS in request.rights:
        _warn_of_alerts(request)
    return dashboard.show(request, context)


def _warn_of_alerts(request: Any) -> None:
    recent = Payment.objects.filter(shop=request.shop, updated_at__gt=request.now - MENTIONED_FOR).exclude(alert="")
    for payment in recent.order_by("-updated_at")[:MAX_PAYMENTS]:
        page = reverse("admin:payments_payment_change", args=[payment.pk])
        messages.warning(request, format_html('<a href="{}">A payment</a> needs attention: {}', page, payment.alert))
