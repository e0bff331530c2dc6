"""Which products are public, by status."""

import pytest

from tests.catalogue.factories import make_product


def seen(api, product) -> tuple[bool, bool]:
    listed = product.id in [record["id"] for record in api.get("/products").json()["data"]]
    return listed, api.get(f"/products/{product.id}").status_code == 200


@pytest.mark.rule("R-CAT-2")
def test_active_is_visible_through_the_public_product_endpoints(api, shop):
    assert seen(api, make_product(shop, status="active")) == (True, True)


@pytest.mark.rule("R-CAT-2")
@pytest.mark.parametrize("status", ["draft", "archived"])
def test_draft_is_never_exposed(api, shop, status):
    assert seen(api, make_product(shop, status=status)) == (False, False)


@pytest.mark.rule("R-CAT-2")
def test_visibility_follows_the_status_at_once(api, shop):
    mug = make_product(shop, status="draft")
    for status, visible in (("active", True), ("archived", False), ("active", True), ("draft", False)):
        mug.status = status
        mug.save()
        assert seen(api, mug) == (visible, visible)
