"""Pages of the admin that need no sign-in: accepting an invitation, a forgotten password.

A mailed link contains a secret, so the page removes it from the URL at once and stores the proof in the session.
Following a link changes nothing, since mail scanners follow links, too.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any, cast
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.contrib.auth import logout
from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.views import INTERNAL_RESET_SESSION_TOKEN, PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import URLPattern, path, reverse, reverse_lazy
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from limits import parse_many

from storefront.kit import tokens
from storefront.kit.api.http import SeeOther, pop_query_string
from storefront.kit.callers import client_network
from storefront.kit.refusals import Refusal
from storefront.pods import registry
from storefront.shops.models import StaffInvitation, User
from storefront.shops.ratelimit import RateLimited, count_call, retry_after, seconds_to_wait
from storefront.shops.request import Request
from storefront.shops.staff_language import within_sentence
from storefront.staff import invitations, jobs, signin, staff_sessions
from storefront.staff.elsewhere import elsewhere
from storefront.staff.invitations import AccountExists, InvitationOver
from storefront.staff.staff_forms import ChoosePasswordForm, ForgottenForm, NewAccountForm

PROOF, OFFER = "staff_invitation", "staff_account_offer"
RESETS_A_MINUTE = 2
# Limits of password reset mails: requested from one place, and sent to one address. The second is no longer than a link
# is valid, so that an owner for whom strangers used it up has a link that works.
RESETS_FROM_PLACE = parse_many("20/hour")
RESETS_TO_ADDRESS = parse_many("5/hour")
_UID = re.compile(r"[A-Za-z0-9_-]{1,40}\Z")
# The form of Django's reset tokens.
_RESET = re.compile(r"(?=.{3,99}\Z)[a-z0-9]+-[a-z0-9]+\Z")

Page = Callable[..., HttpResponse]


def private(page: Page) -> Page:
    """Decorator of pages that must not be cached."""

    @wraps(page)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = page(request, *args, **kwargs)
        response["Cache-Control"] = "no-store"
        return response

    return answer


def mailed_link(page: Page) -> Page:
    """Decorator of the pages behind mailed links: private, and the browser sends their URL, with its secret, to nobody.

    They hold no forms: a form of a page without a referrer is posted with `Origin: null`, which the protection against
    forged forms refuses.
    """

    @wraps(page)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = private(page)(request, *args, **kwargs)
        response["Referrer-Policy"] = "no-referrer"
        return response

    return answer


@require_safe
@mailed_link
@sensitive_variables()
def follow_invitation(request: Any) -> HttpResponse:
    """Follow a mailed invitation: store the proof in the session, and redirect to a URL without the token."""
    token = QueryDict(pop_query_string(request)).get("token")
    digest = tokens.digest(token) if tokens.is_well_formed(token, invitations.PREFIX) else ""
    if not digest or invitations.invitation_of(digest=digest, now=request.now) is None:
        return _over(request)
    # HEAD, which link scanners send, creates no session.
    if request.method == "GET":
        request.session[PROOF] = digest
    return SeeOther(reverse("admin:invitation"))


@sensitive_post_parameters("new_password1", "new_password2")
@require_http_methods(["GET", "HEAD", "POST"])
@csrf_protect
@private
def invitation(request: Any) -> HttpResponse:
    """Show the invitation, and accept it: as the signed-in user, or with a new account."""
    offered = _proved(request)
    if offered is None:
        return _over(request)
    try:
        if staff_sessions.staff_session_of(request) is not None:
            return _as_signed_in(request, offered)
        if invitations.accounts_with(offered.email).exists():
            return _page(request, "invitation.html", _shown(offered, "sign_in"))
        if not registry.is_written_here():
            query = urlencode({"token": invitations.offer_account(offered)})
            address = registry.address(f"/admin/new-account/?{query}")
            return _page(request, "invitation.html", {**_shown(offered, "elsewhere"), "address": address})
        return _with_new_account(request, offered)
    except InvitationOver:
        return _over(request)


def _as_signed_in(request: Any, offered: StaffInvitation) -> HttpResponse:
    if request.user.email.lower() != offered.email:
        return _page(request, "invitation.html", _shown(offered, "somebody_else"))
    if request.method != "POST":
        return _page(request, "invitation.html", _shown(offered, "accept"))
    invitations.accept_invitation(invitation=offered, user=request.user, now=request.now)
    del request.session[PROOF]
    messages.success(request, _("You have joined the staff of %(shop)s.") % {"shop": offered.shop})
    return SeeOther(reverse("admin:index"))


@sensitive_variables("form", "given")
def _with_new_account(request: Any, offered: StaffInvitation) -> HttpResponse:
    # An unsaved user, by which the validators refuse a password that is similar to the address.
    person = User(username=offered.email, email=offered.email)
    form = NewAccountForm(person, request.POST if request.method == "POST" else None)
    if form.is_valid():
        given = form.cleaned_data
        try:
            invitations.accept_with_new_account(
                invitation=offered, name=given["name"], password=given["new_password1"], now=request.now
            )
        except AccountExists as refusal:
            form.add_error(None, refusal.text)
        else:
            del request.session[PROOF]
            messages.success(request, _("Account created. Sign in as %(email)s.") % {"email": offered.email})
            return SeeOther(reverse("admin:login"))
    return _page(request, "invitation.html", {**_shown(offered, "new"), "form": form}, 422 if form.is_bound else 200)


@require_safe
@mailed_link
@sensitive_variables()
def follow_offer(request: Any) -> HttpResponse:
    """Follow another pod's link to create an account: store the proof in the session, and redirect to a URL without
    it."""
    token = QueryDict(pop_query_string(request)).get("token", "")
    if invitations.offer_of(token) is None:
        return _over(request)
    if request.method == "GET":
        request.session[OFFER] = token
    return SeeOther(reverse("admin:new_account"))


@sensitive_post_parameters("new_password1", "new_password2")
@require_http_methods(["GET", "HEAD", "POST"])
@csrf_protect
@private
@sensitive_variables("form", "given")
def new_account(request: Any) -> HttpResponse:
    """Create the account of somebody whom a shop of another pod has invited, and lead back to the invitation."""
    if answer := elsewhere(request):
        return answer
    offered = invitations.offer_of(request.session.get(OFFER, ""))
    if offered is None:
        return _over(request)
    person = User(username=offered.email, email=offered.email)
    form = NewAccountForm(person, request.POST if request.method == "POST" else None)
    is_made = invitations.accounts_with(offered.email).exists()
    if not is_made and form.is_valid():
        given = form.cleaned_data
        # Whoever made it has followed the same mail.
        with suppress(AccountExists):
            invitations.create_account(email=offered.email, name=given["name"], password=given["new_password1"])
        is_made = True
    status = 422 if form.is_bound and not is_made else 200
    return _page(request, "new_account.html", {"offered": offered, "form": form, "is_made": is_made}, status)


@require_POST
@csrf_protect
@private
def leave(request: Any) -> HttpResponse:
    """Sign out of another account, and continue with the invitation."""
    proof = request.session.get(PROOF)
    logout(request)
    if proof:
        request.session[PROOF] = proof
    return SeeOther(reverse("admin:invitation"))


@require_http_methods(["GET", "HEAD", "POST"])
@csrf_protect
@private
def forgotten(request: Any) -> HttpResponse:
    """Request a link to choose a new password. The response is the same whether or not the address has an account."""
    form = ForgottenForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        email = form.cleaned_data["email"].lower()
        wait = _wait_for_reset(request, email)
        if wait:
            refusal = RateLimited(wait)
            form.add_error(None, refusal.text)
            response = _page(request, "forgotten.html", {"form": form}, refusal.status)
            response["Retry-After"] = refusal.headers["Retry-After"]
            return response
        jobs.send_password_reset.enqueue(None, email)
        return SeeOther(reverse("admin:password_reset_done"))
    return _page(request, "forgotten.html", {"form": form}, 422 if form.is_bound else 200)


def _wait_for_reset(request: HttpRequest, email: str) -> int:
    """Count a requested mail. Returns 0, or the seconds to wait if a limit refuses it. Addresses without an account are
    counted alike."""
    whose = f"staff-reset:{tokens.digest(email)}"
    counted = [(item, f"staff-reset-from:{client_network(request)}") for item in RESETS_FROM_PLACE]
    counted += [(item, whose) for item in RESETS_TO_ADDRESS]
    # A refused request is not counted, so that repeating it does not keep an address blocked.
    waits = [seconds_to_wait(item, name, peek=True) for item, name in counted]
    if any(waits):
        return max(waits)
    allowed, quota = count_call(whose, per_minute=RESETS_A_MINUTE)
    if not allowed:
        return retry_after(quota)
    # If several requests passed the check at once, those beyond a limit are refused here.
    return max(seconds_to_wait(item, name) for item, name in counted)


@require_safe
@private
def mailed(request: Any) -> HttpResponse:
    return _page(request, "mailed.html", {})


@require_safe
@mailed_link
@sensitive_variables()
def follow_reset(request: Any) -> HttpResponse:
    """Follow a mailed link for a new password. If the link is invalid, the next page shows that."""
    given = QueryDict(pop_query_string(request))
    uid, token = given.get("uid", ""), given.get("token", "")
    if not _UID.match(uid) or not _RESET.match(token):
        return _page(request, "reset_refused.html", {}, 403)
    if request.method == "GET" and _is_valid_reset(uid, token):
        request.session[INTERNAL_RESET_SESSION_TOKEN] = token
    return SeeOther(reverse("admin:password_reset_confirm", args=[uid]))


@sensitive_variables()
def _is_valid_reset(uid: str, token: str) -> bool:
    return bool(default_token_generator.check_token(ChoosePassword().get_user(uid), token))


class ChoosePassword(PasswordResetConfirmView):
    """Choose a new password after following the link. It does not sign anybody in."""

    form_class = ChoosePasswordForm
    template_name = "shops/admin/choose_password.html"
    success_url = reverse_lazy("admin:login")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**{**admin.site.each_context(self.request), **kwargs})

    def dispatch(self, *args: Any, **kwargs: Any) -> Any:
        return elsewhere(self.request) or super().dispatch(*args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        answer = super().form_valid(form)
        # Signs out everybody who used the old password.
        staff_sessions.end_sessions(form.user)
        signin.notify_of_new_password(cast(Request, self.request), form.user)
        messages.success(self.request, _("Password changed. Sign in with your new password."))
        return signin.remember_reader(self.request, answer, form.user)


def urls() -> list[URLPattern]:
    """URLs of pages that need no sign-in. Unfold's sign-in page links to `admin_password_reset` by name."""
    choose = private(cast(Page, ChoosePassword.as_view()))
    return [
        path("invitation/", follow_invitation, name="invitation_link"),
        path("invitation/accept/", invitation, name="invitation"),
        path("invitation/sign-out/", leave, name="invitation_sign_out"),
        path("new-account/", follow_offer, name="new_account_link"),
        path("new-account/create/", new_account, name="new_account"),
        path("password_reset/", forgotten, name="admin_password_reset"),
        path("password_reset/mailed/", mailed, name="password_reset_done"),
        path("password_reset/link/", follow_reset, name="password_reset_link"),
        path("password_reset/<uidb64>/", choose, {"token": "set-password"}, name="password_reset_confirm"),
    ]


def _proved(request: Any) -> StaffInvitation | None:
    digest = request.session.get(PROOF)
    return invitations.invitation_of(digest=digest, now=request.now) if digest else None


def _shown(offered: StaffInvitation, state: str) -> dict[str, Any]:
    return {"offered": offered, "role": within_sentence(offered.get_role_display()), "state": state}


def _over(request: Any) -> HttpResponse:
    refusal: Refusal = InvitationOver()
    return _page(request, "invitation_over.html", {"sentence": refusal.text}, refusal.status)


def _page(request: HttpRequest, template: str, context: dict[str, Any], status: int = 200) -> HttpResponse:
    shared = {**admin.site.each_context(request), "is_nav_sidebar_enabled": False}
    return render(request, f"shops/admin/{template}", shared | context, status=status)
