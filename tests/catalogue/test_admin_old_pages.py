"""A product's page that was opened before somebody else changed the product."""

import pytest

from storefront.catalogue.actions import update_product
from storefront.catalogue.models import Variant
from tests.catalogue.factories import make_category, make_product, make_variant
from tests.shops.factories import NOW
from tests.staff import admin_url, form_values

pytestmark = pytest.mark.slow


@pytest.fixture
def role() -> str:
    return "manager"


def test_an_old_page_undoes_nothing_that_others_changed(shop, desk):
    shirt = make_product(shop, "Shirt", type="variable", status="active", translations={"de": {"name": "Hemd"}})
    red = make_variant(shirt, "Red", option_values={"Colour": "Red"}, sku="R1", stock_qty=5)
    old, sale = make_category(shop, "Old"), make_category(shop, "Sale")
    update_product(
        shop=shop,
        product=shirt,
        now=NOW,
        categories=[old],
        attributes=[{"name": "Colour", "values": ["Red"], "variation": True}, {"name": "Fit", "values": ["Slim"]}],
    )
    url = admin_url(shirt, "change")
    shown = form_values(desk.get(url))
    # Meanwhile one is sold, and somebody else works on the same product.
    new = [{"name": "Colour", "values": ["Red", "Blue"], "variation": True}, {"name": "Material", "values": ["Wool"]}]
    meanwhile = {"status": "archived", "short_description": "Soft.\nWarm.", "translations": {"fr": {"name": "Chemise"}}}
    update_product(shop=shop, product=shirt, now=NOW, categories=[sale], attributes=new, **meanwhile)
    Variant.objects.filter(pk=red.pk).update(sku="R2", is_active=False, allow_backorders=True, stock_qty=4)
    # A refusal shows what was typed, and the page stays as old as it was.
    refused = desk.post(url, shown | {"name": "New", "slug": "a/b"})
    assert (refused.status_code, refused.context_data["adminform"].form["name"].value()) == (200, "New")
    row = next(name for name, value in shown.items() if value == "R1").removesuffix("sku")
    changed = {"name": "New", "shown": refused.context_data["shown"], f"{row}stock_qty": "7"}
    assert desk.post(url, shown | changed).status_code == 302
    shirt.refresh_from_db()
    red.refresh_from_db()
    assert (shirt.name, list(shirt.categories.all())) == ("New", [sale])
    assert {name: getattr(shirt, name) for name in meanwhile} == meanwhile
    assert [(each["name"], each["values"]) for each in shirt.attributes] == [
        (each["name"], each["values"]) for each in new
    ]
    assert (red.sku, red.is_active, red.allow_backorders, red.option_values) == ("R2", False, True, {"Colour": "Red"})
    assert red.stock_qty == 4 + 2
    # What its user did change on the old page is saved.
    assert (
        desk.post(url, shown | {"status": "draft", f"{row}sku": "R3", "in_categories": [old.pk, sale.pk]}).status_code
        == 302
    )
    shirt.refresh_from_db()
    red.refresh_from_db()
    assert (shirt.status, red.sku, shirt.categories.count()) == ("draft", "R3", 2)
