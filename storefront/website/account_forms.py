"""Forms of the account pages. Each field has an `autocomplete` token for browsers and password managers."""

from typing import Any

from django import forms
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from storefront.checkout.forms import AddressForm, CheckoutForm, PhoneForm, persons_name
from storefront.kit.countries import countries

# Long enough for any passphrase; limited, since hashing is slow by design.
MAX_PASSWORD_LENGTH = 200


EMAIL = gettext_lazy("Email address")


def password_field(label: Any, *, is_new: bool = False, help_text: Any = "") -> forms.CharField:
    token = "new-password" if is_new else "current-password"
    return forms.CharField(
        label=label,
        max_length=MAX_PASSWORD_LENGTH,
        strip=False,
        help_text=help_text,
        widget=forms.PasswordInput({"autocomplete": token}),
    )


def email_field(label: Any = EMAIL, *, is_new: bool = False) -> forms.EmailField:
    # Password managers store an account under its `username`.
    token = "email" if is_new else "username"
    return forms.EmailField(label=label, max_length=254, widget=forms.EmailInput({"autocomplete": token}))


# Both are on one page, so screen readers hear what each is for.
CURRENT_TO_CHANGE_EMAIL = mark_safe(  # noqa: S308, a text of ours
    gettext_lazy('Current password<span class="visually-hidden">, to change your email address</span>')
)
CURRENT_TO_CHANGE_PASSWORD = mark_safe(  # noqa: S308, a text of ours
    gettext_lazy('Current password<span class="visually-hidden">, to change your password</span>')
)
NEW_PASSWORD = gettext_lazy("At least eight characters. A few random words are strong and easy to remember.")


class SignInForm(CheckoutForm):
    email = email_field()
    password = password_field(gettext_lazy("Password"))


class EmailForm(CheckoutForm):
    email = email_field()


class NewPasswordForm(CheckoutForm):
    """Asks for a new password; with `asks_name` also for the customer's name, if the shop does not have it yet."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=200,
        validators=[persons_name],
        widget=forms.TextInput({"autocomplete": "name"}),
    )
    password = password_field(gettext_lazy("New password"), is_new=True, help_text=NEW_PASSWORD)

    def __init__(self, *args: Any, asks_name: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not asks_name:
            del self.fields["name"]


class DetailsForm(PhoneForm):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=200,
        validators=[persons_name],
        widget=forms.TextInput({"autocomplete": "name"}),
    )
    field_order = ["name", "phone"]


class ChangeEmailForm(CheckoutForm):
    email = email_field(gettext_lazy("New email address"), is_new=True)
    password = password_field(CURRENT_TO_CHANGE_EMAIL, help_text=gettext_lazy("To confirm that it is you."))


class ChangePasswordForm(CheckoutForm):
    current = password_field(CURRENT_TO_CHANGE_PASSWORD)
    password = password_field(gettext_lazy("New password"), is_new=True, help_text=NEW_PASSWORD)


class AccountAddressForm(AddressForm, PhoneForm):
    """An address in the customer's account."""

    is_default = forms.BooleanField(label=gettext_lazy("Use as default address"), required=False)

    def __init__(self, *args: Any, home: str, **kwargs: Any) -> None:
        super().__init__(*args, section="shipping", countries=countries(), home=home, **kwargs)
        self.phone_country = str(self["country"].value() or "")
        self.order_fields([*AddressForm.base_fields, "phone", "is_default"])
        self.fields["country"].error_messages["invalid_choice"] = _("Please choose a country.")
