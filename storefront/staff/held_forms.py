"""Forms that the confirmation of identity interrupted: the session keeps what was posted, encrypted, until the person
has confirmed. Then the page is shown again as it was filled in, and nothing is saved before its button is pressed.

Uploaded files are not kept, nor are forms that are larger than any of these pages.
"""

from datetime import timedelta
from typing import Any

import orjson
from django.http import QueryDict

from storefront.kit import sealing
from storefront.staff.signin import WORKS_ON
from storefront.staff.staff_sessions import staff_session_of

MAX_BYTES = 100_000
KEPT_FOR = timedelta(minutes=15)
_HELD, _PURPOSE = "_held_form", "staff.held_form"


def hold(request: Any) -> None:
    """Keep the posted form in the session, in place of an earlier one."""
    posted = request.POST.copy()
    posted.pop("csrfmiddlewaretoken", None)
    held = {
        "path": request.path,
        "shop": request.session.get(WORKS_ON),
        "at": request.now.timestamp(),
        "form": posted.urlencode(),
    }
    content = orjson.dumps(held)
    if len(content) <= MAX_BYTES:
        request.session[_HELD] = sealing.seal(content, purpose=_PURPOSE).decode()
    else:
        request.session.pop(_HELD, None)


def drop(request: Any) -> None:
    request.session.pop(_HELD, None)


def take(request: Any) -> QueryDict | None:
    """Return the form that was held for this page, once, after the person has confirmed; None if there is none."""
    row = staff_session_of(request)
    if request.method != "GET" or _HELD not in request.session or row is None or not row.is_confirmed(request.now):
        return None
    try:
        held = orjson.loads(sealing.unseal(request.session[_HELD].encode(), purpose=_PURPOSE))
    except sealing.Unsealable:
        del request.session[_HELD]
        return None
    if held["path"] != request.path:
        return None
    del request.session[_HELD]
    is_recent = request.now.timestamp() - held["at"] < KEPT_FOR.total_seconds()
    return QueryDict(held["form"]) if is_recent and held["shop"] == request.shop.pk else None
