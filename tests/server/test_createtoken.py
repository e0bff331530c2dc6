from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command

from storefront.kit.refusals import InvalidFields
from storefront.shops.models import ApiToken
from tests.client import ApiClient


def create_token(shop, *options: str) -> str:
    out = StringIO()
    call_command("createtoken", "--shop", shop.domain, *options, stdout=out)
    return out.getvalue().strip()


def test_a_token_has_its_scopes_and_no_others(shop, other_shop):
    token = create_token(shop, "--scopes", "read_products, read_cart", "--name", "till")
    api = ApiClient(token)
    assert api.get("/products").status_code == 200
    assert api.post("/cart", {"product_id": 1, "qty": 1}).status_code == 403
    (row,) = ApiToken.objects.all()
    assert (row.shop, row.name, row.expires_at) == (shop, "till", None)
    assert token not in str(vars(row))


def test_a_token_expires_after_the_given_days(shop):
    create_token(shop, "--scopes", "read_cart", "--expires", "30")
    row = ApiToken.objects.get()
    assert row.expires_at - row.created_at == timedelta(days=30)


@pytest.mark.parametrize("scopes", ["", "read_everything", "read_cart,read_everything"])
def test_scopes_that_do_not_exist_are_refused(shop, scopes):
    with pytest.raises(InvalidFields) as refused:
        create_token(shop, "--scopes", scopes)
    assert "scopes" in refused.value.errors
    assert not ApiToken.objects.exists()
