"""The page where a merchant sets up a payment provider: its settings form, and "Check the connection".

A secret is never shown again: its field comes back empty, and left empty, it stays as it is.
"""

from typing import Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from storefront.kit import clock
from storefront.kit.refusals import Refusal
from storefront.payments.accounts import can_undo, check_connection, keep_replaced, restore_settings, save_settings
from storefront.payments.jobs import find_account
from storefront.payments.models import ProviderAccount
from storefront.payments.providers.registry import PROVIDERS
from storefront.shops.places import page_address
from storefront.shops.rights import Right
from storefront.staff.admin_base import ShopScopedAdmin
from storefront.staff.admin_forms import ShopScopedForm
from storefront.staff.admin_parts import Moves, asks, column, deed, moment, view_and_edit


class NotConnected(Refusal):
    """The provider refused the settings; the message is for the merchant."""

    code = "provider_not_connected"


class NewAccountForm(ShopScopedForm):
    provider = forms.ChoiceField(widget=UnfoldAdminSelectWidget)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["provider"]
        field.choices = [(each.name, each.label_for_merchants) for each in PROVIDERS.values() if each.settings_form]

    def clean_provider(self) -> str:
        name = self.cleaned_data["provider"]
        if ProviderAccount.objects.filter(shop=self.shop, provider=name).exists():
            raise forms.ValidationError(_("This provider is already in the list."))
        return name


def label_of(name: str) -> str:
    """What merchants call the provider with this name, which may be one that this deployment no longer has."""
    provider = PROVIDERS.get(name)
    return provider.label_for_merchants if provider else name


def settings_form_of(account: ProviderAccount) -> type[ShopScopedForm]:
    """The form of the account's provider, as a form of the admin."""
    provider = PROVIDERS[account.provider]
    given = provider.settings_form().fields if provider.settings_form else {}
    fields: dict[str, Any] = {}
    for name, field in given.items():
        if name in provider.secrets:
            field.required = False
            field.help_text = _("Leave empty to keep the current one.") if account.sealed else field.help_text
            hidden = {"autocomplete": "off", "placeholder": "unchanged" if account.sealed else ""}
            field.widget = UnfoldAdminTextInputWidget(attrs=hidden)
        elif isinstance(field, forms.ChoiceField):
            field.widget = UnfoldAdminSelectWidget(choices=field.choices)
        elif isinstance(field.widget, forms.TextInput):
            field.widget = UnfoldAdminTextInputWidget()
        field.initial = account.values.get(name, field.initial)
        fields[name] = field
    return type("SettingsForm", (ShopScopedForm,), fields)


def has_earlier_settings(account: ProviderAccount) -> bool:
    return can_undo(shop=account.shop, name=account.provider, now=clock.now())


@admin.register(ProviderAccount)
class ProviderAccountAdmin(ShopScopedAdmin):
    empty_text = _lazy("Connect the provider that takes the money for you.")
    rights = view_and_edit(Right.MANAGE_SETTINGS, Right.MANAGE_SETTINGS)
    moves = Moves.MONEY
    list_display = ["name", "checked"]
    new_fields = ["provider"]
    opens_added = True

    checked = moment("checked_at", _lazy("connection checked"))

    name = column(_lazy("provider"), lambda row: label_of(row.provider), by="provider")
    news_address = column(
        _lazy("webhook address"), lambda row: page_address("payments:news", row.provider, shop=row.shop)
    )

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = NewAccountForm if obj is None else settings_form_of(obj)
        return super().get_form(
            request, obj, change=change, **kwargs | {"form": form, "fields": [] if obj else ["provider"]}
        )

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return super().get_fields(request)
        return [*settings_form_of(obj).base_fields, "news_address", "checked"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ["news_address", "checked"] if obj else []

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        if not change:
            obj.save()
        else:
            provider = PROVIDERS[obj.provider]
            account = save_settings(shop=request.shop, provider=provider, given=form.cleaned_data, now=request.now)
            if provider.can_save and not account.account_reference:
                find_account.enqueue(account.shop_id, account.pk)
            obj.refresh_from_db()

    @deed(_lazy("Check the connection"), Right.MANAGE_SETTINGS, Moves.NOTHING, icon="cable")
    @asks(_lazy("Check the connection?"), _lazy("Asks the provider whether these settings work."), _lazy("Check"))
    def check_connection(self, request: Any, account: Any, form: Any) -> str:
        wrong = check_connection(shop=request.shop, account=account, now=request.now)
        if wrong:
            raise NotConnected(" ".join(wrong))
        return _("The connection works.")

    @deed(_lazy("Undo the new settings"), Right.MANAGE_SETTINGS, Moves.MONEY, icon="undo", when=has_earlier_settings)
    @asks(
        _lazy("Restore the earlier settings?"),
        _lazy("The settings of before the last 24 hours' changes take the money again. The present ones are not kept."),
        _lazy("Restore"),
    )
    def undo(self, request: Any, account: Any, form: Any) -> str:
        restore_settings(shop=request.shop, account=account, now=request.now)
        return _("The earlier settings are in force again.")

    def delete_model(self, request: Any, obj: ProviderAccount) -> None:
        keep_replaced(shop=request.shop, name=obj.provider, now=request.now)
        super().delete_model(request, obj)

    @transaction.atomic
    def delete_queryset(self, request: Any, queryset: Any) -> None:
        for account in queryset:
            keep_replaced(shop=request.shop, name=account.provider, now=request.now)
        super().delete_queryset(request, queryset)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """The account, if its provider is still there to show a form."""
        account = super().get_object(request, object_id, from_field)
        return account if account and account.provider in PROVIDERS else None
