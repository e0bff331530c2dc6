"""A browser that is signed in to the admin, as owner, staff or operator."""

from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.db.models import Model
from django.forms import CheckboxSelectMultiple, MultiWidget, SelectMultiple
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import reverse

from storefront.kit import clock
from storefront.server.origins import cookie_names
from storefront.server.sessions import SessionStore
from storefront.shops.models import Shop, StaffMember, User
from storefront.shops.places import ADMIN, SINGLE
from storefront.staff import staff_sessions

LISTS = (SelectMultiple, CheckboxSelectMultiple)


class Desk(Client):
    """`desk.page(product)` opens its form; `desk.fill(product, price="5.00")` posts it as a browser would."""

    def page(self, row: Model, view: str = "change") -> HttpResponse:
        return self.get(admin_url(row, view))

    def fill(self, row: Model | type[Model], follow: bool = False, **given: Any) -> HttpResponse:
        url = admin_url(row, "change" if isinstance(row, Model) else "add")
        shown = form_values(self.get(url))
        return self.post(
            url, {**shown, **{name.replace("__", "-"): value for name, value in given.items()}}, follow=follow
        )

    def choose(self, model: type[Model], action: str, *rows: Model, **given: Any) -> HttpResponse:
        chosen = {"action": action, "_selected_action": [row.pk for row in rows], **given}
        return self.post(admin_url(model, "changelist"), chosen, follow=True)


def admin_url(row: Model | type[Model], view: str) -> str:
    name = f"admin:{row._meta.app_label}_{row._meta.model_name}_{view}"
    return reverse(name, args=[row.pk] if isinstance(row, Model) else [])


def form_values(response: HttpResponse) -> dict[str, Any]:
    """The fields that a browser would send if the form was submitted unchanged."""
    values: dict[str, Any] = {}
    context = response.context_data
    forms = [context["adminform"].form]
    for inline in context.get("inline_admin_formsets", []):
        forms += formset_forms(inline.formset)
    for form in forms:
        for field in form:
            _put(values, field, field.html_name, field.value())
            if field.field.show_hidden_initial:
                _put(values, field, field.html_initial_name, field.initial)
    if "shown" in context:
        values["shown"] = context["shown"]
    return values


def formset_forms(formset: Any) -> list[Any]:
    forms = [formset.management_form, *formset.forms]
    for form in formset.forms:
        for nested in getattr(form, "nested_formsets", []):
            forms += formset_forms(nested.formset)
    return forms


def _put(values: dict[str, Any], field: Any, name: str, value: Any) -> None:
    widget = field.field.widget
    if hasattr(widget, "posted"):
        values.update(widget.posted(name, value or []))
    elif isinstance(widget, MultiWidget):
        # What was sent is a list already.
        for number, part in enumerate(value if isinstance(value, list) else widget.decompress(value)):
            values[f"{name}_{number}"] = part or ""
    elif value is True:
        values[name] = "on"
    elif not (value is False or widget.needs_multipart_form or (isinstance(widget, LISTS) and not value)):
        # A browser leaves out unticked boxes, and sends files only if some were chosen.
        values[name] = "" if value is None else value


def open_desk(user: User, shop: Shop | None = None, *, has_second_factor: bool = True) -> Desk:
    """A browser of this user, signed in just now with all factors, at the admin's own host if it has one."""
    desk = Desk(headers={"host": settings.ADMIN_HOST} if settings.ADMIN_HOST else None)
    place = ADMIN if settings.ADMIN_HOST else SINGLE
    desk.cookies[cookie_names(place)[settings.SESSION_COOKIE_NAME]] = session_of(user, has_second_factor)
    if shop is not None:
        desk.post(reverse("admin:switch_shop"), {"shop": shop.pk})
    return desk


def session_of(user: User, has_second_factor: bool = True) -> str:
    """The key of an admin session in which the user is signed in."""
    request = HttpRequest()
    request.session = SessionStore(place=ADMIN if settings.ADMIN_HOST else SINGLE)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    request.session.save()
    staff_sessions.begin_session(
        session=request.session,
        user=user,
        place="127.0.0.1",
        browser="a test",
        has_second_factor=has_second_factor,
        now=clock.now(),
    )
    return request.session.session_key


def make_staff(shop: Shop, name: str = "anna", role: str = "owner") -> User:
    user = User.objects.filter(username=name).first() or User.objects.create_user(
        name, email=f"{name}@example.com", password="lighthouse-1", is_staff=True
    )
    StaffMember.objects.create(shop=shop, user=user, role=role)
    return user
