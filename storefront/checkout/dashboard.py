"""Adds a new shop's first steps and abandoned checkouts to the admin's start page."""

from typing import Any

from storefront.checkout import first_steps
from storefront.checkout.jobs import KEPT_FOR
from storefront.checkout.models import Checkout
from storefront.kit.format import format_count
from storefront.payments import dashboard
from storefront.shops.rights import Right


def show(request: Any, context: dict[str, Any]) -> dict[str, Any]:
    """Add to the template context of the admin's start page what the user's role may see."""
    context = dashboard.show(request, context)
    if Right.SEE_FIGURES in request.rights:
        since, until = context["period"].span
        left = Checkout.objects.filter(shop=request.shop, order=None, abandoned_at__isnull=False)
        count = left.filter(updated_at__gte=since, updated_at__lt=until).count()
        is_cut = since < request.now - KEPT_FOR
        context["abandoned"] = format_count(count)
        context["abandoned_of"] = f"of the last {KEPT_FOR.days} days, which is how long they are kept" if is_cut else ""
    if Right.MANAGE_SETTINGS in request.rights:
        context |= first_steps.context_of(request.shop)
    return context
