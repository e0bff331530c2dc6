"""Every page of the admin, with a second shop's rows beside: they are not there, whichever way one asks."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.db.models import Model
from django.urls import reverse

from storefront.apps.models import AllowedScriptHost, App, BlockedScript, Extension, Installation, ScriptTag
from storefront.carts.models import Cart
from storefront.catalogue.models import (
    Brand,
    BundleItem,
    Category,
    Product,
    ProductImport,
    ShippingOrigin,
    StockAdjustment,
    TaxClass,
    Variant,
    Vendor,
)
from storefront.customers.models import Customer, CustomerGroup
from storefront.orders.models import Order, Payment
from storefront.pricing.models import Discount, GroupPrice, ShippingRate, TaxRate
from storefront.shops.admin_base import ScopedToShop
from storefront.shops.models import AllowedOrigin, ApiToken, Shop, StaffMember
from storefront.webhooks.models import Delivery, Event, Registration
from tests.catalogue.factories import make_category, make_product, make_variant
from tests.factories.apps import install
from tests.shops.factories import NOW, make_token
from tests.staff import Desk, admin_url, make_staff, open_desk
from tests.webhooks.factories import register

TIMES = {"created_at": NOW, "updated_at": NOW}


def make_order(shop: Shop) -> Order:
    return Order.objects.create(
        shop=shop,
        number=1001,
        email="shopper@example.com",
        currency=shop.currency,
        prices_include_tax=True,
        billing_address={"name": f"Buyer of {shop.name}"},
        payment_method="manual",
        placed_at=NOW,
        updated_at=NOW,
    )


def make_payment(shop: Shop) -> Payment:
    return Payment.objects.create(
        shop=shop, order=make_order(shop), gateway="manual", status="pending", currency="EUR", **TIMES
    )


def make_api_token(shop: Shop) -> ApiToken:
    make_token(shop)
    return ApiToken.objects.get(shop=shop)


# One row of each kind, by the model that has a page.
ROWS: dict[type[Model], Callable[[Shop], Model]] = {
    Shop: lambda shop: shop,
    StaffMember: lambda shop: StaffMember.objects.get(user=make_staff(shop, f"member-{shop.pk}", "staff"), shop=shop),
    AllowedOrigin: lambda shop: AllowedOrigin.objects.create(shop=shop, origin=f"https://{shop.domain}"),
    ApiToken: make_api_token,
    Registration: lambda shop: register(install(shop), f"https://{shop.domain}/hook"),
    Delivery: lambda shop: install(shop).installation.deliveries.get(),
    Event: lambda shop: Event.objects.create(shop=shop, topic="order.placed", data={}, created_at=NOW),
    Product: lambda shop: make_product(shop, f"Mug of {shop.name}"),
    Variant: lambda shop: make_variant(make_product(shop, f"Scarf of {shop.name}"), f"Blue of {shop.name}"),
    StockAdjustment: lambda shop: StockAdjustment.objects.create(
        shop=shop,
        product=make_product(shop, f"Jug of {shop.name}"),
        delta=1,
        stock_after=11,
        reason=f"Found in {shop.name}",
        made_at=NOW,
    ),
    Category: lambda shop: make_category(shop, f"Cups of {shop.name}"),
    Brand: lambda shop: Brand.objects.create(shop=shop, name=f"Brand of {shop.name}"),
    Vendor: lambda shop: Vendor.objects.create(shop=shop, name=f"Vendor of {shop.name}"),
    ShippingOrigin: lambda shop: ShippingOrigin.objects.create(shop=shop, name=f"Origin of {shop.name}"),
    TaxClass: lambda shop: TaxClass.objects.create(shop=shop, name=f"Class of {shop.name}"),
    ProductImport: lambda shop: ProductImport.objects.create(
        shop=shop, file_name=f"{shop.name}.csv", state="done", created_at=NOW
    ),
    Customer: lambda shop: Customer.objects.create(shop=shop, email=f"buyer@{shop.domain}", **TIMES),
    CustomerGroup: lambda shop: CustomerGroup.objects.create(shop=shop, name=f"Trade of {shop.name}"),
    Discount: lambda shop: Discount.objects.create(shop=shop, name=f"Sale of {shop.name}", value=5),
    TaxRate: lambda shop: TaxRate.objects.create(shop=shop, name=f"VAT of {shop.name}", country="DE", percent=19),
    ShippingRate: lambda shop: ShippingRate.objects.create(shop=shop, name=f"Parcel of {shop.name}"),
    Cart: lambda shop: Cart.objects.create(shop=shop, expires_at=NOW + timedelta(days=7), **TIMES),
    Installation: lambda shop: install(shop).installation,
    Extension: lambda shop: Extension.objects.create(
        shop=shop,
        installation=install(shop).installation,
        type="checkout_block",
        callback_url=f"https://{shop.domain}/blocks",
        **TIMES,
    ),
    ScriptTag: lambda shop: ScriptTag.objects.create(
        shop=shop,
        installation=install(shop).installation,
        src=f"https://{shop.domain}/badge.js",
        location="head",
        **TIMES,
    ),
    AllowedScriptHost: lambda shop: AllowedScriptHost.objects.create(shop=shop, host=f"cdn.{shop.domain}"),
    BlockedScript: lambda shop: BlockedScript.objects.create(
        shop=shop, source=f"https://cdn.{shop.domain}/", directive="script-src", page="/", first_at=NOW, last_at=NOW
    ),
    Order: make_order,
    Payment: make_payment,
}
# What belongs to no shop: the operator's, for merchants to look at (tests/apps/test_admin_apps.py).
OF_NO_SHOP = {App}
PAGES = pytest.mark.parametrize("model", ROWS, ids=lambda model: model.__name__)


@pytest.fixture
def desk(shop) -> Desk:
    return open_desk(make_staff(shop))


def test_every_page_of_the_admin_is_walked_here():
    assert set(admin.site._registry) == set(ROWS) | OF_NO_SHOP
    assert all(isinstance(page, ScopedToShop) for page in admin.site._registry.values())


@PAGES
def test_own_rows_are_listed_and_open(desk, shop, other_shop, model):
    mine = ROWS[model](shop)
    ROWS[model](other_shop)
    listed = desk.get(admin_url(model, "changelist"), follow=True)
    assert listed.status_code == 200
    assert desk.page(mine).status_code == 200
    assert desk.page(mine, "history").status_code == 200


@PAGES
def test_another_shops_rows_are_not_listed(desk, shop, other_shop, model):
    ROWS[model](shop)
    foreign = ROWS[model](other_shop)
    listed = desk.get(admin_url(model, "changelist"))
    if model is not Shop:
        assert foreign.pk not in [row.pk for row in listed.context_data["cl"].queryset]
        assert other_shop.name not in listed.content.decode()


@PAGES
@pytest.mark.parametrize("view", ["change", "delete", "history"])
def test_another_shops_row_is_a_404_like_one_that_never_was(desk, other_shop, model, view):
    foreign = ROWS[model](other_shop)
    before = model.objects.filter(pk=foreign.pk).values().get()
    no_row = type(foreign)(pk=999_999)
    for ask in (desk.get, lambda url: desk.post(url, {"post": "yes", "name": "taken"})):
        answer = ask(admin_url(foreign, view)).status_code
        assert answer == ask(admin_url(no_row, view)).status_code
        # What nobody may do at all is refused before anybody looks which row it is.
        assert answer in (403, 404)
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
def test_staff_cannot_do_what_is_for_owners(shop, model):
    page, row = admin.site._registry[model], ROWS[model](shop)
    clerk = open_desk(make_staff(shop, "clerk", "staff"))
    for name in page.actions_detail if page.owners_only else ():
        url = reverse(f"admin:{page.get_unfold_action(name).action_name}", args=[row.pk])
        assert clerk.post(url, {"_form_submitted": "on"}).status_code == 403


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
    # Not even the name of what was posted is told.
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
    listed = desk.get(admin_url(Product, "changelist")).content.decode()
    assert "Ours" in listed
    assert "Theirs" not in listed


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
