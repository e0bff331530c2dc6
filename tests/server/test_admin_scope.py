"""No page of the admin shows or changes a second shop's rows."""

from typing import Any

import pytest
from django.contrib import admin
from django.urls import reverse

from storefront.catalogue.models import Brand, BundleItem, Product
from storefront.content.models import Looks
from storefront.customers.models import CustomerGroup
from storefront.deployment.models import DeployedShop
from storefront.documents.models import InvoiceSettings
from storefront.installations.models import App
from storefront.orders.models import Order
from storefront.pricing.models import GroupPrice, TaxSettings
from storefront.shops.models import Shop
from storefront.staff.admin_scope import ScopedToShop
from tests.catalogue.factories import make_category, make_product, make_variant
from tests.server.admin_rows import ROWS
from tests.staff import admin_url

pytestmark = [pytest.mark.strict, pytest.mark.slow]

# What belongs to no shop: the operator's apps, for merchants to look at (tests/apps/test_admin_apps.py), and all
# shops, for the operator alone (tests/deployment/test_operators_pages.py).
OF_NO_SHOP = {App, DeployedShop}
PAGES = pytest.mark.parametrize("model", ROWS, ids=lambda model: model.__name__)


def test_every_page_of_the_admin_is_walked_here():
    assert set(admin.site._registry) == set(ROWS) | OF_NO_SHOP
    assert all(isinstance(page, ScopedToShop) for page in admin.site._registry.values())


@PAGES
def test_own_rows_are_listed_and_open_and_another_shops_are_not_listed(desk, shop, other_shop, model):
    mine, foreign = ROWS[model](shop), ROWS[model](other_shop)
    listed = desk.get(admin_url(model, "changelist"), follow=True)
    assert listed.status_code == desk.page(mine).status_code == desk.page(mine, "history").status_code == 200
    # Of these, the menu leads to the shop's one row.
    if model not in (Shop, InvoiceSettings, Looks, TaxSettings):
        assert foreign.pk not in [row.pk for row in listed.context_data["cl"].queryset]
        assert other_shop.name not in listed.content.decode()


@PAGES
@pytest.mark.parametrize("view", ["change", "delete", "history"])
def test_another_shops_row_is_a_404_like_one_that_never_was(desk, other_shop, model, view):
    foreign = ROWS[model](other_shop)
    before = model.objects.filter(pk=foreign.pk).values().get()
    no_row = type(foreign)(pk=999_999)
    rights = admin.site._registry[model].rights
    for row in (foreign, no_row):
        # What nobody may do is refused before the row is looked up. Whoever may not change a row may still open it.
        is_shown = view in rights or view in ("change", "history")
        is_written = view in rights or view == "history"
        assert desk.get(admin_url(row, view)).status_code == (404 if is_shown else 403)
        answer = desk.post(admin_url(row, view), {"post": "yes", "name": "taken"})
        assert answer.status_code == (404 if is_written else 403)
    assert desk.page(foreign, "change").status_code == 404
    assert model.objects.filter(pk=foreign.pk).values().get() == before


@PAGES
def test_actions_do_not_reach_another_shops_rows(desk, other_shop, model):
    page = admin.site._registry[model]
    foreign = ROWS[model](other_shop)
    before = type(foreign).objects.filter(pk=foreign.pk).values().get()
    for name in ["delete_selected", *(page.actions or ())]:
        desk.choose(model, name, foreign, post="yes")
    for name in page.actions_detail:
        url = reverse(f"admin:{page.get_unfold_action(name).action_name}", args=[foreign.pk])
        answer = desk.post(url, {"_form_submitted": "on"})
        assert answer.status_code == 404
    assert type(foreign).objects.filter(pk=foreign.pk).values().get() == before


@PAGES
def test_no_form_offers_another_shops_rows(desk, shop, other_shop, model):
    """Every choice of every field, inlines and nested inlines too, also when it is posted by hand."""
    mine = ROWS[model](shop)
    foreign = {kind: make(other_shop) for kind, make in ROWS.items() if kind not in (Order, Shop)}
    for form in forms_of(desk.page(mine)):
        for name, field in form.fields.items():
            queryset = getattr(field, "queryset", None)
            # An inline's own id is looked up among the rows of its parent; see below.
            if name != "id" and queryset is not None and queryset.model in foreign:
                assert not queryset.filter(pk=foreign[queryset.model].pk).exists()


def test_a_foreign_choice_posted_by_hand_is_refused(desk, shop, other_shop):
    product, brand = make_product(shop, "Mug"), ROWS[Brand](other_shop)
    category, part = make_category(other_shop, "Theirs"), make_product(other_shop, "Their part")
    page = desk.fill(
        product,
        brand=brand.pk,
        in_categories=[category.pk],
        bundle_items__TOTAL_FORMS=1,
        bundle_items__0__product=part.pk,
        bundle_items__0__qty=1,
        bundle_items__0__sort_order=0,
    )
    errors = page.context_data["errors"]
    assert page.status_code == 200
    assert len(errors) >= 3
    product.refresh_from_db()
    assert product.brand is None
    assert not product.categories.exists()
    assert not BundleItem.objects.exists()
    # The error does not contain the foreign row's name.
    assert "Their" not in page.content.decode()


def test_a_group_price_for_a_foreign_product_is_refused(desk, shop, other_shop):
    group, theirs = ROWS[CustomerGroup](shop), make_product(other_shop, "Their mug")
    page = desk.fill(group, prices__TOTAL_FORMS=1, prices__0__product=theirs.pk, prices__0__price="1.00")
    assert page.status_code == 200
    assert not GroupPrice.objects.exists()


def test_a_foreign_inline_row_posted_by_hand_is_not_touched(desk, shop, other_shop):
    mine = make_variant(make_product(shop, "Scarf"), "Blue")
    theirs = make_variant(make_product(other_shop, "Scarf"), "Blue")
    desk.fill(mine.product, variants__0__id=theirs.pk, variants__0__name="Taken")
    theirs.refresh_from_db()
    assert theirs.name == "Blue"


AUTOCOMPLETES = [
    (page.model, name)
    for page in admin.site._registry.values()
    for owner in [page, *page.inlines]
    for name in owner.autocomplete_fields
    for page in [owner]
]


@pytest.mark.parametrize(("model", "name"), [*AUTOCOMPLETES, (Product, "categories")])
def test_autocomplete_finds_the_shops_own_rows_alone(desk, shop, other_shop, model, name):
    target = model._meta.get_field(name).related_model
    mine = ROWS[target](shop)
    ROWS[target](other_shop)
    asked = {"app_label": model._meta.app_label, "model_name": model._meta.model_name, "field_name": name, "term": ""}
    found = desk.get(reverse("admin:autocomplete"), asked).json()["results"]
    assert [row["id"] for row in found] == [str(mine.pk)]


def test_list_filters_offer_the_shops_own_rows_alone(desk, shop, other_shop):
    make_category(shop, "Ours")
    make_category(other_shop, "Theirs")
    make_product(shop, "Mug")
    url = admin_url(Product, "changelist")
    chips = desk.get(url).context_data["list"].chips
    offered = "".join(desk.get(f"{url}{chip.choices_url}").content.decode() for chip in chips)
    assert "Ours" in offered
    assert "Theirs" not in offered


def test_a_new_row_belongs_to_the_shop_whatever_is_posted(desk, shop, other_shop):
    desk.fill(Brand, name="Moomin", shop=other_shop.pk)
    assert Brand.objects.get().shop == shop


def forms_of(page: Any) -> list[Any]:
    context, forms = page.context_data, [page.context_data["adminform"].form]
    waiting = [inline.formset for inline in context.get("inline_admin_formsets", [])]
    while waiting:
        formset = waiting.pop()
        for form in [*formset.forms, formset.empty_form]:
            forms.append(form)
            waiting += [nested.formset for nested in getattr(form, "nested_formsets", [])]
    return forms
