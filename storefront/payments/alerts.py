"""Sentences for the shop about its payments, which are stored in English, and shown in the language of whoever reads
them."""

import re
from decimal import Decimal
from functools import cache

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop as _noop

from storefront.kit.format import format_number

NO_SENSE = _noop("The provider's answer could not be understood.")
ANOTHER_PAYMENT = _noop("The provider answered about another payment, %(reference)s.")
TOOK_MORE = _noop("The provider charged %(captured)s, more than the %(amount)s requested.")
TOOK_LESS = _noop("The provider charged %(captured)s of the %(amount)s requested.")
GAVE_MORE = _noop("The provider reports that more was refunded than was charged.")
OTHER_CURRENCY = _noop("The provider has the payment in %(found)s, not in %(currency)s.")
OTHER_AMOUNT = _noop("The provider has a different amount from the %(amount)s requested.")
TOOK_NOTHING = _noop("The provider reports that the payment is paid, but that nothing was charged.")
GAVE_OTHER = _noop("The provider refunded a different amount from the one requested.")
NO_ORDER = _noop("There is no order for this payment, and it could not be refunded. Please refund it at the provider.")
CANCELLED_MEANWHILE = _noop("The payment was taken after the order had been cancelled.")
TOO_LATE = _noop("The payment came after the order could no longer be placed.")
NOT_GIVEN_BACK = _noop("The provider could not refund the money.")
ONLY_IN_DEMOS = _noop("Only demo shops take demo payments.")
STRIPE_NOT_IN = _noop("Payments in %(currency)s through Stripe are not supported.")
STRIPE_FRACTIONS = _noop("Stripe charges no fractions of %(currency)s, so it cannot charge %(amount)s.")
STRIPE_KEY = _noop("Stripe does not accept the secret key.")
STRIPE_RIGHTS = _noop("The secret key may not do this. A restricted key needs more permissions.")
STRIPE_REFUSED = _noop("Stripe refused the call: %(reason)s")
STRIPE_SEEN = _noop("Stripe has seen this call before, with other contents.")
# Sentences with values, which are stored with them.
WITH_VALUES = (
    *(ANOTHER_PAYMENT, TOOK_MORE, TOOK_LESS, OTHER_CURRENCY, OTHER_AMOUNT),
    *(STRIPE_NOT_IN, STRIPE_FRACTIONS, STRIPE_REFUSED),
)
# Values that are amounts, stored as `1234.50`.
AMOUNTS = ("captured", "amount")


def worded(text: str) -> str:
    """A stored sentence in the active language, with amounts as they are written there. What a person or a provider
    wrote stays as it is."""
    for sentence in WITH_VALUES:
        if found := _pattern(sentence).fullmatch(text):
            values = found.groupdict()
            amounts = {name: format_number(Decimal(values[name])) for name in AMOUNTS if name in values}
            return _(sentence) % {**values, **amounts}
    return _(text) if text else ""


@cache
def _pattern(sentence: str) -> re.Pattern[str]:
    parts = re.split(r"%\((\w+)\)s", sentence)
    values = {part: r"-?\d+(\.\d+)?" if part in AMOUNTS else ".+" for part in parts[1::2]}
    return re.compile(
        "".join(f"(?P<{part}>{values[part]})" if at % 2 else re.escape(part) for at, part in enumerate(parts))
    )
