"""The merchant's admin: one shop at a time, on that shop's clock.

Who may enter, and which shop the session works on, is decided here and nowhere else. Every admin class reads
`request.shop` and `request.is_owner`, which this site sets before any view of it runs.
"""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.views.decorators.http import require_POST
from unfold.sites import UnfoldAdminSite

from storefront.shops import queries
from storefront.shops.models import Shop, StaffMember, User
from storefront.shops.request import StaffRequest

SESSION_KEY = "admin_shop"
LONGEST_SWITCHER = 50

# Somebody without a shop must still be able to leave and to change a password.
OPEN_TO_ALL = {"logout", "password_change", "password_change_done", "i18n_javascript"}


class ShopAdminSite(UnfoldAdminSite):
    enable_nav_sidebar = True
    index_template = "admin/dashboard.html"

    def admin_view(self, view: Callable, cacheable: bool = False) -> Callable:
        """Django's check of who is there, then the shop, then the view."""
        if view.__name__ in OPEN_TO_ALL:
            return super().admin_view(view, cacheable)

        @wraps(view)
        def in_shop(request: StaffRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not enter_shop(request):
                return self.no_shop(request)
            with timezone.override(ZoneInfo(request.shop.timezone)):
                response = view(request, *args, **kwargs)
                # Rendered here, since times are written while rendering.
                return response.render() if isinstance(response, TemplateResponse) else response

        return super().admin_view(in_shop, cacheable)

    def no_shop(self, request: HttpRequest) -> HttpResponse:
        context = {**self.each_context(request), "title": "No shop yet", "is_nav_sidebar_enabled": False}
        return TemplateResponse(request, "shops/admin/no_shop.html", context, status=403)

    def extra_urls(self) -> list[URLPattern]:
        return [path("shop/", self.admin_view(require_POST(self.switch_shop)), name="switch_shop")]

    def switch_shop(self, request: StaffRequest) -> HttpResponse:
        """Work on another of the user's shops from now on."""
        chosen = request.POST.get("shop", "")
        found = queries.shops_of(_user(request)).filter(pk=chosen).first() if chosen.isdecimal() else None
        if found is None:
            raise Http404
        request.session[SESSION_KEY] = found.pk
        # The page one comes from is a 404 in the other shop; the start page is there in each.
        start = reverse("admin:index")
        # htmx would follow a redirect by itself and put the page into the link.
        return HttpResponse(status=204, headers={"HX-Redirect": start})

    def autocomplete_view(self, request: HttpRequest) -> HttpResponse:
        return OwnChoices.as_view(admin_site=self)(request)  # type: ignore[return-value]


class OwnChoices(AutocompleteJsonView):
    """What a form's field offers while one types: what it would accept, so nothing deleted."""

    def get_queryset(self) -> QuerySet:
        rows = super().get_queryset()
        deletable = any(column.name == "deleted_at" for column in rows.model._meta.fields)
        return rows.filter(deleted_at=None) if deletable else rows

    def serialize_result(self, obj: Model, to_field_name: str) -> dict[str, str]:
        """A page may tell more than the name where names are not enough to choose by."""
        label = getattr(self.model_admin, "choice_label", str)
        return {"id": str(getattr(obj, to_field_name)), "text": label(obj)}


def shop_name(request: HttpRequest) -> str:
    """What stands at the top of the menu: the shop that the session works on."""
    return request.shop.name if has_entered(request) else "Storefront"  # type: ignore[attr-defined]


def shop_domain(request: HttpRequest) -> str:
    return request.shop.domain if has_entered(request) else ""  # type: ignore[attr-defined]


def shop_url(request: HttpRequest) -> str:
    return request.shop.base_url if has_entered(request) else "/"  # type: ignore[attr-defined]


def shop_switcher(request: HttpRequest) -> list[dict[str, Any]]:
    """The user's other shops, as posts: a link that is merely followed must not change where one works.

    Empty for a user of one shop, who then never sees a switcher.
    """
    if not has_entered(request):
        return []
    others = queries.shops_of(_user(request)).exclude(pk=request.shop.pk)[:LONGEST_SWITCHER]  # type: ignore[attr-defined]
    url, csrf = reverse("admin:switch_shop"), json.dumps({"X-CSRFToken": get_token(request)})
    return [
        {
            "title": shop.name,
            "icon": "storefront",
            "link": "#",
            "attrs": {
                "hx-post": url,
                "hx-vals": json.dumps({"shop": shop.pk}),
                "hx-headers": csrf,
                "title": shop.domain,
            },
        }
        for shop in others
    ]


def has_entered(request: HttpRequest) -> bool:
    """Whether the request works on a shop; the login page, for one, does not."""
    return getattr(request, "is_owner", None) is not None


def enter_shop(request: StaffRequest) -> bool:
    """Set `request.shop` and `request.is_owner`: the session's shop while the user still belongs to it, else the
    first of theirs. False for a user who belongs to none."""
    shops = queries.shops_of(_user(request))
    remembered = request.session.get(SESSION_KEY)
    shop = (shops.filter(pk=remembered).first() if remembered else None) or shops.first()
    if shop is None:
        return False
    if remembered != shop.pk:
        request.session[SESSION_KEY] = shop.pk
    request.shop, request.is_owner = shop, _is_owner(_user(request), shop)
    return True


def _is_owner(user: User, shop: Shop) -> bool:
    return user.is_superuser or shop.staff.filter(user=user, role=StaffMember.Role.OWNER).exists()


def _user(request: HttpRequest) -> User:
    # The site's permission check has run: nobody anonymous comes here.
    return request.user  # type: ignore[return-value]
