"""Sentences for the shop about its payments, which are stored in English, and shown in the language of whoever reads
them."""

import re
from functools import cache

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop as _noop

NO_SENSE = _noop("The provider's answer makes no sense.")
ANOTHER_PAYMENT = _noop("The provider answered about another payment, %(reference)s.")
TOOK_MORE = _noop("The provider took %(captured)s, more than the %(amount)s that were asked for.")
TOOK_LESS = _noop("The provider took %(captured)s of the %(amount)s that were asked for.")
GAVE_MORE = _noop("The provider says that more was given back than was taken.")
OTHER_CURRENCY = _noop("The provider has the payment in %(found)s, not in %(currency)s.")
OTHER_AMOUNT = _noop("The provider has another amount than the %(amount)s that were asked for.")
TOOK_NOTHING = _noop("The provider says that the payment is paid, and that nothing was taken.")
GAVE_OTHER = _noop("The provider gave back another amount than was asked for.")
NO_ORDER = _noop("There is no order for this money, and it could not be given back. Please refund it at the provider.")
CANCELLED_MEANWHILE = _noop("The money was taken when the order had been cancelled.")
TOO_LATE = _noop("The payment came after the order could no longer be placed.")
NOT_GIVEN_BACK = _noop("The provider could not give the money back.")
# Sentences with values, which are stored with them.
WITH_VALUES = (ANOTHER_PAYMENT, TOOK_MORE, TOOK_LESS, OTHER_CURRENCY, OTHER_AMOUNT)


def worded(text: str) -> str:
    """A stored sentence in the active language. What a person or a provider wrote stays as it is."""
    for sentence in WITH_VALUES:
        if found := _pattern(sentence).fullmatch(text):
            return _(sentence) % found.groupdict()
    return _(text) if text else ""


@cache
def _pattern(sentence: str) -> re.Pattern[str]:
    parts = re.split(r"%\((\w+)\)s", sentence)
    return re.compile("".join(f"(?P<{part}>.+)" if at % 2 else re.escape(part) for at, part in enumerate(parts)))
