from typing import Any
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django_tasks_db.models import DBTaskResult
from unfold.decorators import action, display
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminEmailInputWidget,
    UnfoldAdminSelectWidget,
)

from storefront.kit import clock
from storefront.shops import actions
from storefront.shops.admin_base import ShopScopedAdmin, moment
from storefront.shops.admin_forms import ShopScopedForm
from storefront.shops.models import AllowedOrigin, ApiToken, StaffMember
from storefront.shops.scopes import SCOPES

# Rights follow the staff's place in a shop, and background work belongs to no shop.
admin.site.unregister([Group, DBTaskResult])


class ShopForm(ShopScopedForm):
    timezone = forms.ChoiceField(
        choices=[(name, name.replace("_", " ")) for name in sorted(available_timezones())],
        widget=UnfoldAdminSelectWidget,
        help_text="Times in this admin are on this clock.",
    )

    def clean_country(self) -> str:
        return self.cleaned_data["country"].upper()


class ShopAdmin(ShopScopedAdmin):
    """The settings of the shop that the session works on. Only the operator moves a shop to another domain.

    `checkout` registers it, which knows the ways to pay.
    """

    form = ShopForm
    shop_lookup = "pk"
    owners_only = True
    can_add = can_delete_rows = False
    list_select_related = False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [] if request.user.is_superuser else ["domain", "base_url", "currency", "is_active"]

    def changelist_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:shops_shop_change", args=[request.shop.pk]))  # type: ignore


class NewStaffForm(ShopScopedForm):
    email = forms.EmailField(
        label="E-mail address",
        widget=UnfoldAdminEmailInputWidget,
        help_text="Somebody without an account gets one, with a first password that is shown once.",
    )


@admin.register(StaffMember)
class StaffMemberAdmin(ShopScopedAdmin):
    owners_only = True
    list_display = ["person", "email", "role"]
    list_select_related = ["user"]
    search_fields = ["user__email", "user__first_name", "user__last_name"]
    actions = None

    @display(description="name", ordering="user__username")
    def person(self, row: StaffMember) -> str:
        return row.user.get_full_name() or row.user.get_username()

    @display(description="e-mail address", ordering="user__email")
    def email(self, row: StaffMember) -> str:
        return row.user.email

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change=change, **kwargs | ({} if obj else {"form": NewStaffForm}))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["person", "email", "role"] if obj else ["email", "role"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["person", "email"] if obj else []

    def save_model(self, request: Any, obj: StaffMember, form: Any, change: bool) -> None:
        if change:
            actions.change_role(shop=request.shop, member=obj, role=obj.role)
            return
        member, password = actions.add_staff(shop=request.shop, email=form.cleaned_data["email"], role=obj.role)
        obj.pk, obj.user = member.pk, member.user
        if password:
            self.message_user(
                request, f"First password of {obj.user.email}, shown this once: {password}", messages.WARNING
            )

    def delete_model(self, request: Any, obj: StaffMember) -> None:
        actions.remove_staff(shop=request.shop, members=[obj.pk])


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
    form = AllowedOriginForm
    owners_only = True
    list_display = fields = ["origin"]
    search_fields = ["origin"]


class NewTokenForm(ShopScopedForm):
    scopes = forms.MultipleChoiceField(
        choices=list(SCOPES.items()),
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        label="May",
        help_text="Writing does not imply reading.",
    )

    def clean_expires_at(self) -> Any:
        expires_at = self.cleaned_data["expires_at"]
        if expires_at and expires_at <= self.now:
            raise forms.ValidationError("This time has passed.")
        return expires_at


@admin.register(ApiToken)
class ApiTokenAdmin(ShopScopedAdmin):
    """Tokens are made, shown once, and revoked; never deleted, so that it can be seen who could do what."""

    owners_only = True
    can_delete_rows = False
    list_display = ["name", "token", "allowed", "state", "created", "expires"]
    search_fields = ["name", "ending"]
    ordering = ["-created_at"]
    actions = ["revoke_chosen"]
    actions_detail = ["revoke"]

    created = moment("created_at")
    expires = moment("expires_at")
    revoked = moment("revoked_at")

    @display(description="token")
    def token(self, row: ApiToken) -> str:
        return f"api_…{row.ending}"

    @display(description="may")
    def allowed(self, row: ApiToken) -> str:
        return ", ".join(SCOPES[scope] for scope in row.scopes if scope in SCOPES)

    @display(description="state", label={"Valid": "success", "Revoked": "danger", "Expired": "warning"})
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
        return ["name", "token", "allowed", "state", "requests_per_minute", "created", "expires", "revoked"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["token", "allowed", "state", "created", "expires", "revoked"] if obj else []

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
        )
        ApiToken.objects.filter(pk=row.pk).update(requests_per_minute=obj.requests_per_minute)
        obj.pk, obj.ending = row.pk, row.ending
        request.new_secret = secret

    def response_add(self, request: Any, obj: ApiToken, post_url_continue: str | None = None) -> HttpResponse:
        """The secret, in the answer to the post itself: it is in no session, no message and no log."""
        context = {
            **self.admin_site.each_context(request),
            "title": f"Token “{obj.name}”",
            "opts": self.opts,
            "secret": request.new_secret,
            "kind": "token",
            "use": "Programs send it as “Authorization: Bearer …”. Whoever has it can do what it may do.",
            "then": "../",
        }
        response = TemplateResponse(request, "shops/admin/new_secret.html", context)
        response["Cache-Control"] = "no-store"
        return response

    @admin.action(description="Revoke the chosen tokens")
    def revoke_chosen(self, request: Any, queryset: QuerySet) -> None:
        for token in queryset:
            actions.revoke_api_token(shop=request.shop, token=token, now=request.now)
            self.log_change(request, token, "Revoked.")
        self.message_user(request, "Revoked. Programs that use these tokens are refused from now on.")

    @action(
        description="Revoke",
        icon="block",
        dialog={
            "title": "Revoke this token?",
            "description": "Programs that use it are refused from now on. This cannot be undone.",
            "form_class": None,
            "form_submit_text": "Revoke",
        },
    )
    def revoke(self, request: Any, form: Any, object_id: str) -> HttpResponse:
        token = self.row_or_404(request, object_id)
        actions.revoke_api_token(shop=request.shop, token=token, now=request.now)
        return self.done(request, token, "Revoked.")
