"""The payment methods of a shop for one basket: which can be used, with what they take, and why others cannot."""

from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _

from storefront.kit.format import format_money
from storefront.kit.money import ZERO
from storefront.payments.accounts import offered_providers
from storefront.payments.providers.base import Provider
from storefront.payments.providers.registry import PROVIDERS
from storefront.pricing.rules import Totals
from storefront.shops.models import Shop

NOT_SET_UP = "not_set_up"
OTHER_CURRENCY = "currency_not_supported"
BELOW_MINIMUM = "below_minimum"


@dataclass(frozen=True, slots=True)
class PaymentMethod:
    """A payment method of the shop for one basket.

    `minimum` is the least that it takes, zero for any amount. `amount_due` is what is paid with it: more than with
    another one where gift cards have to leave the minimum. `reason` is why it cannot be used, one of those above, and
    `message` is the text for the shopper; both are empty if it can be used.
    """

    provider: Provider
    minimum: Decimal
    amount_due: Decimal
    reason: str = ""
    message: str = ""

    @property
    def usable(self) -> bool:
        return not self.reason


def payment_methods(shop: Shop, totals: Totals) -> list[PaymentMethod]:
    """The methods that the shop has chosen, in its order, for a basket with these totals. At most one query."""
    offered, methods = offered_providers(shop), []
    for name in shop.payment_methods:
        provider = PROVIDERS.get(name)
        if provider in offered:
            methods.append(_method(shop, totals, provider))
        elif provider is not None and provider.settings_form is not None:
            text = _("The shop has not finished setting this up.")
            minimum = provider.minimum(shop.currency) or ZERO
            methods.append(PaymentMethod(provider, minimum, totals.amount_due, NOT_SET_UP, text))
    return methods


def with_minimum(shop: Shop, totals: Totals) -> Totals:
    """The totals with gift cards that leave enough to pay for one of the shop's methods: the one that takes the least.
    At most one query, and none unless gift cards leave something."""
    if not totals.gift_cards or not totals.amount_due:
        return totals
    minimums = [method.minimum for method in payment_methods(shop, totals) if method.usable]
    return totals.leaving(min(minimums, default=ZERO))


def paid_with(provider: Provider | None, totals: Totals, currency: str) -> Totals:
    """The totals as they are paid with this provider: gift cards leave its minimum."""
    return totals.leaving((provider.minimum(currency) if provider else None) or ZERO)


def _method(shop: Shop, totals: Totals, provider: Provider) -> PaymentMethod:
    minimum = provider.minimum(shop.currency)
    if minimum is None:
        text = _("Not available for payments in %(currency)s.") % {"currency": shop.currency}
        return PaymentMethod(provider, ZERO, totals.amount_due, OTHER_CURRENCY, text)
    due = totals.leaving(minimum).amount_due
    if ZERO < due < minimum:
        text = _("Only for payments of %(amount)s or more.") % {"amount": format_money(minimum, shop.currency)}
        return PaymentMethod(provider, minimum, due, BELOW_MINIMUM, text)
    return PaymentMethod(provider, minimum, due)
