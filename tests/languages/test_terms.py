"""At the pay button, a shopper can open what is accepted with the order."""

import re

from storefront.content.models import Page
from storefront.shops.models import Shop
from tests.catalogue.factories import make_product
from tests.checkout.shopper import ADDRESS
from tests.shops.factories import NOW


def test_the_pages_are_links_in_the_language_of_the_page(shop, other_shop, shopper):
    for owner, kind in ((shop, "terms"), (shop, "returns"), (shop, "privacy"), (other_shop, "terms")):
        given = {"title": kind.title(), "body": "x", "is_published": True, "created_at": NOW, "updated_at": NOW}
        Page.objects.create(shop=owner, kind=kind, slug=f"{kind}-{owner.pk}", **given)
    Shop.objects.filter(pk=shop.pk).update(payment_methods=["manual"])
    mug = make_product(shop, "Mug", requires_shipping=False)
    shopper.post("/de/basket/add", {"product": mug.pk, "qty": 1})
    shopper.post(
        "/de/checkout", {"email": "ada@example.com", **{f"billing-{name}": value for name, value in ADDRESS.items()}}
    )
    answer = shopper.get("/de/checkout/payment")
    assert answer.status_code == 200, answer.headers
    page = answer.content.decode()
    found = re.findall(r'<a href="(\S+)" target="_blank" rel="noopener">(\w+)', page)
    assert found == [(f"/de/pages/{kind}-{shop.pk}", kind.title()) for kind in ("terms", "returns", "privacy")]
    assert page.count("(öffnet sich in einem neuen Fenster)") == 3
