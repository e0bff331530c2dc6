"""Signing in to the admin, in two steps: the password, then the second factor.

After the password, the session stores for ten minutes whose password it was. Nobody is signed in yet, so no page of the
admin opens. A person who must have a second factor and has none sets one up in between.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib.auth import authenticate, login
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare, salted_hmac
from django.views.decorators.debug import sensitive_variables

from storefront.kit.callers import client_network
from storefront.kit.format import format_time
from storefront.shops import throttle
from storefront.shops.models import User
from storefront.shops.request import Request
from storefront.staff import passkeys, second_factor, staff_jobs, staff_sessions
from storefront.staff.known_browsers import known_browser, remember_browser

PENDING_FOR = timedelta(minutes=10)
# Session key of the shop's id. `admin_site` sets it, and then records in the audit log that somebody signed in.
WORKS_ON = "admin_shop"
_PENDING = "staff_sign_in"
_BACKEND = "django.contrib.auth.backends.ModelBackend"


@dataclass(frozen=True)
class Pending:
    """A person who entered the right password, and the page to go to after signing in."""

    user: User
    next: str


def begin_guess(request: Request, what: str, account: str) -> throttle.Try:
    """Count one guess at a secret of staff (`staff` for passwords, `code` for second factors). Raises TooManyTries."""
    return throttle.begin_try(
        what, account=account, place=client_network(request), browser=known_browser(request, account), now=request.now
    )


def account_named(username: str) -> str:
    """The name under which guesses at a password are counted: the same however the user name is spelled."""
    user = User.objects.filter(username=username).only("pk").first()
    return account_of(user) if user else f"staff-name:{username.casefold()}"


def account_of(user: User) -> str:
    return f"staff:{user.pk}"


def await_second_factor(request: Request, user: User, *, next: str) -> None:
    """Store in the session that this person entered the right password."""
    # A new key, so that nobody else can know it. This ends a sign-in under the old key.
    request.session.cycle_key()
    request.session[_PENDING] = {
        "user": user.pk,
        "mark": user.get_session_auth_hash(),
        "until": (request.now + PENDING_FOR).timestamp(),
        "next": next,
    }


def pending_of(request: Request) -> Pending | None:
    """The person who entered the password in this session in the last ten minutes, unless it was changed since."""
    kept = request.session.get(_PENDING)
    if not kept or kept["until"] <= request.now.timestamp():
        return None
    user = User.objects.filter(pk=kept["user"], is_active=True, is_staff=True).first()
    if user is None or not constant_time_compare(kept["mark"], user.get_session_auth_hash()):
        return None
    return Pending(user, kept["next"])


@sensitive_variables()
def proves_factor(request: Request, user: User, *, code: str, passkey: str) -> str | None:
    """Verify a second factor. Returns its kind: `app`, `recovery` or `passkey`; None for a wrong one. Raises
    TooManyTries."""
    tried = begin_guess(request, "code", account_of(user))
    if passkey:
        proved = (
            "passkey" if passkeys.is_verified(request=request, user=user, answer=passkey, now=request.now) else None
        )
    else:
        proved = second_factor.use_code(user=user, code=code, now=request.now)
    if proved:
        tried.succeed()
    return proved


@sensitive_variables("password")
def proves_password(request: Request, user: User, password: str) -> bool:
    """Returns True if this is the person's password. Raises TooManyTries, without checking it."""
    tried = begin_guess(request, "staff", account_of(user))
    if not user.check_password(password):
        return False
    tried.succeed()
    return True


@sensitive_variables()
def person_with_both(request: Request, *, username: str, password: str, code: str) -> User | None:
    """The person with this password and this code; None if either is wrong. Raises TooManyTries.

    For a browser behind strangers' guesses: a password that works only together with a code cannot be guessed alone, so
    guesses from elsewhere do not close this way. No refusal shows that the password was right.
    """
    tried = begin_guess(request, "both", account_named(username))
    user = authenticate(request, username=username, password=password)
    if not isinstance(user, User) or not user.is_staff:
        return None
    # Counted by account alone: a place's counter of codes would show others there that the password was right.
    try:
        codes = throttle.begin_try("code", account=account_of(user), place="", browser="both", now=request.now)
    except throttle.TooManyTries:
        return None
    if second_factor.use_code(user=user, code=code, now=request.now) is None:
        return None
    codes.succeed()
    tried.succeed()
    return user


def complete_sign_in(request: Request, user: User, *, has_second_factor: bool) -> None:
    """Sign in this person, whose factors are verified. Notifies them by mail if the browser is new."""
    request.session.pop(_PENDING, None)
    # If a previous sign-in left it, this one would not be recorded in the audit log.
    request.session.pop(WORKS_ON, None)
    login(request, user, backend=_BACKEND)
    # Django keeps the session key if the same person signs in again; somebody else might know it.
    request.session.cycle_key()
    row = staff_sessions.begin_session(
        session=request.session, user=user, has_second_factor=has_second_factor, now=request.now, **_where(request)
    )
    setattr(request, staff_sessions.REMEMBERED, row)
    if known_browser(request, account_of(user), mark=_mark_of(user)) is None:
        _notify(request, user, "new_sign_in")


def notify_of_new_password(request: Request, user: User) -> None:
    """Notify the person by mail that their password was changed, when, and from where."""
    _notify(request, user, "password_changed")


def _notify(request: Request, user: User, kind: str) -> None:
    at = {"at": format_time(request.now, "UTC")}
    staff_jobs.send_to_person.enqueue(None, user.pk, kind, _where(request) | at)


def _where(request: Request) -> dict[str, Any]:
    return {"place": client_network(request), "browser": request.headers.get("User-Agent", "")[:300]}


def remember(request: HttpRequest, response: HttpResponse, user: User) -> Any:
    """Add the cookie to the response that makes this browser known to the account; returns the response."""
    remember_browser(request, response, account_of(user), mark=_mark_of(user))
    return response


def remember_reader(request: HttpRequest, response: HttpResponse, user: User) -> HttpResponse:
    """Make the browser known to the account after a mailed link, so that strangers' guesses do not count here. The
    first sign-in is still mailed as one from a new browser."""
    if known_browser(request, account_of(user)) is None:
        remember_browser(request, response, account_of(user))
    return response


def _mark_of(user: User) -> str:
    # A new password makes every browser unknown again, so that browsers of somebody with the old password are not
    # trusted.
    return salted_hmac("storefront.known-browser", user.password).hexdigest()[:16]
