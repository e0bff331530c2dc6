"""Confirmation of identity: requests to the admin that can move money, personal data or identity ask for the password
or the second factor again, in case somebody else uses the open browser. A confirmation is valid for a quarter of an
hour.

What a request can move is declared with each page and action (`admin_parts.Moves`). What declares nothing asks, too.
"""

from typing import Any
from urllib.parse import urlencode, urlsplit

from django.contrib import admin, messages
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext_lazy as _lazy

from storefront.staff import held_forms
from storefront.staff.admin_base import is_htmx
from storefront.staff.admin_parts import Moves
from storefront.staff.staff_sessions import staff_session_of

# Pages that are opened to look at something, too: these ask only when their form is sent. A page that is there for one
# action asks when it is opened, so that nothing is filled in before.
LOOKED_AT = ("_change", "_changelist")
FORMS = ("_add", "_change")
# Forms with the person's own secrets, which no page of a row shows again.
NEVER_HELD = {"password_change", "security_add"}
# URLs that only accept POST. After a confirmation for one of them, the security page is shown.
_POSTS_ONLY = {"security_remove", "security_codes", "security_end", "security_language"}
ASK_AGAIN = _lazy("Thank you for confirming. Please repeat the action: it was not carried out.")


def must_confirm(request: Any) -> bool:
    """Returns True if this request needs a confirmation and the session has no recent one."""
    if not can_move_something(request):
        return False
    row = staff_session_of(request)
    return row is None or not row.is_confirmed(request.now)


def can_move_something(request: Any) -> bool:
    name = request.resolver_match.url_name
    if name is None:
        # A row's old address, which redirects, and addresses without a page.
        return False
    method = request.method if name.endswith(LOOKED_AT) else "POST"
    # A list with actions above and below its rows sends the choices of both.
    chosen = request.POST.getlist("action") or [""]
    return any(admin.site.moved_by(name, method, each) != Moves.NOTHING for each in chosen)  # type: ignore[attr-defined]


def ask_to_confirm(request: Any) -> HttpResponse:
    """Redirect to the page that asks for the confirmation and then redirects back. The form of a page is shown again as
    it was filled in (`held_forms`); a dialog is opened again so by the browser (`admin.js`)."""
    wrote = request.method not in ("GET", "HEAD")
    name = request.resolver_match.url_name
    if wrote and not is_htmx(request) and name.endswith(FORMS) and name not in NEVER_HELD:
        held_forms.hold(request)
    back = _page_shown(request) if is_htmx(request) else request.get_full_path() if not wrote else _form_of(request)
    given = {"next": back} | ({"again": "1"} if wrote else {})
    url = f"{reverse('admin:confirm')}?{urlencode(given)}"
    # htmx would show the target of a plain redirect inside the dialog.
    return HttpResponse(status=204, headers={"HX-Redirect": url}) if is_htmx(request) else HttpResponseRedirect(url)


def ask_to_repeat(request: Any) -> None:
    """If the confirmation interrupted an action, add a message that the action was not carried out."""
    if request.GET.get("again"):
        messages.warning(request, ASK_AGAIN)
    else:
        # The person confirmed for something else, so what this browser sent before is not theirs to find filled in.
        held_forms.drop(request)


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
