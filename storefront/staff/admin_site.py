"""The merchant's admin: one shop at a time, in that shop's time zone.

Only this module decides who may enter, and which shop the session works on. It sets `request.shop` and
`request.rights`, which every admin class reads, before any view runs. Signing in is in `signin`, confirming one's
identity again in `confirmation`.
"""

import json
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any
from zoneinfo import ZoneInfo

import structlog
from django.contrib.admin import autodiscover
from django.contrib.admin.views.autocomplete import AutocompleteJsonView
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import get_token
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe
from unfold.dataclasses import SearchResult
from unfold.sites import UnfoldAdminSite

from storefront import audit
from storefront.kit.ids import as_id
from storefront.shops import queries, rights
from storefront.shops.models import Shop, User
from storefront.shops.request import StaffRequest
from storefront.shops.rights import Right
from storefront.staff import staff_sessions
from storefront.staff.admin_account import AccountPages, change_password
from storefront.staff.admin_base import redirect
from storefront.staff.admin_forms import NUL, has_nul
from storefront.staff.admin_parts import Moves
from storefront.staff.confirmation import ask_to_confirm, must_confirm
from storefront.staff.second_factor import must_have_one
from storefront.staff.signin import WORKS_ON

# Shops in the menu's switcher. If there are more, it has a link to the page that finds them.
MAX_SWITCHER_SHOPS = 10
# Beside the menu, the search finds rows of these; at most so many of each.
SEARCHED = ("orders.order", "catalogue.product", "customers.customer")
MAX_FOUND = 5
CHOOSER_PAGE = 50

# A user without a shop must still be able to sign out and to change the password.
OPEN_TO_ALL = {"logout", "password_change", "password_change_done", "i18n_javascript"}
# Setting up a second factor can require a confirmation first.
OPEN_BEFORE_ENROLLING = {"logout", "confirm"}
# Pages about the user. They open also without a shop, and use the shop's time zone if there is one.
OF_THE_PERSON = {
    *("confirm", "security", "security_language"),
    *("security_add", "security_remove", "security_codes", "security_end"),
}


# What a POST to the site's own pages can move. The pages for those who are not signed in ask for a proof themselves.
MOVES = dict.fromkeys(
    [
        *("index", "settings", "jsi18n", "search", "choose_shop", "switch_shop", "autocomplete", "app_list"),
        *("login", "logout"),
        *("second_step", "confirm", "security", "security_language", "invitation_sign_out", "invitation_link"),
        "new_account_link",
        *("password_change_done", "password_reset_done", "password_reset_link"),
    ],
    Moves.NOTHING,
) | dict.fromkeys(
    [
        *("password_change", "admin_password_reset", "password_reset_confirm", "invitation", "new_account", "enrol"),
        *("security_add", "security_remove", "security_codes", "security_end"),
    ],
    Moves.IDENTITY,
)


class ShopAdminSite(AccountPages, UnfoldAdminSite):
    enable_nav_sidebar = True
    index_template = "admin/dashboard.html"
    logout_template = "shops/admin/signed_out.html"

    def admin_view(self, view: Callable, cacheable: bool = False) -> Any:
        """Wrap a view in these steps: Django's permission check, required enrolment and confirmation, the shop, the
        view."""
        name = view.__name__ if self._is_own(view) else ""

        @wraps(view)
        def proved(request: StaffRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if name not in OPEN_BEFORE_ENROLLING and must_enrol(request):
                return HttpResponseRedirect(reverse("admin:enrol"))
            if must_confirm(request):
                return ask_to_confirm(request)
            return view(request, *args, **kwargs) if name in OPEN_TO_ALL else in_shop(request, *args, **kwargs)

        def in_shop(request: StaffRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if has_nul(request.GET) or has_nul(request.POST) or NUL in request.path_info:
                raise Http404
            if not enter_shop(request):
                return view(request, *args, **kwargs) if name in OF_THE_PERSON else self.no_shop(request)
            with timezone.override(ZoneInfo(request.shop.timezone)):
                response = view(request, *args, **kwargs)
                # Rendered here, since rendering formats times in the active time zone.
                return response.render() if isinstance(response, TemplateResponse) else response

        return super().admin_view(proved, cacheable)

    def _is_own(self, view: Any) -> bool:
        """Returns False for a page of a model, whose actions can have the same names as the pages of the site."""
        return getattr(view, "__self__", None) is self or (
            hasattr(view, "__wrapped__") and self._is_own(view.__wrapped__)
        )

    def has_permission(self, request: HttpRequest) -> bool:
        """Whether a staff user has completed signing in. Without that, no page of the admin opens."""
        return super().has_permission(request) and staff_sessions.staff_session_of(request) is not None

    def moved_by(self, name: str, method: str, action: str = "") -> Moves | None:
        """What a request can move to which the admin's URL of this name responds; None if nothing declares it."""
        if name in MOVES:
            return Moves.NOTHING if method in ("GET", "HEAD") else MOVES[name]
        for page in self._registry.values():
            start = f"{page.opts.app_label}_{page.opts.model_name}_"
            if name.startswith(start):
                return page.moved_by(name.removeprefix(start), method, action)  # type: ignore[attr-defined]
        return None

    def extra_context(self, context: dict[str, Any], request: HttpRequest) -> dict[str, Any]:
        # The theme would put its colours into an inline style, which the policy blocks. admin.css has them.
        return context | {"colors": None}

    def no_shop(self, request: HttpRequest) -> HttpResponse:
        context = {**self.each_context(request), "title": _("No shop yet"), "is_nav_sidebar_enabled": False}
        return TemplateResponse(request, "shops/admin/no_shop.html", context, status=403)

    def get_urls(self) -> list[Any]:
        """The URLs of all rooms' pages, without `view_on_site`, which no page here links to."""
        autodiscover()
        return [url for url in super().get_urls() if getattr(url, "name", None) != "view_on_site"]

    def get_tabs_list(self, request: HttpRequest) -> list[dict[str, Any]]:
        return self._get_value(self._get_config("TABS", request), request) if hasattr(request, "rights") else []

    def settings_page(self, request: StaffRequest) -> HttpResponse:
        """All settings, by topic, that the user may open."""
        topics = [topic for topic in self.get_tabs_list(request) if topic["is_setting"]]
        if not topics:
            raise PermissionDenied
        context = {**self.each_context(request), "title": _("Settings"), "topics": topics}
        return TemplateResponse(request, "shops/admin/settings.html", context)

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Search for rows of this shop, and for pages, among those that the user may open."""
        term = request.GET.get("s", "").strip()
        context = {"results": [*self._rows(request, term), *self._pages(request, term)] if term else [], "term": term}
        return TemplateResponse(request, "shops/admin/found.html", context)

    def _rows(self, request: HttpRequest, term: str) -> Iterator[SearchResult]:
        for page in self._registry.values():
            if page.opts.label_lower in SEARCHED and page.has_view_permission(request):
                found, _ = page.get_search_results(request, page.get_queryset(request), term)
                for row in found[:MAX_FOUND]:
                    link = reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_change", args=[row.pk])
                    yield SearchResult(str(row), str(page.opts.verbose_name).capitalize(), link, None)

    def _pages(self, request: HttpRequest, term: str) -> Iterator[SearchResult]:
        menu = [("", group["items"]) for group in self.get_sidebar_list(request)]
        topics = [(topic["title"], topic["items"]) for topic in self.get_tabs_list(request)]
        seen = set()
        for topic, items in (*menu, *topics):
            for item in items:
                is_meant = term.casefold() in f"{topic} {item['title']}".casefold()
                if is_meant and item["link"] not in seen:
                    seen.add(item["link"])
                    yield SearchResult(item["title"], topic or _("Page"), item["link"], None)

    def extra_urls(self) -> list[URLPattern]:
        from storefront.staff import staff_pages

        choose = path("choose-shop/", self.admin_view(require_safe(self.choose_shop)), name="choose_shop")
        switch = path("shop/", self.admin_view(require_POST(self.switch_shop)), name="switch_shop")
        topics = path("settings/", self.admin_view(self.settings_page), name="settings")
        return [choose, switch, topics, *staff_pages.urls(), *self.signin_urls(), *self.account_urls()]

    def logout(self, request: Any, extra_context: dict[str, Any] | None = None) -> Any:
        if request.method == "POST" and (row := staff_sessions.staff_session_of(request)):
            staff_sessions.end_sessions(_user(request), session_id=row.pk)
        return super().logout(request, {"title": _("You have signed out"), **(extra_context or {})})

    def password_change(self, request: Any, extra_context: dict[str, Any] | None = None) -> Any:
        """A new password signs out all other browsers. Guesses at the old one are limited as when signing in."""
        return change_password(request, lambda: super(ShopAdminSite, self).password_change(request, extra_context))

    def choose_shop(self, request: StaffRequest) -> HttpResponse:
        """The shops that the user may enter, found by name or domain, each with a button that switches to it."""
        term = request.GET.get("q", "").strip()
        shops = queries.shops_of(_user(request)).filter(Q(name__icontains=term) | Q(domain__icontains=term))
        page = Paginator(shops.order_by("name", "pk"), CHOOSER_PAGE).get_page(request.GET.get("p"))
        context = {**self.each_context(request), "title": _("Choose a shop"), "page": page, "term": term}
        return TemplateResponse(request, "shops/admin/choose_shop.html", context)

    def switch_shop(self, request: StaffRequest) -> HttpResponse:
        """Switch the session to another of the user's shops."""
        chosen = as_id(request.POST.get("shop", ""))
        found = queries.shops_of(_user(request)).filter(pk=chosen).first() if chosen else None
        if found is None:
            raise Http404
        work_on(request, found)
        # The current page may be a 404 in the other shop; the start page exists in each.
        return redirect(request, reverse("admin:index"))

    def autocomplete_view(self, request: HttpRequest) -> HttpResponse:
        return OwnChoices.as_view(admin_site=self)(request)  # type: ignore[return-value]


class OwnChoices(AutocompleteJsonView):
    """Choices of an autocomplete field: the rows that the form accepts, so no deleted ones."""

    def get_queryset(self) -> QuerySet:
        rows = super().get_queryset()
        deletable = any(column.name == "deleted_at" for column in rows.model._meta.fields)
        return rows.filter(deleted_at=None) if deletable else rows

    def serialize_result(self, obj: Model, to_field_name: str) -> dict[str, str]:
        """An admin class can define `choice_label` if the row's name is not enough to choose by."""
        label = getattr(self.model_admin, "choice_label", str)
        return {"id": str(getattr(obj, to_field_name)), "text": label(obj)}


def shop_name(request: HttpRequest) -> str:
    """The title of the menu: the name of the session's shop."""
    return request.shop.name if has_entered(request) else "Storefront"  # type: ignore[attr-defined]


def shop_domain(request: HttpRequest) -> str:
    return request.shop.domain if has_entered(request) else ""  # type: ignore[attr-defined]


def shop_url(request: HttpRequest) -> str:
    return request.shop.base_url if has_entered(request) else "/"  # type: ignore[attr-defined]


def shop_switcher(request: HttpRequest) -> list[dict[str, Any]]:
    """Menu items that switch to the user's other shops, the first by name, and a link that finds more. They send a
    POST, since following a link must not switch shops.

    Empty for a user with one shop, who sees no switcher.
    """
    if not has_entered(request):
        return []
    shops = queries.shops_of(_user(request)).exclude(pk=request.shop.pk)  # type: ignore[attr-defined]
    others = list(shops[: MAX_SWITCHER_SHOPS + 1])
    more = {"title": _("Find another shop"), "icon": "search", "link": reverse("admin:choose_shop"), "attrs": {}}
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
        for shop in others[:MAX_SWITCHER_SHOPS]
    ] + ([more] if len(others) > MAX_SWITCHER_SHOPS else [])


def has_entered(request: HttpRequest) -> bool:
    """Whether the request works on a shop. The login page, for example, does not."""
    return getattr(request, "rights", None) is not None


def enter_shop(request: StaffRequest) -> bool:
    """Set `request.shop` to the session's shop if the user still belongs to it, otherwise to their first shop, and
    `request.rights` to the rights of their role there. False for a user without a shop."""
    shops = queries.shops_of(_user(request))
    remembered = request.session.get(WORKS_ON)
    shop = (shops.filter(pk=remembered).first() if remembered else None) or shops.first()
    if shop is None:
        return False
    audit.act_as(audit.staff(_user(request)))
    if remembered != shop.pk:
        work_on(request, shop)
    request.shop, request.rights = shop, _rights_in(shop, _user(request))
    structlog.contextvars.bind_contextvars(shop=shop.domain)
    return True


def work_on(request: StaffRequest, shop: Shop) -> None:
    """Let the session work on this shop, and record that in the shop's audit log."""
    request.session[WORKS_ON] = shop.pk
    user = _user(request)
    audit.record(shop=shop, action="staff.signed_in", object=audit.person(user), now=request.now)


def must_enrol(request: HttpRequest) -> bool:
    """Whether the user must set up a second factor before other pages open. They may have become an owner just now."""
    row = staff_sessions.staff_session_of(request)
    return row is not None and not row.has_second_factor and must_have_one(_user(request))


def _rights_in(shop: Shop, user: User) -> frozenset[Right]:
    if user.is_superuser:
        return rights.ALL
    # No rights for somebody who was removed a moment ago.
    role = shop.staff.filter(user=user).values_list("role", flat=True).first()
    return rights.rights_of(role) if role else frozenset()


def _user(request: HttpRequest) -> User:
    # Never anonymous, since the site's permission check has run.
    return request.user  # type: ignore[return-value]
