"""What a shopper fills in. Each form names its fields to browsers, so that they can fill them in themselves."""

import calendar
import re
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django import forms
from django.core.validators import RegexValidator

from storefront.checkout.gateways import Card, Gateway, is_card_number
from storefront.checkout.models import Checkout
from storefront.checkout.queries import Delivery

# Countries whose post does without postal codes.
_WITHOUT_POSTAL_CODE = (
    "AE AG AO AW BF BI BJ BO BS BW BZ CD CF CG CI CK CM DJ DM ER FJ GA GD GH GM GQ GY HK JM KI KM KN KP "
    "LC ML MO MR MS MW NR NU PA QA RW SB SC SL SR ST SY TD TF TG TK TL TO TT TV UG VU YE ZW"
)
WITHOUT_POSTAL_CODE = frozenset(_WITHOUT_POSTAL_CODE.split())

NO_CONTROL_CHARACTERS = RegexValidator(
    re.compile(r"[\x00-\x1f\x7f]"), "Please leave out line breaks and control characters.", inverse_match=True
)


class CheckoutForm(forms.Form):
    """A form whose first field with an error is where the shopper goes on."""

    def full_clean(self) -> None:
        super().full_clean()
        first = next((name for name in self.fields if name in self.errors), None)
        if first:
            self.fields[first].widget.attrs["autofocus"] = True


class ContactForm(CheckoutForm):
    email = forms.EmailField(
        label="E-mail address",
        max_length=254,
        help_text="Your order confirmation goes here.",
        widget=forms.EmailInput({"autocomplete": "email"}),
    )
    phone = forms.CharField(
        label="Phone",
        required=False,
        max_length=40,
        validators=[RegexValidator(r"^[0-9+()/. x-]*$", "Please use digits, spaces and + ( ) / . - only.")],
        help_text="Only for questions about the delivery.",
        widget=forms.TextInput({"autocomplete": "tel", "type": "tel"}),
    )


class AddressForm(CheckoutForm):
    """An address. `section` is `shipping` or `billing`, as browsers know them; `home` the country chosen at first."""

    name = forms.CharField(label="Name", max_length=200)
    company = forms.CharField(label="Company", max_length=200, required=False)
    line1 = forms.CharField(label="Street and number", max_length=200)
    line2 = forms.CharField(label="Apartment, floor and the like", max_length=200, required=False)
    postal_code = forms.CharField(label="Postal code", max_length=20)
    city = forms.CharField(label="Town or city", max_length=100)
    region = forms.CharField(label="State or region", max_length=100, required=False)
    country = forms.ChoiceField(label="Country")

    AUTOCOMPLETE = {
        "name": "name",
        "company": "organization",
        "line1": "address-line1",
        "line2": "address-line2",
        "postal_code": "postal-code",
        "city": "address-level2",
        "region": "address-level1",
        "country": "country",
    }
    WIDE = ("name", "company", "line1", "line2")

    def __init__(self, *args: Any, section: str, countries: dict[str, str], home: str, **kwargs: Any) -> None:
        kwargs["prefix"] = section
        super().__init__(*args, **kwargs)
        for name, token in self.AUTOCOMPLETE.items():
            self.fields[name].widget.attrs["autocomplete"] = f"{section} {token}"
            if isinstance(self.fields[name], forms.CharField):
                self.fields[name].validators.append(NO_CONTROL_CHARACTERS)
        country = self.fields["country"]
        assert isinstance(country, forms.ChoiceField)
        pick = [] if len(countries) == 1 else [("", "Please choose")]
        country.choices = [*pick, *countries.items()]
        country.error_messages["invalid_choice"] = "The shop does not deliver there."
        if home in countries:
            country.initial = home
        if self.data.get(self.add_prefix("country")) in WITHOUT_POSTAL_CODE:
            self.fields["postal_code"].required = False


class BillingChoiceForm(CheckoutForm):
    same = forms.BooleanField(
        label="The billing address is the same as the delivery address", required=False, initial=True
    )


class Details:
    """The first page of the checkout: contact, where it goes, and who pays, checked together.

    Where nothing is delivered there is only the billing address.
    """

    def __init__(
        self,
        submitted: Any | None,
        *,
        checkout: Checkout | None,
        needs_delivery: bool,
        delivery_countries: dict[str, str],
        countries: dict[str, str],
        home: str,
    ) -> None:
        shipping = (checkout and checkout.shipping_address) or None
        billing = (checkout and checkout.billing_address) or None
        known = {"email": checkout.email, "phone": checkout.phone} if checkout else None
        self.needs_delivery = needs_delivery
        self.contact = ContactForm(submitted, initial=known)
        self.same = BillingChoiceForm(submitted, initial={"same": not billing})
        self.shipping = AddressForm(
            submitted, section="shipping", countries=delivery_countries, home=home, initial=shipping
        )
        self.asks_billing = not needs_delivery or submitted is None or "same" not in submitted
        # An address that is the same is not asked for, whatever a browser filled into its fields.
        self.billing = AddressForm(
            submitted if self.asks_billing else None,
            section="billing",
            countries=countries,
            home=home,
            initial=billing or (None if needs_delivery else shipping),
        )

    @property
    def asked(self) -> list[CheckoutForm]:
        forms: list[CheckoutForm] = [self.contact]
        if self.needs_delivery:
            forms += [self.shipping]
        return [*forms, self.billing] if self.asks_billing else forms

    def is_valid(self) -> bool:
        """Whether all that was asked for fits; otherwise the first field that does not gets the focus, and only it."""
        wrong = [form for form in self.asked if not form.is_valid()]
        for form in wrong[1:]:
            for field in form.fields.values():
                field.widget.attrs.pop("autofocus", None)
        return not wrong

    def cleaned(self) -> dict[str, Any]:
        """The arguments of `save_details`."""
        return {
            **self.contact.cleaned_data,
            "shipping_address": self.shipping.cleaned_data if self.needs_delivery else None,
            "billing_address": self.billing.cleaned_data if self.asks_billing else None,
        }


class DeliveryForm(CheckoutForm):
    """Which of the ways on offer. The plain way has no id and is named by a dash."""

    delivery = forms.ChoiceField(
        label="Delivery", error_messages={"required": "Please choose how your order is delivered."}
    )

    PLAIN = "-"

    def __init__(self, *args: Any, deliveries: list[Delivery], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["delivery"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(self.name_of(way), way.name) for way in deliveries]
        field.error_messages["invalid_choice"] = "This way of delivery is not on offer any more."

    @classmethod
    def name_of(cls, way: Delivery) -> str:
        return str(way.rate_id or cls.PLAIN)

    @property
    def rate_id(self) -> int | None:
        chosen = self.cleaned_data["delivery"]
        return None if chosen == self.PLAIN else int(chosen)


class PaymentForm(CheckoutForm):
    """How to pay, what was agreed to, and a word to the shop. `total` is the total that the page showed."""

    method = forms.ChoiceField(label="Payment", error_messages={"required": "Please choose how you pay."})
    note = forms.CharField(
        label="Note to the shop", required=False, max_length=1000, widget=forms.Textarea({"rows": 3})
    )
    checkout = forms.UUIDField(widget=forms.HiddenInput)
    total = forms.DecimalField(max_digits=14, decimal_places=2, min_value=Decimal(0), widget=forms.HiddenInput)

    def __init__(self, *args: Any, gateways: list[Gateway], is_free: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        method = self.fields["method"]
        assert isinstance(method, forms.ChoiceField)
        method.choices = [(gateway.name, gateway.label) for gateway in gateways]
        method.required = not is_free


class CardForm(CheckoutForm):
    """A card, for as long as one request lasts: what was typed is never written back into the page."""

    number = forms.CharField(
        label="Card number",
        max_length=30,
        widget=forms.TextInput({"autocomplete": "cc-number", "inputmode": "numeric"}),
    )
    expiry = forms.CharField(
        label="Expires",
        max_length=9,
        help_text="Month and year, such as 09/29.",
        widget=forms.TextInput({"autocomplete": "cc-exp", "inputmode": "numeric", "placeholder": "MM/YY"}),
    )
    cvc = forms.CharField(
        label="Security code",
        help_text="Three or four digits on the card.",
        validators=[RegexValidator(r"^[0-9]{3,4}$", "Please enter the three or four digits.")],
        widget=forms.TextInput({"autocomplete": "cc-csc", "inputmode": "numeric", "maxlength": 4}),
    )

    def __init__(self, *args: Any, now: datetime, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.today = now.date()

    def clean_number(self) -> str:
        number = re.sub(r"[ -]", "", self.cleaned_data["number"])
        if not is_card_number(number):
            raise forms.ValidationError("This is not a card number. Please check the digits.")
        return number

    def clean_expiry(self) -> date:
        match = re.fullmatch(r"(0?[1-9]|1[0-2]) ?[/-]? ?(?:20)?([0-9]{2})", self.cleaned_data["expiry"])
        if not match:
            raise forms.ValidationError("Please enter month and year, such as 09/29.")
        month, year = int(match[1]), 2000 + int(match[2])
        last = date(year, month, calendar.monthrange(year, month)[1])
        if last < self.today:
            raise forms.ValidationError("This card has expired.")
        return last

    @property
    def card(self) -> Card:
        return Card(**self.cleaned_data)

    def forget(self) -> None:
        """Drop what was typed, keeping what is wrong with it."""
        self.errors  # noqa: B018, what was typed is checked before it goes
        self.data = {}
