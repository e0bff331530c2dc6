from typing import Any
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.core.validators import validate_email
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django_tasks_db.models import DBTaskResult
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
)

from storefront import audit
from storefront.kit import clock
from storefront.kit.countries import countries
from storefront.shops import places
from storefront.shops.models import AllowedOrigin, ApiToken, Shop
from storefront.shops.rights import Right
from storefront.shops.scopes import SCOPES
from storefront.shops.senders import deployment_address, is_of_deployment, is_proved
from storefront.staff import actions, domains, doors, senders
from storefront.staff.admin_base import OneRowAdmin, ShopScopedAdmin, may_operate
from storefront.staff.admin_domains import ShopDomainAdmin as ShopDomainAdmin
from storefront.staff.admin_forms import ShopScopedForm, WordsField
from storefront.staff.admin_log import AuditEntryAdmin as AuditEntryAdmin
from storefront.staff.admin_parts import Moves, asks, chosen_deed, column, deed, moment, names, own_page, view_and_edit
from storefront.staff.admin_staff import StaffInvitationAdmin as StaffInvitationAdmin
from storefront.staff.admin_staff import StaffMemberAdmin as StaffMemberAdmin
from storefront.staff.mail_records import State

# Rights come from the user's role in a shop, not from groups; background tasks belong to no shop.
admin.site.unregister([Group, DBTaskResult])


MAX_ORDER_EMAILS = 10


class ShopForm(ShopScopedForm):
    timezone = forms.ChoiceField(
        choices=[(name, name.replace("_", " ")) for name in sorted(available_timezones())],
        widget=UnfoldAdminSelectWidget,
        label=_lazy("Time zone"),
        help_text=_lazy("Times in the admin are shown in this time zone."),
    )
    country = forms.ChoiceField(
        choices=lambda: countries().items(),
        widget=UnfoldAdminSelectWidget,
        help_text=_lazy("Where the shop sells from."),
    )
    order_emails = WordsField(
        label=_lazy("Addresses for new orders"),
        help_text=_lazy(
            "Who gets an email about each new order, separated by commas. If empty, the shop's own address "
            "is used, or else those of its owners."
        ),
    )

    def clean_order_emails(self) -> list[str]:
        addresses = self.cleaned_data["order_emails"]
        if len(addresses) > MAX_ORDER_EMAILS:
            raise forms.ValidationError(
                _("At most %(max_order_emails)s addresses.") % {"max_order_emails": MAX_ORDER_EMAILS}
            )
        for address in addresses:
            try:
                validate_email(address)
            except forms.ValidationError:
                raise forms.ValidationError(_("%(address)s is not an email address.") % {"address": address}) from None
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


class ShopAdmin(OneRowAdmin):
    """The settings of the session's shop, its doors and its first steps. Only the operator can change the domain.

    `checkout` registers this class, since it knows the payment methods. It adds the deed that opens the doors, which
    looks at what the shop lacks.
    """

    menu_title = _lazy("Shop")
    form = ShopForm
    rights = {"view": Right.MANAGE_SETTINGS, "change": Right.MANAGE_SETTINGS}
    moves = Moves.MONEY
    shop_lookup = "pk"
    list_select_related = False

    sender = column(_lazy("sender of emails"), lambda shop: _sender_text(shop))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["sender"] if may_operate(request) else ["sender", "domain", "base_url", "currency"]

    def the_row(self, request: Any) -> Any:
        return request.shop

    def offers(self, row: Any, name: str) -> bool:
        """Leaves out what is done already. The first steps are hidden on the start page, which shows them."""
        if name in ("ask_for_proof", "check_sender"):
            return bool(row.email) and (name == "check_sender" or not is_proved(row))
        return name != "hide_steps" and (name != "open_doors" or doors.is_closed(row))

    @deed(_lazy("Close the doors"), Right.MANAGE_SETTINGS, Moves.IDENTITY, icon="door_front", url_path="close-doors")
    def close_doors(self, request: Any, shop: Any) -> Any:
        """Asks first, then shows the password in the response itself, so that it gets into no session or log."""
        if request.method != "POST":
            context = {"title": _("Close the doors?"), "is_closed": doors.is_closed(shop), "back": "../change/"}
            return self.page(request, "shops/admin/close_doors.html", **context)
        return self.show_secret(
            request,
            doors.close_doors(shop=shop, now=request.now),
            title=_("The shop is closed"),
            kind=_("password"),
            use=_("Anyone who has it can see the shop before its doors open."),
            then="../change/",
        )

    @deed(_lazy("Prove the email address"), Right.MANAGE_SETTINGS, Moves.IDENTITY, icon="mark_email_read")
    @asks(
        _lazy("Prove the email address?"),
        _lazy("Emails come from it once you have followed a link that is sent to it."),
        _lazy("Send the link"),
    )
    def ask_for_proof(self, request: Any, shop: Any, form: Any) -> str:
        senders.ask_for_proof(shop=shop, now=request.now)
        return _("We have sent a link to %(email)s. It is valid for a day.") % {"email": shop.email}

    @own_page("sender/", "change", Moves.IDENTITY)
    def prove_sender(self, request: Any) -> HttpResponse:
        """Where the mailed link leads. Following it only asks."""
        proof = request.GET.get("proof", "")
        back = reverse("admin:shops_shop_change", args=[request.shop.pk])

        def act() -> HttpResponse:
            email = senders.prove(shop=request.shop, proof=proof, now=request.now)
            messages.success(request, _("Emails to shoppers come from %(email)s from now on.") % {"email": email})
            return HttpResponseRedirect(back)

        try:
            email = senders.proved_email(shop=request.shop, proof=proof, now=request.now)
        except senders.LinkOver as refusal:
            messages.error(request, refusal.text)
            return HttpResponseRedirect(back)
        question = {
            "title": _("Send emails from %(email)s?") % {"email": email},
            "sentences": [
                _("Emails of %(shop)s to shoppers then come from this address.") % {"shop": request.shop.name}
            ],
            "button": _("Send from this address"),
            "back": back,
        }
        return self.once_sure(request, question, act)

    @deed(_lazy("Check the sender"), Right.MANAGE_SETTINGS, Moves.NOTHING, icon="travel_explore")
    @asks(
        _lazy("Check the sender?"),
        _lazy("Looks up whether your domain lets this deployment send emails from your address."),
        _lazy("Check"),
    )
    def check_sender(self, request: Any, shop: Any, form: Any) -> Any:
        for finding in senders.check_sender(shop=shop, now=request.now):
            level = messages.SUCCESS if finding.state == State.GOOD else messages.WARNING
            self.message_user(request, finding.text, level)
        return self.back_to(request, shop)

    @deed(_lazy("Hide the first steps"), Right.MANAGE_SETTINGS, Moves.NOTHING)
    @asks(_lazy("Hide the first steps?"), _lazy("The start page will no longer show them."), _lazy("Hide"))
    def hide_steps(self, request: Any, shop: Any, form: Any) -> str:
        if Shop.objects.filter(pk=shop.pk, steps_hidden_at=None).update(steps_hidden_at=request.now):
            audit.record(
                shop=shop, action="shop.updated", object=shop, after={"first_steps": "hidden"}, now=request.now
            )
        return _("The first steps are hidden.")


def _sender_text(shop: Shop) -> str:
    if is_proved(shop):
        return f"{shop.email}"
    if not shop.email:
        return _("%(deployment_address)s, the address of this deployment.") % {
            "deployment_address": deployment_address()
        }
    need = _("the operator allows it") if is_of_deployment(shop.email) else _("it is proved")
    return _("%(deployment_address)s, with replies to %(email)s, until %(need)s.") % {
        "deployment_address": deployment_address(),
        "email": shop.email,
        "need": need,
    }


class AllowedOriginForm(ShopScopedForm):
    def clean_origin(self) -> str:
        """Browsers send an origin as scheme, host and port, in lower case."""
        origin = self.cleaned_data["origin"].strip().rstrip("/").lower()
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https") or not parts.hostname or origin != f"{parts.scheme}://{parts.netloc}":
            raise forms.ValidationError(_("Expected an origin such as https://www.example.com, without a path."))
        return origin


@admin.register(AllowedOrigin)
class AllowedOriginAdmin(ShopScopedAdmin):
    empty_text = _lazy("Pages of other sites may call the API only from the origins listed here.")
    form = AllowedOriginForm
    rights = view_and_edit(Right.MANAGE_SETTINGS, Right.MANAGE_SETTINGS)
    moves = Moves.NOTHING
    list_display = fields = ["origin"]
    search_fields = ["origin"]


class NewTokenForm(ShopScopedForm):
    scopes = forms.MultipleChoiceField(
        choices=list(SCOPES.items()),
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        label=_lazy("Permissions"),
        help_text=_lazy("Write permissions do not include read permissions."),
    )

    def clean_expires_at(self) -> Any:
        expires_at = self.cleaned_data["expires_at"]
        if expires_at and expires_at <= self.now:
            raise forms.ValidationError(_("Enter a time in the future."))
        return expires_at


def _state_of(token: ApiToken) -> tuple[str, str]:
    if token.revoked_at:
        return "revoked", _("Revoked")
    return ("valid", _("Valid")) if token.is_valid(clock.now()) else ("expired", _("Expired"))


@admin.register(ApiToken)
class ApiTokenAdmin(ShopScopedAdmin):
    """Tokens are created, shown once, and revoked. They are not deleted, so that past permissions can be looked up."""

    empty_text = _lazy("A program that reads the shop or fills carts needs a token of its own. It is shown once.")
    rights = {"view": Right.MANAGE_TOKENS, "add": Right.MANAGE_TOKENS, "change": Right.MANAGE_TOKENS}
    moves = Moves.IDENTITY
    list_display = ["name", "token", "allowed", "state", "created", "expires", "last_used"]
    search_fields = ["name", "ending"]
    ordering = ["-created_at"]
    deferred = ("digest",)
    new_fields = ["name", "scopes", "expires_at", "requests_per_minute"]
    fields = names("name token allowed state requests_per_minute created expires revoked last_used")
    editable = ("name", "requests_per_minute")

    created = moment("created_at", _lazy("created"))
    expires = moment("expires_at", _lazy("expires"))
    revoked = moment("revoked_at", _lazy("revoked"))
    last_used = moment("last_used_at", _lazy("last used"))
    token = column(_lazy("token"), lambda row: f"api_…{row.ending}")
    allowed = column(
        _lazy("permissions"), lambda row: ", ".join(str(SCOPES[scope]) for scope in row.scopes if scope in SCOPES)
    )

    state = column(
        _lazy("status"),
        _state_of,
        label={"valid": "success", "revoked": "danger", "expired": "warning"},
    )

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change=change, **kwargs | ({} if obj else {"form": NewTokenForm}))

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
        return self.show_secret(
            request,
            request.new_secret,
            title=_("Token “%(obj)s”") % {"obj": obj.name},
            kind=_("token"),
            use=_("Programs send it as “Authorization: Bearer …”. Anyone who has it can use its permissions."),
            then="../",
        )

    @chosen_deed(_lazy("Revoke chosen tokens"), Right.MANAGE_TOKENS, Moves.IDENTITY)
    def revoke_chosen(self, request: Any, queryset: QuerySet) -> str:
        for token in queryset:
            actions.revoke_api_token(shop=request.shop, token=token, now=request.now)
        return _("Tokens revoked. Programs can no longer use them.")

    @deed(_lazy("Revoke"), Right.MANAGE_TOKENS, Moves.IDENTITY, icon="block")
    @asks(_lazy("Revoke this token?"), _lazy("Programs can no longer use it. This cannot be undone."), _lazy("Revoke"))
    def revoke(self, request: Any, token: Any, form: Any) -> str:
        actions.revoke_api_token(shop=request.shop, token=token, now=request.now)
        return _("Token revoked.")
