"""The checkout's forms. Their fields have `autocomplete` tokens, so that browsers can fill them in."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib.auth.base_user import BaseUserManager
from django.core.validators import RegexValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from storefront.checkout import vat_ids
from storefront.checkout.models import Checkout
from storefront.checkout.queries import WaysOfDelivery
from storefront.kit import postal
from storefront.kit.names import has_address, has_invisible_characters
from storefront.kit.selects import LongSelect
from storefront.pricing.eu_vat import normal_vat_id
from storefront.pricing.models import PickupPlace
from storefront.pricing.shipping import ShippingOption


def no_control_characters(text: str) -> None:
    if has_invisible_characters(text):
        raise forms.ValidationError(_("Line breaks and control characters are not allowed."))


def persons_name(text: str) -> None:
    no_control_characters(text)
    if has_address(text):
        raise forms.ValidationError(
            _("Email and web addresses are not allowed here. Put a space after each full stop.")
        )


class CheckoutForm(forms.Form):
    """A form that sets the focus to its first field with an error."""

    def full_clean(self) -> None:
        super().full_clean()
        focus_first_error(self)


class PhoneForm(CheckoutForm):
    """A form with a phone number, which is stored with its country. `country` is that of numbers without one."""

    phone = forms.CharField(
        label=gettext_lazy("Phone"),
        required=False,
        max_length=40,
        validators=[RegexValidator(r"^[0-9+()/. x-]*$", gettext_lazy("Use only digits, spaces and + ( ) / . -"))],
        help_text=gettext_lazy("Only used if there are questions about your delivery."),
        widget=forms.TextInput({"autocomplete": "tel", "type": "tel"}),
    )

    def __init__(self, *args: Any, country: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.phone_country = country

    def clean_phone(self) -> str:
        given = self.cleaned_data["phone"].strip()
        try:
            return postal.international_phone(given, self.phone_country) if given else ""
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None


class ContactForm(PhoneForm):
    email = forms.EmailField(
        label=gettext_lazy("Email address"),
        max_length=254,
        help_text=gettext_lazy("We will send your order confirmation to this address."),
        widget=forms.EmailInput({"autocomplete": "email"}),
    )
    field_order = ["email", "phone"]

    def clean_email(self) -> str:
        """Converts the domain to lowercase, since SQLite does not ignore the case of letters such as Ü."""
        return BaseUserManager.normalize_email(self.cleaned_data["email"])


class AddressForm(CheckoutForm):
    """An address. `section` is `shipping` or `billing`, used in `autocomplete`; `home` is the preselected country;
    `regional` are the countries where the region is needed."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=200, validators=[persons_name])
    company = forms.CharField(label=gettext_lazy("Company"), max_length=200, required=False)
    line1 = forms.CharField(label=gettext_lazy("Street and number"), max_length=200)
    line2 = forms.CharField(label=gettext_lazy("Apartment, floor, etc."), max_length=200, required=False)
    postal_code = forms.CharField(label=gettext_lazy("Postal code"), max_length=20)
    city = forms.CharField(label=gettext_lazy("Town or city"), max_length=100)
    region = forms.CharField(label=gettext_lazy("State or region"), max_length=100, required=False)
    country = forms.ChoiceField(label=gettext_lazy("Country"), widget=LongSelect)

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

    def __init__(
        self,
        *args: Any,
        section: str,
        countries: dict[str, str],
        home: str,
        regional: frozenset[str] = frozenset(),
        **kwargs: Any,
    ) -> None:
        kwargs["prefix"] = section
        super().__init__(*args, **kwargs)
        for name, token in self.AUTOCOMPLETE.items():
            self.fields[name].widget.attrs["autocomplete"] = f"{section} {token}"
            if isinstance(self.fields[name], forms.CharField):
                self.fields[name].validators.append(no_control_characters)
        country = self.fields["country"]
        assert isinstance(country, forms.ChoiceField)
        pick = [] if len(countries) == 1 else [("", _("Please choose"))]
        country.choices = [*pick, *countries.items()]
        country.error_messages["invalid_choice"] = _("The shop does not deliver to this country.")
        if home in countries:
            country.initial = home
        chosen = str(self["country"].value() or "")
        self.regions = postal.regions_of(chosen)
        if self.regions:
            self.fields["region"].widget.attrs["list"] = f"{section}-regions"
        if self.is_bound:
            self.fields["postal_code"].required = postal.needs_postal_code(chosen)
        if self.is_bound and chosen in regional:
            self.fields["region"].required = True
            self.fields["region"].error_messages["required"] = _("Delivery depends on the state or region.")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        country = cleaned.get("country", "")
        problems = {
            "postal_code": postal.postal_code_problem(country, cleaned.get("postal_code", "")),
            "region": postal.region_problem(country, cleaned.get("region", "")),
        }
        for name, problem in problems.items():
            if problem and name not in self.errors:
                self.add_error(name, problem)
        return cleaned


class VatIdForm(CheckoutForm):
    """The VAT ID of a business. `known` is the outcome of an earlier check; `check` checks another ID.

    An ID that does not exist is an error. If the check fails, the ID is kept and the order taxed.
    """

    vat_id = forms.CharField(
        # Translators: The VAT ID of a business, in the words of tax law. Germany: "USt-IdNr.". France: "N° de TVA".
        # Spain: "NIF-IVA". Italy: "Partita IVA". Netherlands: "Btw-nummer". Poland: "NIP".
        label=gettext_lazy("VAT ID"),
        required=False,
        max_length=40,
        help_text=gettext_lazy("Only for businesses. Begin with the country code, as in ATU13585627."),
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, check: Callable[[str], dict[str, Any] | None], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._check = check
        self.result: dict[str, Any] | None = None

    def clean_vat_id(self) -> str:
        given = self.cleaned_data["vat_id"].strip()
        if not given:
            return ""
        try:
            number = normal_vat_id(given)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None
        self.result = self._check(number)
        if self.result and self.result["result"] == vat_ids.INVALID:
            raise forms.ValidationError(
                _("The EU's register does not have this VAT ID. Correct it, or leave it empty.")
            )
        return number


class BillingChoiceForm(CheckoutForm):
    same = forms.BooleanField(label=gettext_lazy("Same as delivery address"), required=False, initial=True)


class WayForm(CheckoutForm):
    """The choice between sending the order and collecting it at a place. Without a choice, it is sent if that is
    possible."""

    way = forms.ChoiceField(label=gettext_lazy("How to get your order"), required=False)

    SHIP = "ship"

    def __init__(self, *args: Any, places: list[PickupPlace], can_ship: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.places = {str(place.pk): place for place in places}
        self.default = self.SHIP if can_ship or not places else str(places[0].pk)
        field = self.fields["way"]
        assert isinstance(field, forms.ChoiceField)
        ship = [(self.SHIP, _("Ship to an address"))] if can_ship else []
        field.choices = [*ship, *((pk, place.name) for pk, place in self.places.items())]
        field.error_messages["invalid_choice"] = _("Please choose again. This is no longer offered.")

    @property
    def chosen(self) -> str:
        """The selected value: `ship` or the id of a place, as submitted or as saved before."""
        return str(self["way"].value() or self.default)

    @property
    def place(self) -> PickupPlace | None:
        """The chosen place; None if the order is to be sent."""
        return self.places.get(self.chosen)


class Details:
    """The forms of the checkout's first page: contact, way of delivery, delivery address and billing address, validated
    together.

    If nothing is sent, because it is collected or nothing is delivered, there is only the billing address. With
    `check_vat_id`, which checks a VAT ID, the forms ask for one.
    """

    def __init__(
        self,
        submitted: Any | None,
        *,
        checkout: Checkout | None,
        needs_delivery: bool,
        ways: WaysOfDelivery,
        countries: dict[str, str],
        home: str,
        check_vat_id: Callable[[str], dict[str, Any] | None] | None = None,
    ) -> None:
        shipping = (checkout and checkout.shipping_address) or None
        billing = (checkout and checkout.billing_address) or None
        contact = {"email": checkout.email, "phone": checkout.phone} if checkout else None
        places = ways.places if needs_delivery else []
        saved = checkout.pickup_place_id if checkout else None
        self.way = WayForm(
            submitted,
            places=places,
            can_ship=bool(ways.countries),
            initial={"way": saved if saved in [place.pk for place in places] else None},
        )
        self.place = self.way.place
        # The address is on the page if the shopper can choose it there.
        self.can_ship = needs_delivery and (bool(ways.countries) or not places)
        self.is_shipped = needs_delivery and self.place is None
        # A browser also sends the fields of the hidden section.
        section = "shipping" if self.is_shipped else "billing"
        country = (submitted or {}).get(f"{section}-country") or home
        self.contact = ContactForm(submitted, initial=contact, country=country if country in countries else home)
        self.same = BillingChoiceForm(submitted, initial={"same": not billing})
        self.shipping = AddressForm(
            submitted if self.is_shipped else None,
            section="shipping",
            countries=ways.countries,
            home=home,
            regional=ways.regional,
            initial=shipping,
        )
        self.asks_billing = not self.is_shipped or submitted is None or "same" not in submitted
        # If the billing address is the same, its fields are ignored: a browser may have filled them in.
        self.billing = AddressForm(
            submitted if self.asks_billing else None,
            section="billing",
            countries=countries,
            home=home,
            initial=billing or (None if self.is_shipped else shipping),
        )
        vat_id = {"vat_id": checkout.vat_id if checkout else ""}
        self.vat = VatIdForm(submitted, initial=vat_id, check=check_vat_id) if check_vat_id else None

    @property
    def submitted_forms(self) -> list[CheckoutForm]:
        forms: list[CheckoutForm] = [self.contact, self.way]
        if self.is_shipped:
            forms += [self.shipping]
        if self.asks_billing:
            forms += [self.billing]
        return [*forms, self.vat] if self.vat else forms

    def is_valid(self) -> bool:
        """Returns True if all submitted forms are valid. If not, only the first field with an error gets the focus."""
        invalid = [form for form in self.submitted_forms if not form.is_valid()]
        for form in invalid[1:]:
            for field in form.fields.values():
                field.widget.attrs.pop("autofocus", None)
        return not invalid

    def cleaned(self) -> dict[str, Any]:
        """The arguments of `save_details`."""
        return {
            **self.contact.cleaned_data,
            "pickup_place": self.place,
            "shipping_address": self.shipping.cleaned_data if self.is_shipped else None,
            "billing_address": self.billing.cleaned_data if self.asks_billing else None,
            "vat_id": self.vat.cleaned_data["vat_id"] if self.vat else "",
            "vat_check": self.vat.result if self.vat else None,
        }


class DeliveryForm(CheckoutForm):
    """The choice of a delivery method. The plain delivery has no rate id; its value is a dash."""

    delivery = forms.ChoiceField(
        label=gettext_lazy("Delivery"), error_messages={"required": gettext_lazy("Please choose a delivery method.")}
    )

    PLAIN = "-"

    def __init__(self, *args: Any, deliveries: list[ShippingOption], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["delivery"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(self.value_of(delivery), delivery.name) for delivery in deliveries]
        field.error_messages["invalid_choice"] = _("This delivery method is no longer available.")

    @classmethod
    def value_of(cls, delivery: ShippingOption) -> str:
        return str(delivery.rate_id or cls.PLAIN)

    @property
    def rate_id(self) -> int | None:
        chosen = self.cleaned_data["delivery"]
        return None if chosen == self.PLAIN else int(chosen)


class PaymentForm(CheckoutForm):
    """Payment method, note, and the checkout's id. The template adds a signed copy of what the page shows."""

    method = forms.ChoiceField(
        label=gettext_lazy("Payment"), error_messages={"required": gettext_lazy("Please choose a payment method.")}
    )
    note = forms.CharField(
        label=gettext_lazy("Note to the shop"), required=False, max_length=1000, widget=forms.Textarea({"rows": 3})
    )
    checkout = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, methods: list[tuple[str, str]], is_free: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        method = self.fields["method"]
        assert isinstance(method, forms.ChoiceField)
        method.choices = methods
        method.required = not is_free


class GiftCardForm(CheckoutForm):
    gift_card = forms.CharField(
        label=gettext_lazy("Gift card code"),
        max_length=100,
        error_messages={"required": gettext_lazy("Please enter the code.")},
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}),
    )


class OrderEmailForm(CheckoutForm):
    email = forms.EmailField(
        label=gettext_lazy("Email address"), max_length=254, widget=forms.EmailInput({"autocomplete": "email"})
    )


def focus_first_error(form: forms.Form) -> None:
    first = next((name for name in form.fields if name in form.errors), None)
    if first:
        form.fields[first].widget.attrs["autofocus"] = True


def forget(form: forms.Form) -> None:
    """Drop what was submitted, but keep the errors."""
    form.errors  # noqa: B018, reading it validates the data before they are dropped
    form.data = {}
