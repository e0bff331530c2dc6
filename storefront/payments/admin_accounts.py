"""The page where a merchant sets up a payment provider: its settings form, and "Check the connection".

A secret is never shown again: its field comes back empty, and left empty, it stays as it is.
"""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from storefront.kit.refusals import Refusal
from storefront.payments.accounts import check_connection, save_settings
from storefront.payments.jobs import find_account
from storefront.payments.models import ProviderAccount
from storefront.payments.providers.base import Provider
from storefront.payments.providers.registry import PROVIDERS
from storefront.shops.admin_base import ShopScopedAdmin, moment, plain_dialog, view_and_edit
from storefront.shops.admin_forms import ShopScopedForm
from storefront.shops.places import page_address
from storefront.shops.rights import Right


class NotConnected(Refusal):
    """The provider refused the settings; the message is for the merchant."""

    code = "provider_not_connected"


def providers_to_set_up() -> list[Provider]:
    return [provider for provider in PROVIDERS.values() if provider.settings_form]


class NewAccountForm(ShopScopedForm):
    provider = forms.ChoiceField(widget=UnfoldAdminSelectWidget)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["provider"].choices = [(each.name, each.label_for_merchants) for each in providers_to_set_up()]  # type: ignore[attr-defined]

    def clean_provider(self) -> str:
        name = self.cleaned_data["provider"]
        if ProviderAccount.objects.filter(shop=self.shop, provider=name).exists():
            raise forms.ValidationError("This provider is already in the list.")
        return name


def settings_form_of(account: ProviderAccount) -> type[ShopScopedForm]:
    """The form of the account's provider, as a form of the admin."""
    provider = PROVIDERS[account.provider]
    given = provider.settings_form().fields if provider.settings_form else {}
    fields: dict[str, Any] = {}
    for name, field in given.items():
        if name in provider.secrets:
            field.required = False
            field.help_text = "Leave empty to keep the current one." if account.sealed else field.help_text
            hidden = {"autocomplete": "off", "placeholder": "unchanged" if account.sealed else ""}
            field.widget = UnfoldAdminTextInputWidget(attrs=hidden)
        elif isinstance(field, forms.ChoiceField):
            field.widget = UnfoldAdminSelectWidget(choices=field.choices)
        elif isinstance(field.widget, forms.TextInput):
            field.widget = UnfoldAdminTextInputWidget()
        field.initial = account.values.get(name, field.initial)
        fields[name] = field
    return type("SettingsForm", (ShopScopedForm,), fields)


@admin.register(ProviderAccount)
class ProviderAccountAdmin(ShopScopedAdmin):
    empty_text = "Connect the provider that takes the money for you."
    rights = {
        **view_and_edit(Right.MANAGE_SETTINGS, Right.MANAGE_SETTINGS),
        "check_connection": Right.MANAGE_SETTINGS,
    }
    list_display = ["name", "checked"]
    actions_detail = ["check_connection"]
    readonly_fields = ["news_address", "checked"]

    checked = moment("checked_at", "connection checked")

    @display(description="provider", ordering="provider")
    def name(self, row: ProviderAccount) -> str:
        provider = PROVIDERS.get(row.provider)
        return provider.label_for_merchants if provider else row.provider

    @display(description="webhook address")
    def news_address(self, row: ProviderAccount) -> str:
        return page_address("payments:news", row.provider, shop=row.shop)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = NewAccountForm if obj is None else settings_form_of(obj)
        return super().get_form(request, obj, change=change, **kwargs | {"form": form, "fields": self._columns(obj)})

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ["provider"]
        return [*settings_form_of(obj).base_fields, *self.readonly_fields]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.readonly_fields if obj else []

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        if not change:
            obj.save()
        else:
            provider = PROVIDERS[obj.provider]
            account = save_settings(shop=request.shop, provider=provider, given=form.cleaned_data, now=request.now)
            if provider.can_save and not account.account_reference:
                find_account.enqueue(account.pk)
            obj.refresh_from_db()

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:payments_provideraccount_change", args=[obj.pk]))

    @action(
        description="Check the connection",
        icon="cable",
        dialog=plain_dialog("Check the connection?", "Asks the provider whether these settings work.", submit="Check"),
    )
    def check_connection(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        account = self.row_or_404(request, object_id)
        wrong = check_connection(shop=request.shop, account=account, now=request.now)
        if wrong:
            raise NotConnected(" ".join(wrong))
        return self.done(request, account, "The connection works.")

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """The account, if its provider is still there to show a form."""
        account = super().get_object(request, object_id, from_field)
        return account if account and account.provider in PROVIDERS else None

    @staticmethod
    def _columns(obj: Any) -> list[str]:
        return ["provider"] if obj is None else []
