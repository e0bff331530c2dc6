"""A person's own pages in the admin: second factors, sessions, confirming one's identity again, a new password."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import gettext_noop
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST
from unfold.widgets import UnfoldAdminPasswordWidget

from storefront.kit.refusals import NotFound
from storefront.shops.staff_language import language_of_admin
from storefront.shops.throttle import TooManyTries
from storefront.staff import second_factor, signin, staff_jobs, staff_sessions
from storefront.staff.admin_language import LanguageForm
from storefront.staff.admin_signin import SECURITY, SignInPages, next_url
from storefront.staff.confirmation import ask_to_repeat
from storefront.staff.elsewhere import elsewhere
from storefront.staff.second_factor import LastFactor
from storefront.staff.staff_sessions import staff_session_of

CONFIRM_PAGE, CONFIRM_TITLE = "shops/admin/confirm.html", _lazy("Confirm that it is you")
REMOVED = {"app": gettext_noop("an authenticator app was removed"), "passkey": gettext_noop("a passkey was removed")}


class OwnPasswordForm(forms.Form):
    password = forms.CharField(
        label=_lazy("Password"),
        strip=False,
        max_length=4096,
        error_messages={"required": _lazy("Please enter your password.")},
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "current-password"}),
    )


class AccountPages(SignInPages):
    """The pages of `ShopAdminSite` about the user. `admin_site.OF_THE_PERSON` lists their names."""

    def account_urls(self) -> list[URLPattern]:
        pages = [
            ("confirm/", sensitive_post_parameters()(self.confirm), "confirm"),
            ("security/", self.security, "security"),
            ("security/add/", sensitive_post_parameters()(self.security_add), "security_add"),
            ("security/remove/", require_POST(self.security_remove), "security_remove"),
            ("security/codes/", require_POST(self.security_codes), "security_codes"),
            ("security/sessions/", require_POST(self.security_end), "security_end"),
            ("security/language/", require_POST(self.security_language), "security_language"),
        ]
        return [path(route, self.admin_view(page), name=name) for route, page, name in pages]

    def security(self, request: Any) -> HttpResponse:
        context = {
            "title": _("Security"),
            "factors": second_factor.factors_of(request.user),
            "must_have_one": second_factor.must_have_one(request.user),
            "sessions": list(staff_sessions.sessions_of(request.user, now=request.now)),
            "here": staff_session_of(request),
            "language": LanguageForm(initial={"language": request.user.language}),
        }
        return self.account_page(request, "shops/admin/security.html", context)

    def security_add(self, request: Any) -> HttpResponse:
        if answer := elsewhere(request, SECURITY):
            return answer
        row = staff_session_of(request)

        def added() -> None:
            if row is not None:
                staff_sessions.confirm(row, now=request.now, has_second_factor=True)
            messages.success(request, _("Second factor added. You will be asked for it when you sign in."))

        return self.add_factor(request, request.user, added, "shops/admin/enrol.html", then=reverse("admin:security"))

    def security_remove(self, request: Any) -> HttpResponse:
        if answer := elsewhere(request, SECURITY):
            return answer
        kind, chosen = request.POST.get("kind", ""), request.POST.get("id", "")
        factor_id = int(chosen) if chosen.isascii() and chosen.isdigit() and len(chosen) < 16 else 0
        try:
            second_factor.remove_factor(user=request.user, kind=kind, factor_id=factor_id)
        except NotFound:
            raise Http404 from None
        except LastFactor as refusal:
            messages.error(request, refusal.text)
        else:
            staff_jobs.send_to_person.enqueue(None, request.user.pk, "factors_changed", {"what": REMOVED[kind]})
            messages.success(request, _("Second factor removed."))
        return HttpResponseRedirect(reverse("admin:security"))

    def security_codes(self, request: Any) -> HttpResponse:
        """Replace the recovery codes by new ones."""
        if answer := elsewhere(request, SECURITY):
            return answer
        if not second_factor.factors_of(request.user):
            raise Http404
        codes = second_factor.new_recovery_codes(user=request.user)
        what = {"what": gettext_noop("new recovery codes were created")}
        staff_jobs.send_to_person.enqueue(None, request.user.pk, "factors_changed", what)
        return self.show_codes(request, codes, then=reverse("admin:security"))

    def security_end(self, request: Any) -> HttpResponse:
        """Sign out one browser, all others, or all including this one."""
        chosen = request.POST.get("id", "")
        here = staff_session_of(request)
        if chosen.isascii() and chosen.isdigit() and len(chosen) < 16:
            if not staff_sessions.end_sessions(request.user, session_id=int(chosen)):
                raise Http404
            messages.success(request, _("Browser signed out."))
        elif chosen == "others":
            staff_sessions.end_sessions(request.user, but=here)
            messages.success(request, _("All other browsers signed out."))
        elif chosen == "all":
            staff_sessions.end_sessions(request.user)
        else:
            raise Http404
        return HttpResponseRedirect(reverse("admin:security"))

    def security_language(self, request: Any) -> HttpResponse:
        """Choose the language of the admin and of mails to this person."""
        if answer := elsewhere(request, SECURITY):
            return answer
        form = LanguageForm(request.POST)
        if not form.is_valid():
            raise Http404
        request.user.language = form.cleaned_data["language"]
        request.user.save(update_fields=["language"])
        with translation.override(language_of_admin(request)):
            messages.success(request, _("Language saved."))
        return HttpResponseRedirect(reverse("admin:security"))

    def confirm(self, request: Any) -> HttpResponse:
        """Ask a signed-in user to confirm their identity, then redirect to the page they came from. A user with a
        second factor is asked for that, not for the password."""
        row, has_factor = staff_session_of(request), bool(second_factor.factors_of(request.user))

        def proved() -> HttpResponse:
            if row is not None:
                staff_sessions.confirm(row, now=request.now, has_second_factor=has_factor)
            ask_to_repeat(request)
            return HttpResponseRedirect(next_url(request))

        if has_factor:
            return self.ask_for_factor(request, request.user, proved, CONFIRM_PAGE, CONFIRM_TITLE)
        return self._ask_for_password(request, proved)

    def _ask_for_password(self, request: Any, proved: Callable[[], HttpResponse]) -> HttpResponse:
        form = OwnPasswordForm(request.POST if request.method == "POST" else None)
        status, headers = 200, {}
        if form.is_valid():
            try:
                if signin.proves_password(request, request.user, form.cleaned_data["password"]):
                    return proved()
                form.add_error("password", _("The password is incorrect."))
            except TooManyTries as refusal:
                form.add_error(None, refusal.text)
                status, headers = refusal.status, refusal.headers
        context = {"title": CONFIRM_TITLE, "form": form}
        return self.bare_page(request, CONFIRM_PAGE, context, status=status, headers=headers)

    def account_page(self, request: Any, template: str, context: dict[str, Any]) -> TemplateResponse:
        request.current_app = self.name
        response = TemplateResponse(request, template, {**self.each_context(request), **context})
        response["Cache-Control"] = "no-store"
        return response


def change_password(request: Any, page: Callable[[], HttpResponse]) -> HttpResponse:
    """The response of Django's page. If it changed the password, all other browsers of the person are signed out, and
    the person is notified by mail."""
    if answer := elsewhere(request, "/admin/password_change/"):
        return answer
    if request.method != "POST":
        return page()
    try:
        tried = signin.begin_guess(request, "staff", signin.account_of(request.user))
    except TooManyTries as refusal:
        return _refused(request, page, refusal)
    row, response = staff_sessions.staff_session_of(request), page()
    if response.status_code != 302:
        # A wrong old password stays counted; an invalid new one is not a guess.
        if "old_password" not in response.context_data["form"].errors:  # type: ignore[attr-defined]
            tried.succeed()
        return response
    tried.succeed()
    if row is not None:
        # Django gives the session a new key with the new password.
        staff_sessions.update_session_key(request, row)
    staff_sessions.end_sessions(request.user, but=row)
    signin.notify_of_new_password(request, request.user)
    return signin.remember(request, response, request.user)


def _refused(request: Any, page: Callable[[], HttpResponse], refusal: TooManyTries) -> HttpResponse:
    """The empty form with a message; the posted passwords are not checked."""
    messages.error(request, refusal.text)
    request.method = "GET"
    response = page()
    response.status_code = refusal.status
    response["Retry-After"] = refusal.headers["Retry-After"]
    return response
