"""Saved views of the admin's lists: a search, filters and sorting under a name. They belong to the shop, so all of its
staff see them."""

from datetime import datetime
from urllib.parse import unquote_plus

from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Lower
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.audit.erasing import whole_address
from storefront.kit.names import has_invisible_characters
from storefront.kit.refusals import InvalidFields, NotFound, Refusal
from storefront.shops.models import SavedView, Shop

# Views of one list in one shop.
MAX_VIEWS = 20
MAX_NAME_LENGTH = 40
MAX_QUERY_LENGTH = 1000


class TooManyViews(Refusal):
    message = format_lazy(_lazy("A list can have at most {most} saved views. Delete one first."), most=MAX_VIEWS)


class NoSuchView(NotFound):
    message = _lazy("This view no longer exists.")


def views_of(shop: Shop, list: str) -> list[SavedView]:
    """The saved views of a list, named by its model, in the order in which they were saved."""
    return [*SavedView.objects.filter(shop=shop, list=list).order_by("pk")]


@transaction.atomic
def save_view(*, shop: Shop, list: str, name: str, query: str, now: datetime) -> SavedView:
    """Store a list's query string under a name. Raises InvalidFields for a name that another view of the list has and
    for a query that is empty or too long, and TooManyViews."""
    _lock(shop)
    if not query:
        raise InvalidFields(errors={"name": [_("There is nothing to save: search, filter or sort the list first.")]})
    if len(query) > MAX_QUERY_LENGTH:
        raise InvalidFields(errors={"name": [_("This search with its filters is too long to be saved.")]})
    _check_name(shop, list, name)
    if SavedView.objects.filter(shop=shop, list=list).count() >= MAX_VIEWS:
        raise TooManyViews
    view = SavedView.objects.create(shop=shop, list=list, name=name, query=query, created_at=now)
    audit.record_created(shop=shop, object=view, now=now)
    return view


@transaction.atomic
def rename_view(*, shop: Shop, list: str, view_id: int, name: str, now: datetime) -> SavedView:
    """Raises NoSuchView, and InvalidFields for a name that another view of the list has."""
    _lock(shop)
    view = _view(shop, list, view_id)
    _check_name(shop, list, name, besides=view)
    before, view.name = view.name, name
    view.save(update_fields=["name"])
    audit.record_change(
        shop=shop, action="saved_view.renamed", object=view, before={"name": before}, after={"name": name}, now=now
    )
    return view


@transaction.atomic
def delete_view(*, shop: Shop, list: str, view_id: int, now: datetime) -> SavedView:
    """Raises NoSuchView."""
    _lock(shop)
    view = _view(shop, list, view_id)
    audit.record_deleted(shop=shop, rows=[view], now=now)
    view.delete()
    return view


def _lock(shop: Shop) -> None:
    """Let concurrent changes of a shop's views wait for each other."""
    Shop.objects.select_for_update(no_key=True).get(pk=shop.pk)


def _view(shop: Shop, list: str, view_id: int) -> SavedView:
    view = SavedView.objects.filter(shop=shop, list=list, pk=view_id).first()
    if view is None:
        raise NoSuchView
    return view


def _check_name(shop: Shop, list: str, name: str, besides: SavedView | None = None) -> None:
    # Compares like the constraint.
    same = SavedView.objects.filter(shop=shop, list=list).alias(lower=Lower("name")).filter(lower=Lower(Value(name)))
    if besides:
        same = same.exclude(pk=besides.pk)
    if has_invisible_characters(name):
        raise InvalidFields(errors={"name": [_("A name cannot contain control characters.")]})
    if same.exists():
        raise InvalidFields(errors={"name": [_("This list already has a view with this name.")]})


def delete_views_naming(*, shop: Shop, email: str) -> None:
    """Delete the views that search for this address: the person is erased from the shop."""
    rows = SavedView.objects.filter(shop=shop)
    address = whole_address(email)
    found = [row.pk for row in rows if any(map(address.search, (row.name, row.query, unquote_plus(row.query))))]
    rows.filter(pk__in=found).delete()
