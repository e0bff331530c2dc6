"""The checkout's forms. Their fields have `autocomplete` tokens, so that browsers can fill them in."""

from typing import Any

from django import forms
from django.core.validators import RegexValidator

from storefront.checkout.models import Checkout
from storefront.checkout.queries import Delivery
from storefront.kit.names import has_address, has_invisible_characters
from storefront.kit.selects import LongSelect

# Countries without postal codes.
_WITHOUT_POSTAL_CODE = (
    "AE AG AO AW BF BI BJ BO BS BW BZ CD CF CG CI CK CM DJ DM ER FJ GA GD GH GM GQ GY HK JM KI KM KN KP "
    "LC ML MO MR MS MW NR NU PA QA RW SB SC SL SR ST SY TD TF TG TK TL TO TT TV UG VU YE ZW"
)
WITHOUT_POSTAL_CODE = frozenset(_WITHOUT_POSTAL_CODE.split())


def no_control_characters(text: str) -> None:
    if has_invisible_characters(text):
        raise forms.ValidationError("Line breaks and control characters are not allowed.")


def persons_name(text: str) -> None:
    no_control_characters(text)
    if has_address(text):
        raise forms.ValidationError("Email and web addresses are not allowed here. Put a space after each full stop.")


class CheckoutForm(forms.Form):
    """A form that sets the focus to its first field with an error."""

    def full_clean(self) -> None:
        super().full_clean()
        focus_first_error(self)


class ContactForm(CheckoutForm):
    email = forms.EmailField(
        label="Email address",
        max_length=254,
        help_text="We will send your order confirmation to this address.",
        widget=forms.EmailInput({"autocomplete": "email"}),
    )
    phone = forms.CharField(
        label="Phone",
        required=False,
        max_length=40,
        validators=[RegexValidator(r"^[0-9+()/. x-]*$", "Use only digits, spaces and + ( ) / . -")],
        help_text="Only used if there are questions about your delivery.",
        widget=forms.TextInput({"autocomplete": "tel", "type": "tel"}),
    )


class AddressForm(CheckoutForm):
    """An address. `section` is `shipping` or `billing`, used in `autocomplete`; `home` is the preselected country."""

    name = forms.CharField(label="Name", max_length=200, validators=[persons_name])
    company = forms.CharField(label="Company", max_length=200, required=False)
    line1 = forms.CharField(label="Street and number", max_length=200)
    line2 = forms.CharField(label="Apartment, floor, etc.", max_length=200, required=False)
    postal_code = forms.CharField(label="Postal code", max_length=20)
    city = forms.CharField(label="Town or city", max_length=100)
    region = forms.CharField(label="State or region", max_length=100, required=False)
    country = forms.ChoiceField(label="Country", widget=LongSelect)

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
                self.fields[name].validators.append(no_control_characters)
        country = self.fields["country"]
        assert isinstance(country, forms.ChoiceField)
        pick = [] if len(countries) == 1 else [("", "Please choose")]
        country.choices = [*pick, *countries.items()]
        country.error_messages["invalid_choice"] = "The shop does not deliver to this country."
        if home in countries:
            country.initial = home
        if self.data.get(self.add_prefix("country")) in WITHOUT_POSTAL_CODE:
            self.fields["postal_code"].required = False


class BillingChoiceForm(CheckoutForm):
    same = forms.BooleanField(label="Same as delivery address", required=False, initial=True)


class Details:
    """The forms of the checkout's first page: contact, delivery address and billing address, validated together.

    If nothing is delivered, there is only the billing address.
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
        contact = {"email": checkout.email, "phone": checkout.phone} if checkout else None
        self.needs_delivery = needs_delivery
        self.contact = ContactForm(submitted, initial=contact)
        self.same = BillingChoiceForm(submitted, initial={"same": not billing})
        self.shipping = AddressForm(
            submitted, section="shipping", countries=delivery_countries, home=home, initial=shipping
        )
        self.asks_billing = not needs_delivery or submitted is None or "same" not in submitted
        # If the billing address is the same, its fields are ignored: a browser may have filled them in.
        self.billing = AddressForm(
            submitted if self.asks_billing else None,
            section="billing",
            countries=countries,
            home=home,
            initial=billing or (None if needs_delivery else shipping),
        )

    @property
    def submitted_forms(self) -> list[CheckoutForm]:
        forms: list[CheckoutForm] = [self.contact]
        if self.needs_delivery:
            forms += [self.shipping]
        return [*forms, self.billing] if self.asks_billing else forms

    def is_valid(self) -> bool:
        """Whether all submitted forms are valid. If not, only the first field with an error gets the focus."""
        invalid = [form for form in self.submitted_forms if not form.is_valid()]
        for form in invalid[1:]:
            for field in form.fields.values():
                field.widget.attrs.pop("autofocus", None)
        return not invalid

    def cleaned(self) -> dict[str, Any]:
        """The arguments of `save_details`."""
        return {
            **self.contact.cleaned_data,
            "shipping_address": self.shipping.cleaned_data if self.needs_delivery else None,
            "billing_address": self.billing.cleaned_data if self.asks_billing else None,
        }


class DeliveryForm(CheckoutForm):
    """The choice of a delivery method. The plain delivery has no rate id; its value is a dash."""

    delivery = forms.ChoiceField(label="Delivery", error_messages={"required": "Please choose a delivery method."})

    PLAIN = "-"

    def __init__(self, *args: Any, deliveries: list[Delivery], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["delivery"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(self.value_of(delivery), delivery.name) for delivery in deliveries]
        field.error_messages["invalid_choice"] = "This delivery method is no longer available."

    @classmethod
    def value_of(cls, delivery: Delivery) -> str:
        return str(delivery.rate_id or cls.PLAIN)

    @property
    def rate_id(self) -> int | None:
        chosen = self.cleaned_data["delivery"]
        return None if chosen == self.PLAIN else int(chosen)


class PaymentForm(CheckoutForm):
    """Payment method, note, and the checkout's id. The template adds a signed copy of what the page shows."""

    method = forms.ChoiceField(label="Payment", error_messages={"required": "Please choose a payment method."})
    note = forms.CharField(
        label="Note to the shop", required=False, max_length=1000, widget=forms.Textarea({"rows": 3})
    )
    checkout = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, methods: list[tuple[str, str]], is_free: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        method = self.fields["method"]
        assert isinstance(method, forms.ChoiceField)
        method.choices = methods
        method.required = not is_free


class OrderEmailForm(CheckoutForm):
    email = forms.EmailField(label="Email address", max_length=254, widget=forms.EmailInput({"autocomplete": "email"}))


def focus_first_error(form: forms.Form) -> None:
    """Set the focus to the form's first field with an error."""
    first = next((name for name in form.fields if name in form.errors), None)
    if first:
        form.fields[first].widget.attrs["autofocus"] = True


def forget(form: forms.Form) -> None:
    """Drop what was submitted, but keep the errors."""
    form.errors  # noqa: B018, reading it validates the data before they are dropped
    form.data = {}
