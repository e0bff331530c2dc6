"""What a customer fills in about the account. Browsers and password managers are told what each field is."""

from typing import Any

from django import forms

from storefront.checkout.forms import NO_CONTROL_CHARACTERS, AddressForm, CheckoutForm, ContactForm
from storefront.kit.countries import countries

# Long enough for any phrase; bounded, since hashing takes time on purpose.
LONGEST_PASSWORD = 200


def password_field(label: str, *, is_new: bool = False, help_text: str = "") -> forms.CharField:
    token = "new-password" if is_new else "current-password"
    return forms.CharField(
        label=label,
        max_length=LONGEST_PASSWORD,
        strip=False,
        help_text=help_text,
        widget=forms.PasswordInput({"autocomplete": token}),
    )


def email_field(label: str = "E-mail address", *, is_new: bool = False) -> forms.EmailField:
    # The name under which password managers keep an account.
    token = "email" if is_new else "username"
    return forms.EmailField(label=label, max_length=254, widget=forms.EmailInput({"autocomplete": token}))


NEW_PASSWORD = "At least eight characters. Several words are easy to remember."  # noqa: S105, it is a sentence


class SignInForm(CheckoutForm):
    email = email_field()
    password = password_field("Password")


class EmailForm(CheckoutForm):
    email = email_field()


class NewPasswordForm(CheckoutForm):
    """`asks_name` for somebody whom the shop knows no name of."""

    name = forms.CharField(
        label="Name",
        max_length=200,
        validators=[NO_CONTROL_CHARACTERS],
        widget=forms.TextInput({"autocomplete": "name"}),
    )
    password = password_field("New password", is_new=True, help_text=NEW_PASSWORD)

    def __init__(self, *args: Any, asks_name: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not asks_name:
            del self.fields["name"]


class DetailsForm(CheckoutForm):
    name = forms.CharField(
        label="Name",
        max_length=200,
        validators=[NO_CONTROL_CHARACTERS],
        widget=forms.TextInput({"autocomplete": "name"}),
    )
    phone = ContactForm.base_fields["phone"]


class ChangeEmailForm(CheckoutForm):
    email = email_field("New e-mail address", is_new=True)
    password = password_field("Your password", help_text="So that nobody else can do this for you.")


class ChangePasswordForm(CheckoutForm):
    current = password_field("Your password now")
    password = password_field("New password", is_new=True, help_text=NEW_PASSWORD)


class BookForm(AddressForm):
    """An address of the customer's book."""

    phone = ContactForm.base_fields["phone"]
    is_default = forms.BooleanField(label="Begin with this address at checkout", required=False)

    def __init__(self, *args: Any, home: str, **kwargs: Any) -> None:
        super().__init__(*args, section="shipping", countries=countries(), home=home, **kwargs)
        self.fields["country"].error_messages["invalid_choice"] = "Please choose a country."
