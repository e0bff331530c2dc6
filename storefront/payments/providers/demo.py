"""A card form for demo shops. It never charges anybody."""

import calendar
import re
from datetime import date
from decimal import Decimal
from typing import ClassVar
from uuid import UUID

from django import forms
from django.core.validators import RegexValidator
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

from storefront.kit import clock
from storefront.payments.providers.base import (
    Charge,
    Done,
    PaymentDeclined,
    Provider,
    RefundReport,
    Report,
    Standing,
    Step,
)


def is_card_number(text: str) -> bool:
    """Whether the digits have a card number's length and pass the Luhn check."""
    if not re.fullmatch(r"[0-9]{12,19}", text):
        return False
    doubled = (int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(reversed(text)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


class CardForm(forms.Form):
    """A test card. Its data exist during one request only and are never rendered back into the page."""

    number = forms.CharField(
        label=_("Card number"),
        max_length=30,
        widget=forms.TextInput({"autocomplete": "cc-number", "inputmode": "numeric"}),
    )
    expiry = forms.CharField(
        label=_("Expiry date"),
        max_length=9,
        help_text=_("Month and year, such as 09/29."),
        widget=forms.TextInput({"autocomplete": "cc-exp", "inputmode": "numeric", "placeholder": _("MM/YY")}),
    )
    cvc = forms.CharField(
        label=_("Security code"),
        help_text=_("The three or four digits on the card."),
        validators=[RegexValidator(r"^[0-9]{3,4}$", _("Please enter the three or four digits."))],
        widget=forms.TextInput({"autocomplete": "cc-csc", "inputmode": "numeric", "maxlength": 4}),
    )
    # Shown below the fields.
    notice: ClassVar[str | Promise] = _(
        "We do not store card details. If something goes wrong, you will need to enter them again."
    )
    # The numbers that the demo knows, with what becomes of them.
    test_cards: ClassVar[dict[str, str | Promise]] = {
        "4242424242424242": _("pays"),
        "4000000000000002": _("is declined"),
        "4000000000009995": _("has no funds"),
    }

    def clean_number(self) -> str:
        number = re.sub(r"[ -]", "", self.cleaned_data["number"])
        if not is_card_number(number):
            raise forms.ValidationError(gettext("Please check the card number."))
        return number

    def clean_expiry(self) -> date:
        match = re.fullmatch(r"(0?[1-9]|1[0-2]) ?[/-]? ?(?:20)?([0-9]{2})", self.cleaned_data["expiry"])
        if not match:
            raise forms.ValidationError(gettext("Please enter month and year, such as 09/29."))
        month, year = int(match[1]), 2000 + int(match[2])
        last = date(year, month, calendar.monthrange(year, month)[1])
        if last < clock.now().date():
            raise forms.ValidationError(gettext("This card has expired."))
        return last


class Demo(Provider):
    """A provider that accepts or declines three test cards. It stores nothing, so its answers follow from its
    arguments: a payment that has a reference was accepted."""

    name = "demo"
    label = _("Card (demo)")
    hint = _("No real payment is made.")
    form = CardForm
    can_hold = True
    keeps_books = False
    is_for_demos = True

    PAYS = "4242424242424242"
    DECLINES: ClassVar[dict[str, str]] = {
        "4000000000000002": gettext_noop("The card was declined. Nothing was charged. Please try another card."),
        "4000000000009995": gettext_noop(
            "The card has insufficient funds. Nothing was charged. Please try another card."
        ),
    }

    @sensitive_variables("charge", "number")
    def start(self, charge: Charge) -> Step:
        number = charge.given.get("number", "")
        if number in self.DECLINES:
            raise PaymentDeclined(self.DECLINES[number])
        if number != self.PAYS:
            # A real card must not seem to work.
            raise PaymentDeclined(gettext_noop("The demo accepts only the test cards shown below."))
        return Done(Report(Standing.AUTHORISED, reference=f"demo_{charge.key.hex}"))

    def step(self, charge: Charge) -> Step:
        return Done(self.look(charge))

    def look(self, charge: Charge) -> Report:
        return Report(Standing.AUTHORISED if charge.reference else Standing.CANCELLED, reference=charge.reference)

    def capture(self, charge: Charge) -> Report:
        return Report(Standing.PAID, reference=charge.reference, captured=charge.amount)

    def cancel(self, charge: Charge) -> Report:
        return Report(Standing.CANCELLED, reference=charge.reference)

    def refund(self, charge: Charge, *, key: UUID, amount: Decimal) -> RefundReport:
        """No money moves. The id depends on the key alone, so that a repeated call returns the same."""
        return RefundReport(amount, f"demo_refund_{key}", key)
