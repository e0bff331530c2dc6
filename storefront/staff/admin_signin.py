"""Pages to sign in to the admin: the password, the second factor, and setting up a required second factor."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.forms import UsernameField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.debug import sensitive_post_parameters
from unfold.forms import AuthenticationForm
from unfold.widgets import UnfoldAdminTextInputWidget

from storefront.kit import sealing
from storefront.kit.refusals import InvalidFields
from storefront.kit.text import Text
from storefront.pods import registry
from storefront.shops.models import User
from storefront.shops.throttle import TooManyTries
from storefront.staff import passkeys, second_factor, signin, staff_jobs, staff_sessions
from storefront.staff.elsewhere import elsewhere

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite as Site
else:
    Site = object

WRONG_CODE = _lazy("This code is incorrect or has already been used.")
WRONG_BOTH = _lazy("The email address, the password or the code is incorrect, or the code has already been used.")
# Path of the page about one's own second factors.
SECURITY = "/admin/security/"
ONLY_APPS = _lazy("Here, codes of an authenticator app and passkeys of this host work, and no recovery codes.")
_KEY = "second_factor_key"
_secret_page = (never_cache, csrf_protect, sensitive_post_parameters())


def _code_field() -> forms.CharField:
    return forms.CharField(
        label=_lazy("Code"),
        required=False,
        max_length=40,
        widget=UnfoldAdminTextInputWidget(
            attrs={"autocomplete": "one-time-code", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )


class PasswordForm(AuthenticationForm):
    """User name and password, and a code of the second factor where too many passwords were tried. Validation can raise
    TooManyTries."""

    username = UsernameField(label=_lazy("Email address"), widget=forms.TextInput(attrs={"autofocus": True}))
    code = _code_field()
    has_second_factor = False

    def clean(self) -> dict[str, Any]:
        name, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if not name or not password:
            return super().clean()
        try:
            tried = signin.begin_guess(self.request, "staff", signin.account_named(name))
        except TooManyTries:
            if not self.cleaned_data.get("code"):
                raise
            return self._clean_with_code(name, password)
        cleaned = super().clean()
        tried.succeed()
        return cleaned

    def _clean_with_code(self, name: str, password: str) -> dict[str, Any]:
        given = {"username": name, "password": password, "code": self.cleaned_data["code"]}
        self.user_cache = signin.person_with_both(self.request, **given)
        if self.user_cache is None:
            raise forms.ValidationError(WRONG_BOTH)
        self.has_second_factor = True
        return self.cleaned_data


class FactorForm(forms.Form):
    """A typed code, or the browser's response for a passkey, as JSON."""

    code = _code_field()
    passkey = forms.CharField(required=False, max_length=20_000, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if not self.errors and not given.get("code") and not given.get("passkey"):
            self.add_error("code", _("Please enter a code."))
        return given


class NewFactorForm(FactorForm):
    name = forms.CharField(
        label="Name",
        required=False,
        max_length=64,
        help_text="A name to recognise it by, such as “My phone”.",
        widget=UnfoldAdminTextInputWidget,
    )
    field_order = ["name", "code"]


class SignInPages(Site):
    """Pages of `ShopAdminSite` for people who are not signed in yet."""

    def signin_urls(self) -> list[URLPattern]:
        return [
            path("login/second/", self.second_step, name="second_step"),
            path("login/enrol/", self.enrol, name="enrol"),
        ]

    @method_decorator(_secret_page)
    def login(self, request: Any, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Ask for the password, then redirect to the second factor; without one, sign in."""
        wanted = next_url(request)
        if request.method != "POST" and self.has_permission(request):
            return HttpResponseRedirect(wanted)
        form = PasswordForm(request, data=request.POST if request.method == "POST" else None)
        try:
            if form.is_valid():
                return self._password_given(request, form, wanted)
            status, headers = 200, {}
        except TooManyTries as refusal:
            form.add_error(None, refusal.text)
            status, headers = refusal.status, refusal.headers
        context = {
            "title": _("Sign in"),
            "form": form,
            "app_path": request.get_full_path(),
            "is_limited": status == TooManyTries.status or "code" in request.POST,
            **(extra_context or {}),
        }
        return self.bare_page(request, "shops/admin/sign_in.html", context, status=status, headers=headers)

    def _password_given(self, request: Any, form: PasswordForm, wanted: str) -> HttpResponse:
        user = form.get_user()
        if form.has_second_factor:
            signin.complete_sign_in(request, user, has_second_factor=True)
            return signin.remember(request, HttpResponseRedirect(wanted), user)
        if second_factor.factors_of(user):
            signin.await_second_factor(request, user, next=wanted)
            return HttpResponseRedirect(reverse("admin:second_step"))
        if second_factor.must_have_one(user):
            signin.await_second_factor(request, user, next=wanted)
            return HttpResponseRedirect(reverse("admin:enrol"))
        signin.complete_sign_in(request, user, has_second_factor=False)
        return signin.remember(request, HttpResponseRedirect(wanted), user)

    @method_decorator(_secret_page)
    def second_step(self, request: Any) -> HttpResponse:
        """Ask the person who entered the right password for the second factor."""
        pending = signin.pending_of(request)
        if pending is None or not second_factor.factors_of(pending.user):
            return HttpResponseRedirect(reverse("admin:login"))

        def entered() -> HttpResponse:
            signin.complete_sign_in(request, pending.user, has_second_factor=True)
            return signin.remember(request, HttpResponseRedirect(pending.next), pending.user)

        return self.ask_for_factor(request, pending.user, entered, "shops/admin/second_step.html", _("Second factor"))

    def ask_for_factor(
        self, request: Any, user: User, proved: Callable[[], HttpResponse], template: str, title: Text
    ) -> HttpResponse:
        """A page that asks this person for their second factor. Once it is right, returns `proved()`."""
        form = FactorForm(request.POST if request.method == "POST" else None)
        status, headers = 200, {}
        if form.is_valid():
            try:
                if signin.proves_factor(request, user, **form.cleaned_data):
                    return proved()
                form.add_error("code", passkeys.REFUSED if form.cleaned_data["passkey"] else WRONG_CODE)
            except TooManyTries as refusal:
                form.add_error(None, refusal.text)
                status, headers = refusal.status, refusal.headers
        context = {
            "title": title,
            "form": form,
            "factors": second_factor.factors_of(user),
            "passkey_options": passkeys.request_options(request, user),
            "elsewhere": "" if registry.is_written_here() else f"{ONLY_APPS} {registry.where()}",
        }
        return self.bare_page(request, template, context, status=status, headers=headers)

    @method_decorator(_secret_page)
    def enrol(self, request: Any) -> HttpResponse:
        """Let somebody who must have a second factor set one up. Until then no other page opens to them."""
        row = staff_sessions.staff_session_of(request)
        pending = signin.pending_of(request)
        if row is not None and not row.has_second_factor:
            if second_factor.factors_of(request.user) or not row.is_confirmed(request.now):
                return HttpResponseRedirect(f"{reverse('admin:confirm')}?next={reverse('admin:index')}")
            user, wanted = request.user, reverse("admin:index")
        elif pending is not None and not second_factor.factors_of(pending.user):
            user, wanted = pending.user, pending.next
        else:
            return HttpResponseRedirect(reverse("admin:login"))
        if answer := elsewhere(request, SECURITY):
            return answer

        def added() -> None:
            if row is not None:
                staff_sessions.confirm(row, now=request.now, has_second_factor=True)
            else:
                signin.complete_sign_in(request, user, has_second_factor=True)

        response = self.add_factor(request, user, added, "shops/admin/enrol.html", then=wanted)
        has_entered = row is None and staff_sessions.staff_session_of(request) is not None
        return signin.remember(request, response, user) if has_entered else response

    def add_factor(self, request: Any, user: User, added: Callable[[], None], template: str, then: str) -> HttpResponse:
        """A page that sets up an authenticator app or a passkey. After the person's first factor it shows recovery
        codes."""
        form = NewFactorForm(request.POST if request.method == "POST" else None)
        key = _key_to_show(request, user)
        if form.is_valid():
            has_some = bool(second_factor.factors_of(user))
            try:
                self._save_factor(request, user, key, form.cleaned_data)
            except InvalidFields as refusal:
                for field, texts in (refusal.errors or {}).items():
                    form.add_error(field if field in ("code", "name") else None, texts)
            else:
                request.session.pop(_KEY, None)
                added()
                if has_some:
                    return HttpResponseRedirect(then)
                # All other sessions were signed in with the password alone.
                staff_sessions.end_sessions(user, but=staff_sessions.staff_session_of(request))
                return self.show_codes(request, second_factor.new_recovery_codes(user=user), then=then)
        context = {
            "title": _("Set up a second factor"),
            "form": form,
            "key": second_factor.key_as_text(key),
            "picture": second_factor.key_as_picture(key, user),
            "passkey_options": passkeys.creation_options(request, user),
            "cancel": reverse("admin:security" if staff_sessions.staff_session_of(request) else "admin:login"),
        }
        return self.bare_page(request, template, context)

    @staticmethod
    def _save_factor(request: Any, user: User, key: bytes, given: dict[str, str]) -> None:
        if given["passkey"]:
            made = {"answer": given["passkey"], "name": given["name"]}
            passkeys.add_passkey(request=request, user=user, now=request.now, **made)
            what = gettext_noop("a passkey was added")
        else:
            second_factor.add_authenticator(user=user, key=key, code=given["code"], name=given["name"], now=request.now)
            what = gettext_noop("an authenticator app was added")
        staff_jobs.send_to_person.enqueue(None, user.pk, "factors_changed", {"what": what})

    def show_codes(self, request: HttpRequest, codes: list[str], *, then: str) -> HttpResponse:
        """Show recovery codes in the response to the POST itself, so that they get into no session, message or log."""
        return self.bare_page(
            request, "shops/admin/recovery_codes.html", {"title": _("Recovery codes"), "codes": codes, "then": then}
        )

    def bare_page(
        self, request: HttpRequest, template: str, context: dict[str, Any], status: int = 200, headers: Any = None
    ) -> TemplateResponse:
        """A page without the menu, for people who have no shop to work on yet."""
        request.current_app = self.name
        shown = {**self.each_context(request), "subtitle": None, "is_nav_sidebar_enabled": False, **context}
        response = TemplateResponse(request, template, shown, status=status, headers=headers)
        response["Cache-Control"] = "no-store"
        return response


def next_url(request: HttpRequest, default: str = "admin:index") -> str:
    """The `next` parameter if it is a path of this host; otherwise the default page."""
    wanted = request.POST.get(REDIRECT_FIELD_NAME) or request.GET.get(REDIRECT_FIELD_NAME) or ""
    if wanted.startswith("/") and url_has_allowed_host_and_scheme(wanted, allowed_hosts=None):
        return wanted
    return reverse(default)


def _key_to_show(request: HttpRequest, user: User) -> bytes:
    """The key of the authenticator app that is being set up. It stays the same until that is done, so that nobody has
    to scan again after a mistyped code. The session stores it encrypted, for this person only."""
    purpose = f"{second_factor.PURPOSE}.{user.pk}"
    try:
        return sealing.unseal(request.session.get(_KEY, "").encode(), purpose=purpose)
    except sealing.Unsealable:
        key = second_factor.new_key()
        request.session[_KEY] = sealing.seal(key, purpose=purpose).decode()
        return key
