"""Forms for staff who are not signed in: a new account, a forgotten password."""

from typing import Any

from django import forms
from django.contrib.auth.forms import SetPasswordForm
from django.core.validators import MaxLengthValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.widgets import UnfoldAdminEmailInputWidget, UnfoldAdminPasswordWidget, UnfoldAdminTextInputWidget

# In characters: long enough for any passphrase.
MAX_PASSWORD_LENGTH = 200


class ChoosePasswordForm(SetPasswordForm):
    """A new password, entered twice and checked by Django's validators."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["new_password1"].help_text = _(
            "At least eight characters. A few random words are strong and easy to remember."
        )
        for name in ("new_password1", "new_password2"):
            self.fields[name].widget = UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"})
            self.fields[name].max_length = MAX_PASSWORD_LENGTH  # type: ignore[attr-defined]
            self.fields[name].validators.append(MaxLengthValidator(MAX_PASSWORD_LENGTH))


class NewAccountForm(ChoosePasswordForm):
    name = forms.CharField(
        label="Your name", max_length=150, widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "name"})
    )
    field_order = ["name", "new_password1", "new_password2"]


class ForgottenForm(forms.Form):
    email = forms.EmailField(
        label=_lazy("Email address"),
        max_length=254,
        widget=UnfoldAdminEmailInputWidget(attrs={"autocomplete": "username"}),
    )
