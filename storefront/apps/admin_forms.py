from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from storefront.apps.script_hosts import checked_host
from storefront.installations.models import App
from storefront.kit import addresses
from storefront.kit.refusals import InvalidFields
from storefront.shops.scopes import SCOPES
from storefront.staff.admin_forms import ShopScopedForm


class ScopesField(forms.MultipleChoiceField):
    """A tick box with a description for each scope. No scope is a valid choice."""

    widget = UnfoldAdminCheckboxSelectMultipleWidget

    def __init__(self, **given: Any) -> None:
        super().__init__(choices=list(SCOPES.items()), required=False, **given)

    def offer(self, scopes: list[str]) -> None:
        self.choices = [(scope, SCOPES[scope]) for scope in scopes if scope in SCOPES]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return set(initial or []) != set(data or [])


class AppForm(ShopScopedForm):
    scopes = ScopesField(
        label=_lazy("Permissions"), help_text=_lazy("A merchant can grant fewer when installing the app.")
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "install_url" in self.fields:
            self.fields["install_url"].label = _("Install URL")

    def clean_install_url(self) -> str:
        try:
            return addresses.check_url(self.cleaned_data["install_url"])
        except addresses.BadAddress as error:
            raise forms.ValidationError(str(error)) from None


class ConsentForm(forms.Form):
    """The scopes that the merchant grants, among those that the app asks for."""

    scopes = ScopesField(label=_lazy("Permissions"))

    def __init__(self, *args: Any, app: App, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["scopes"].offer(app.scopes)  # type: ignore[attr-defined]
        self.fields["scopes"].initial = app.scopes


class InstallationForm(ShopScopedForm):
    scopes = ScopesField(
        label=_lazy("Permissions"),
        help_text=_lazy(
            "Changes apply from the app's next request. Write permissions do not include read permissions."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "scopes" in self.fields:
            self.fields["scopes"].offer(self.instance.app.scopes)  # type: ignore[attr-defined]


class AllowedHostForm(ShopScopedForm):
    def clean_host(self) -> str:
        try:
            return checked_host(self.cleaned_data["host"])
        except InvalidFields as refused:
            raise forms.ValidationError((refused.errors or {})["host"]) from None


def scopes_in_words(scopes: list[str]) -> str:
    return ", ".join(str(SCOPES[scope]) for scope in scopes if scope in SCOPES) or _("No permissions")


def count_permissions(scopes: list[str]) -> str:
    """The number of scopes as a text, for narrow columns."""
    return ngettext("%(count)s permission", "%(count)s permissions", len(scopes)) % {"count": len(scopes)}
