"""Confirmation of identity: pages of the admin that ask for the password or the second factor again, in case somebody
else uses the open browser. A confirmation is valid for a quarter of an hour.

One table lists the pages, by URL name.
"""

from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse

from storefront.staff.admin_base import is_htmx
from storefront.staff.staff_sessions import staff_session_of

ALWAYS, WRITING = "always", "writing"

# The first matching pattern decides. ALWAYS: opening the form asks already; WRITING: only sending it does.
NEEDS_CONFIRMATION: list[tuple[str, str]] = [
    # Tokens and secrets.
    ("shops_apitoken_add", ALWAYS),
    ("shops_apitoken_*", WRITING),
    ("apps_installation_rotate_*", ALWAYS),
    ("apps_installation_*", WRITING),
    # Staff and invitations.
    ("shops_staff*_add", ALWAYS),
    ("shops_staff*", WRITING),
    # Permissions of apps, and scripts.
    ("apps_app_add", ALWAYS),
    ("apps_app_install", ALWAYS),
    ("apps_app_rotate_secret", ALWAYS),
    ("apps_app_*", WRITING),
    ("apps_allowedscripthost_*", WRITING),
    ("apps_*_allow", ALWAYS),
    ("apps_scripttag_*", WRITING),
    # Money.
    ("orders_order_refund", ALWAYS),
    ("gift_cards_giftcard_add", ALWAYS),
    ("gift_cards_giftcard_*", WRITING),
    # Personal data.
    ("privacy_datarequest_download", ALWAYS),
    ("privacy_datarequest_erase", ALWAYS),
    ("privacy_datarequest_make_export", ALWAYS),
    # The person's own second factors and sessions.
    ("security_add", ALWAYS),
    ("security_*", WRITING),
]
# URLs that only accept POST. After a confirmation for one of them, the security page is shown.
_POSTS_ONLY = {"security_remove", "security_codes", "security_end"}
ASK_AGAIN = "Thank you for confirming. Please repeat the action: it was not carried out."


def must_confirm(request: Any) -> bool:
    """Returns True if this request needs a confirmation and the session has no recent one."""
    when = confirmation_of(request.resolver_match.url_name or "")
    if when is None or (when == WRITING and request.method in ("GET", "HEAD", "OPTIONS")):
        return False
    row = staff_session_of(request)
    return row is None or not row.is_confirmed(request.now)


def confirmation_of(url_name: str) -> str | None:
    """ALWAYS, WRITING, or None for a page that needs no confirmation."""
    return next((when for pattern, when in NEEDS_CONFIRMATION if fnmatchcase(url_name, pattern)), None)


def ask_to_confirm(request: Any) -> HttpResponse:
    """Redirect to the page that asks for the confirmation and then redirects back. Posted data is not kept; the browser
    opens a dialog again as it was filled in (`admin.js`)."""
    wrote = request.method not in ("GET", "HEAD")
    back = _page_shown(request) if is_htmx(request) else request.get_full_path() if not wrote else _form_of(request)
    given = {"next": back} | ({"again": "1"} if wrote else {})
    url = f"{reverse('admin:confirm')}?{urlencode(given)}"
    # htmx would show the target of a plain redirect inside the dialog.
    return HttpResponse(status=204, headers={"HX-Redirect": url}) if is_htmx(request) else HttpResponseRedirect(url)


def ask_to_repeat(request: Any) -> None:
    """If the confirmation interrupted an action, add a message that the action was not carried out."""
    if request.GET.get("again"):
        messages.warning(request, ASK_AGAIN)


def _page_shown(request: Any) -> str:
    """The path of the page that sent this htmx request."""
    try:
        parts = urlsplit(request.headers.get("HX-Current-URL", ""))
    except ValueError:
        return reverse("admin:index")
    return f"{parts.path}?{parts.query}" if parts.query else parts.path or reverse("admin:index")


def _form_of(request: Any) -> str:
    name = request.resolver_match.url_name
    return reverse("admin:security") if name in _POSTS_ONLY else request.get_full_path()
