"""The staff of a shop, and invitations to join it."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext
from unfold.widgets import UnfoldAdminEmailInputWidget

from storefront import audit
from storefront.kit import clock
from storefront.shops import mail
from storefront.shops.models import Shop, StaffInvitation, StaffMember
from storefront.shops.rights import Right
from storefront.staff import actions, invitations, jobs
from storefront.staff.admin_base import ShopScopedAdmin
from storefront.staff.admin_forms import ShopScopedForm
from storefront.staff.admin_parts import Moves, asks, column, deed, moment, person, view_and_edit

STATES = {"pending": "info", "accepted": "success", "withdrawn": "", "expired": "warning"}


@admin.register(StaffMember)
class StaffMemberAdmin(ShopScopedAdmin):
    """Staff members and their roles. People join by invitation, so "add" leads to inviting them."""

    menu_title = _lazy("Staff")
    rights = view_and_edit(Right.MANAGE_STAFF, Right.MANAGE_STAFF)
    moves = Moves.IDENTITY
    list_display = ["person", "email", "role"]
    list_select_related = ["user"]
    list_after_template = "shops/admin/open_invitations.html"
    search_fields = ["user__email", "user__first_name", "user__last_name"]
    actions = None
    fields = ["person", "email", "role"]
    readonly_fields = ["person", "email"]

    def history_of(self, row: StaffMember) -> audit.Object:
        return audit.person(row.user)

    person = column(_lazy("name"), lambda row: person(row.user), by="user__username")
    email = column(_lazy("email address"), lambda row: row.user.email, by="user__email")

    def add_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.require(request, "add")
        return HttpResponseRedirect(reverse("admin:shops_staffinvitation_add"))

    def changelist_view(self, request: Any, extra_context: dict[str, Any] | None = None) -> Any:
        pending = invitations.pending_invitations(shop=request.shop, now=request.now)
        return super().changelist_view(request, {**(extra_context or {}), "open_invitations": pending})

    def save_model(self, request: Any, obj: StaffMember, form: Any, change: bool) -> None:
        actions.change_role(shop=request.shop, member=obj, role=obj.role, now=request.now)

    def delete_model(self, request: Any, obj: StaffMember) -> None:
        actions.remove_staff(shop=request.shop, members=[obj.pk], now=request.now)

    @deed(_lazy("Sign out everywhere"), Right.MANAGE_STAFF, Moves.IDENTITY, icon="logout")
    @asks(
        _lazy("Sign this person out of every browser?"),
        _lazy("They keep their place in the shop, and can sign in again, also to other shops."),
        _lazy("Sign out"),
    )
    def end_sessions(self, request: Any, row: Any, form: Any) -> str:
        ended = actions.end_sessions_of_staff(shop=request.shop, member=row, now=request.now)
        return ngettext("Signed out of %(count)s browser.", "Signed out of %(count)s browsers.", ended) % {
            "count": ended
        }


class InvitationForm(ShopScopedForm):
    email = forms.EmailField(
        label=_lazy("Email address"),
        max_length=invitations.MAX_EMAIL_LENGTH,
        widget=UnfoldAdminEmailInputWidget,
        help_text=_lazy("We will send an email with a link to accept. The link works once, for seven days."),
    )

    def clean_email(self) -> str:
        return self.cleaned_data["email"].lower()

    def _check_constraints(self) -> None:
        """Checks nothing: an open invitation of the same address is replaced."""


def state_of(row: StaffInvitation) -> tuple[str, str]:
    if row.accepted_at or row.revoked_at:
        return ("accepted", _("Accepted")) if row.accepted_at else ("withdrawn", _("Withdrawn"))
    return ("pending", _("Pending")) if row.is_pending(clock.now()) else ("expired", _("Expired"))


def is_open(row: StaffInvitation) -> bool:
    return row.accepted_at is None and row.revoked_at is None


@admin.register(StaffInvitation)
class StaffInvitationAdmin(ShopScopedAdmin):
    """Invitations are sent, sent again and withdrawn. They are not deleted, so that it stays known who invited whom."""

    empty_text = _lazy("Invite the people who work in the shop with you, each with a role.")
    form = InvitationForm
    rights = {"view": Right.MANAGE_STAFF, "add": Right.MANAGE_STAFF}
    moves = Moves.IDENTITY
    list_display = ["email", "role", "state", "by", "sent", "until"]
    list_select_related = ["shop", "invited_by"]
    search_fields = ["email"]
    ordering = ["-created_at", "-id"]
    actions = None
    deferred = ("digest",)
    new_fields = ["email", "role"]
    fields = ["email", "role", "state", "by", "sent", "until", "accepted"]

    sent = moment("created_at", _lazy("invited"))
    until = moment("expires_at", _lazy("until"))
    accepted = moment("accepted_at", _lazy("accepted"))

    state = column(_lazy("status"), state_of, label=STATES)
    by = column(_lazy("by"), lambda row: row.invited_by.get_username() if row.invited_by else _("The operator"))

    def save_model(self, request: Any, obj: StaffInvitation, form: Any, change: bool) -> None:
        made = invite(request, shop=request.shop, email=obj.email, role=obj.role)
        obj.pk, obj._state.adding = made.pk, False

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        return HttpResponseRedirect(reverse("admin:shops_staffmember_changelist"))

    @deed(_lazy("Send again"), Right.MANAGE_STAFF, Moves.IDENTITY, icon="replay", when=is_open)
    @asks(
        _lazy("Send a new link?"),
        _lazy("The new link works for seven days. The previous link stops working immediately."),
        _lazy("Send"),
    )
    def send_again(self, request: Any, row: Any, form: Any) -> Any:
        if not is_open(row):
            self.message_user(request, _("This invitation is no longer valid."), messages.ERROR)
            return self.back_to(request, row)
        again = invite(request, shop=request.shop, email=row.email, role=row.role)
        return self.back_to(request, again)

    @deed(_lazy("Withdraw"), Right.MANAGE_STAFF, Moves.IDENTITY, icon="block", when=is_open)
    @asks(_lazy("Withdraw this invitation?"), _lazy("Its link stops working immediately."), _lazy("Withdraw"))
    def withdraw(self, request: Any, row: Any, form: Any) -> str:
        invitations.withdraw_invitations(shop=request.shop, pk=row.pk, now=request.now)
        return _("Invitation withdrawn.")


def invite(request: Any, *, shop: Shop, email: str, role: str) -> StaffInvitation:
    """Invite, and show a message that does not reveal whether the address has an account."""
    made = invitations.invite_staff(shop=shop, email=email, role=role, invited_by=request.user, now=request.now)
    if mail.is_sent():
        jobs.send_invitation.enqueue(made.shop_id, made.pk)
        messages.success(request, _("Invitation sent to %(email)s.") % {"email": made.email})
    else:
        command = f"storefront invitestaff --shop {shop.domain} --email {made.email} --role {made.role}"
        text = _(
            "%(email)s is invited, but this service sends no email. The operator can print a link: %(command)s"
        ) % {"email": made.email, "command": command}
        messages.warning(request, text)
    return made
