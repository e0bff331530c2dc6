"""The commands in the guides, run as they stand, answer what the pages say."""

from threading import Thread

import pytest
from werkzeug.serving import make_server

from storefront.server.wsgi import application
from storefront.shops.models import AllowedOrigin
from tests.catalogue.factories import make_product
from tests.checkout.shopper import Shopper
from tests.docs.guides import run_guide
from tests.pricing.rows import make_code
from tests.shops.factories import make_token

pytestmark = [pytest.mark.any_database, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def url():
    server = make_server("127.0.0.1", 0, application, threaded=True)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def given(shop, url) -> dict[str, str]:
    mug = make_product(shop, "Mug", price="9.50", stock_qty=10)
    pot = make_product(shop, "Pot", price="20.00", stock_qty=10)
    token = make_token(shop, "read_products", "read_cart", "write_cart", "read_orders")
    return {"SHOP": url, "TOKEN": token, "MUG": str(mug.pk), "POT": str(pot.pk)}


def test_the_guide_to_carts(shop, given):
    AllowedOrigin.objects.create(shop=shop, origin="https://www.example.com")
    make_code(shop)

    def buy(said: str, given: dict[str, str]) -> None:
        if '"checkout_url"' in said:
            shopper = Shopper(shop)
            shopper.arrive(given["LINK"])
            assert shopper.order().status_code == 303

    assert run_guide("carts.md", given, after=buy) == 12


def test_the_guide_to_errors(shop, given):
    assert run_guide("errors.md", given) == 5
