from typing import Any
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from django import forms
from django.contrib import admin
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.core.validators import validate_email
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django_tasks_db.models import DBTaskResult
from unfold.decorators import action, display
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
)

from storefront.kit import clock
from storefront.kit.countries import countries
from storefront.shops import actions, domains, places
from storefront.shops.admin_base import ShopScopedAdmin, may_operate, moment, plain_dialog, view_and_edit
from storefront.shops.admin_domains import ShopDomainAdmin as ShopDomainAdmin
from storefront.shops.admin_doors import WithDoors
from storefront.shops.admin_forms import ShopScopedForm, WordsField
from storefront.shops.admin_staff import StaffInvitationAdmin as StaffInvitationAdmin
from storefront.shops.admin_staff import StaffMemberAdmin as StaffMemberAdmin
from storefront.shops.audit_admin import AuditEntryAdmin as AuditEntryAdmin
from storefront.shops.models import AllowedOrigin, ApiToken
from storefront.shops.rights import Right
from storefront.shops.scopes import SCOPES

# Rights come from the user's role in a shop, not from groups; background tasks belong to no shop.
admin.site.unregister([Group, DBTaskResult])


MAX_ORDER_EMAILS = 10


class ShopForm(ShopScopedForm):
    timezone = forms.ChoiceField(
        choices=[(name, name.replace("_", " ")) for name in sorted(available_timezones())],
        widget=UnfoldAdminSelectWidget,
        label="Time zone",
        help_text="Times in the admin are shown in this time zone.",
    )
    country = forms.ChoiceField(
        choices=lambda: countries().items(), widget=UnfoldAdminSelectWidget, help_text="Where the shop sells from."
    )
    order_emails = WordsField(
        label="Addresses for new orders",
        help_text="Who gets an email about each new order, separated by commas. Without any, that is the shop's own "
        "address or else its owners.",
    )

    def clean_order_emails(self) -> list[str]:
        addresses = self.cleaned_data["order_emails"]
        if len(addresses) > MAX_ORDER_EMAILS:
            raise forms.ValidationError(f"At most {MAX_ORDER_EMAILS} addresses.")
        for address in addresses:
            try:
                validate_email(address)
            except forms.ValidationError:
                raise forms.ValidationError(f"{address} is not an email address.") from None
        return addresses

    def clean_domain(self) -> str:
        domain = self._unreserved("domain", self.cleaned_data["domain"])
        if "domain" in self.changed_data and domains.is_taken(domain, besides=self.instance):
            raise forms.ValidationError(domains.taken_message(domain))
        return domain

    def clean_base_url(self) -> str:
        host = urlsplit(self.cleaned_data["base_url"]).hostname or ""
        if "base_url" in self.changed_data and domains.is_further(host, besides=self.instance):
            raise forms.ValidationError(domains.taken_message(host))
        return self._unreserved("base_url", host)

    def _unreserved(self, field: str, host: str) -> str:
        if places.is_reserved(host):
            raise forms.ValidationError(places.reserved_message(host))
        return self.cleaned_data[field]


class ShopAdmin(WithDoors):
    """The settings of the session's shop. Only the operator can change the domain.

    `checkout` registers this class, since it knows the payment methods.
    """

    form = ShopForm
    rights = {"view": Right.MANAGE_SETTINGS, "change": Right.MANAGE_SETTINGS, **WithDoors.door_rights}
    shop_lookup = "pk"
    list_select_related = False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [] if may_operate(request) else ["domain", "base_url", "currency", "is_active"]

    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        return HttpResponseRedirect(reverse("admin:shops_shop_change", args=[request.shop.pk]))  # type: ignore


class AllowedOriginForm(ShopScopedForm):
    def clean_origin(self) -> str:
        """Browsers send an origin as scheme, host and port, in lower case."""
        origin = self.cleaned_data["origin"].strip().rstrip("/").lower()
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https") or not parts.hostname or origin != f"{parts.scheme}://{parts.netloc}":
            raise forms.ValidationError("Expected an origin such as https://www.example.com, without a path.")
        return origin


@admin.register(AllowedOrigin)
class AllowedOriginAdmin(ShopScopedAdmin):
    empty_text = "Pages of other sites may call the API only from the origins listed here."
    form = AllowedOriginForm
    rights = view_and_edit(Right.MANAGE_SETTINGS, Right.MANAGE_SETTINGS)
    list_display = fields = ["origin"]
    search_fields = ["origin"]


class NewTokenForm(ShopScopedForm):
    scopes = forms.MultipleChoiceField(
        choices=list(SCOPES.items()),
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        label="Permissions",
        help_text="Write permissions do not include read permissions.",
    )

    def clean_expires_at(self) -> Any:
        expires_at = self.cleaned_data["expires_at"]
        if expires_at and expires_at <= self.now:
            raise forms.ValidationError("Enter a time in the future.")
        return expires_at


@admin.register(ApiToken)
class ApiTokenAdmin(ShopScopedAdmin):
    """Tokens are created, shown once, and revoked. They are not deleted, so that past permissions can be looked up."""

    empty_text = "A program that reads the shop or fills carts needs a token of its own. It is shown once."
    rights = {
        "view": Right.MANAGE_TOKENS,
        "add": Right.MANAGE_TOKENS,
        "change": Right.MANAGE_TOKENS,
        "revoke": Right.MANAGE_TOKENS,
        "revoke_chosen": Right.MANAGE_TOKENS,
    }
    list_display = ["name", "token", "allowed", "state", "created", "expires", "last_used"]
    search_fields = ["name", "ending"]
    ordering = ["-created_at"]
    actions = ["revoke_chosen"]
    actions_detail = ["revoke"]

    created = moment("created_at")
    expires = moment("expires_at")
    revoked = moment("revoked_at")
    last_used = moment("last_used_at")

    @display(description="token")
    def token(self, row: ApiToken) -> str:
        return f"api_…{row.ending}"

    @display(description="permissions")
    def allowed(self, row: ApiToken) -> str:
        return ", ".join(SCOPES[scope] for scope in row.scopes if scope in SCOPES)

    @display(description="status", label={"Valid": "success", "Revoked": "danger", "Expired": "warning"})
    def state(self, row: ApiToken) -> str:
        if row.revoked_at:
            return "Revoked"
        return "Valid" if row.is_valid(clock.now()) else "Expired"

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).defer("digest")

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change=change, **kwargs | ({} if obj else {"form": NewTokenForm}))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        if obj is None:
            return ["name", "scopes", "expires_at", "requests_per_minute"]
        return [
            "name",
            "token",
            "allowed",
            "state",
            "requests_per_minute",
            "created",
            "expires",
            "revoked",
            "last_used",
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["token", "allowed", "state", "created", "expires", "revoked", "last_used"] if obj else []

    def save_model(self, request: Any, obj: ApiToken, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
            return
        row, secret = actions.create_api_token(
            shop=request.shop,
            scopes=form.cleaned_data["scopes"],
            name=obj.name,
            now=request.now,
            expires_in=obj.expires_at - request.now if obj.expires_at else None,
            requests_per_minute=obj.requests_per_minute,
        )
        obj.pk, obj.ending = row.pk, row.ending
        request.new_secret = secret

    def response_add(self, request: Any, obj: ApiToken, post_url_continue: str | None = None) -> HttpResponse:
        """Show the secret in the response to the POST itself, so that it gets into no session, message or log."""
        context = {
            **self.admin_site.each_context(request),
            "title": f"Token “{obj.name}”",
            "opts": self.opts,
            "secret": request.new_secret,
            "kind": "token",
            "use": "Programs send it as “Authorization: Bearer …”. Anyone who has it can use its permissions.",
            "then": "../",
        }
        response = TemplateResponse(request, "shops/admin/new_secret.html", context)
        response["Cache-Control"] = "no-store"
        return response

    @admin.action(description="Revoke selected tokens")
    def revoke_chosen(self, request: Any, queryset: QuerySet) -> None:
        for token in queryset:
            actions.revoke_api_token(shop=request.shop, token=token, now=request.now)
        self.message_user(request, "Tokens revoked. Programs can no longer use them.")

    @action(
        description="Revoke",
        icon="block",
        dialog=plain_dialog(
            "Revoke this token?", "Programs can no longer use it. This cannot be undone.", submit="Revoke"
        ),
    )
    def revoke(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        token = self.row_or_404(request, object_id)
        actions.revoke_api_token(shop=request.shop, token=token, now=request.now)
        return self.done(request, token, "Token revoked.")
