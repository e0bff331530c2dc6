"""Filters of the admin's lists cannot be used to guess hidden values letter by letter."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.db.models import Model
from django.urls import reverse

from storefront.shops.models import User
from tests.catalogue.factories import make_category, make_product
from tests.server.admin_rows import ROWS
from tests.staff import open_desk

SECRET = ("password", "digest", "sealed", "secret", "mark", "token")
# Columns with one of these words in their names that are not secret.
HARMLESS = {"token", "tokens", "token_id", "api_tokens"}
# Shops have one row of these, whose page the address of the list leads to.
NO_LIST = {"shops.Shop", "documents.InvoiceSettings", "pricing.TaxSettings", "content.Looks"}
LIST_PAGES = [model for model in admin.site._registry if model._meta.label not in NO_LIST]


def secret_paths(model: type[Model], prefix: str = "", seen: tuple[type[Model], ...] = ()) -> Iterator[str]:
    """The path of every column that holds a secret, along every relation that leads away from the model, four deep."""
    for field in model._meta.get_fields():
        name = field.name
        if field.is_relation:
            target = field.related_model
            if isinstance(target, type) and target not in seen and len(seen) < 3:
                yield from secret_paths(target, f"{prefix}{name}__", (*seen, model))
        elif any(word in name for word in SECRET) and name not in HARMLESS:
            yield f"{prefix}{name}"


@pytest.fixture
def operator(shop) -> Any:
    """A user who may see every list, so that only the filter refuses."""
    return open_desk(User.objects.create_superuser("operator", "op@example.com", "lighthouse-1"), shop)


def test_secrets_are_found_by_this_test():
    from storefront.shops.models import ApiToken, StaffInvitation, StaffMember

    assert "user__password" in set(secret_paths(StaffMember))
    assert "digest" in set(secret_paths(ApiToken))
    assert {"digest", "invited_by__password"} <= set(secret_paths(StaffInvitation))


@pytest.mark.parametrize("model", LIST_PAGES, ids=lambda model: model.__name__)
def test_no_list_is_filtered_by_a_secret(operator, rf, model):
    page = admin.site._registry[model]
    paths = sorted(set(secret_paths(model)))
    request = rf.get("/")
    for path in paths:
        for lookup in ("", "__exact", "__startswith", "__regex", "__gt", "__in", "__isnull", "__length__gt"):
            assert not page.lookup_allowed(f"{path}{lookup}", "x", request), path
    url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    for path in paths[:3]:
        for value in ("a", "b"):
            answer = operator.get(url, {f"{path}__startswith": value})
            # The same response for every lookup, and an unchanged list after it.
            assert (answer.status_code, answer["Location"]) == (302, url)


@pytest.mark.parametrize(
    ("page", "lookup"),
    [
        ("shops_staffmember", "user__password__startswith"),
        ("shops_apitoken", "digest__startswith"),
        ("shops_staffinvitation", "digest__startswith"),
        ("customers_customer", "password__startswith"),
        ("customers_customer", "session_mark__gt"),
        ("carts_cart", "token_digest__startswith"),
        ("carts_cart", "customer__password__startswith"),
        ("orders_order", "customer__password__startswith"),
        ("webhooks_delivery", "sealed_message__isnull"),
        ("apps_installation", "sealed_secret__gt"),
        ("catalogue_product", "cost_price__gt"),
    ],
)
def test_lookups_of_secrets_are_refused(operator, page, lookup):
    url = reverse(f"admin:{page}_changelist")
    answer = operator.get(url, {lookup: "a"})
    assert (answer.status_code, answer["Location"]) == (302, url)
    assert operator.post(url, {"action": "delete_selected"}, query_params={lookup: "a"}).status_code == 302


def test_nothing_secret_is_searched_or_sorted_by(rf):
    for page in admin.site._registry.values():
        shown = [getattr(page, name, None) for name in page.list_display]
        sorted_by = [str(getattr(each, "admin_order_field", "")) for each in shown]
        for column in [*page.search_fields, *page.list_display, *sorted_by, *(page.ordering or ())]:
            assert not any(word in column for word in SECRET) or column in HARMLESS, (page, column)


@pytest.mark.parametrize("model", LIST_PAGES, ids=lambda model: model.__name__)
def test_a_row_is_named_by_its_id_alone(operator, shop, model):
    """`_to_field` would choose the column by which a popup or a page identifies a row."""
    page = admin.site._registry[model]
    for field in model._meta.concrete_fields:
        assert page.to_field_allowed(None, field.name) == field.primary_key
    row = ROWS[model](shop) if model in ROWS else None
    url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    assert operator.get(url, {"_to_field": "shop"}).status_code == 302
    if row is not None:
        change = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_change", args=[row.pk])
        assert operator.get(change, {"_to_field": "shop"}).status_code == 400


@pytest.mark.slow
def test_the_filters_of_a_list_work(operator, shop):
    cups = make_category(shop, "Cups")
    mug = make_product(shop, "Mug", categories=(cups,))
    make_product(shop, "Scarf")
    url = reverse("admin:catalogue_product_changelist")
    found = operator.get(url, {"categories__id__exact": cups.pk, "status__exact": mug.status, "stock": ""})
    assert [row.name for row in found.context_data["cl"].queryset] == ["Mug"]
    for page in admin.site._registry.values():
        label = f"{page.opts.app_label}_{page.opts.model_name}_changelist"
        shown = operator.get(reverse(f"admin:{label}"))
        for spec in shown.context_data["cl"].filter_specs if page.list_filter else ():
            for parameter in spec.expected_parameters():
                assert page.lookup_allowed(parameter, "1", shown.wsgi_request), (page, parameter)
