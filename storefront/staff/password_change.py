"""Wraps Django's page for changing one's own password in the admin."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse

from storefront.shops.throttle import TooManyTries
from storefront.staff import signin, staff_sessions


def change_password(request: Any, page: Callable[[], HttpResponse]) -> HttpResponse:
    """The response of Django's page. If it changed the password, all other browsers of the person are signed out, and
    the person is notified by mail."""
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
