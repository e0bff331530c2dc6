"""Makes small shops in one pod, and prints each as a line of JSON: where it is, a token, and its products.

    python -m deploy.local.shops --first 1 --last 200 --step 2 --port 8100

Numbers are those of the shops' hosts. A shop that exists already keeps what it has, and gets one more token.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import django

SCOPES = ("read_products", "read_cart", "write_cart")
CATEGORIES = ("Kitchen > Cups", "Kitchen > Bowls", "Living > Candles")
NOUNS = ("Mug", "Bowl", "Plate", "Jug", "Vase", "Candle", "Tray", "Teapot", "Saucer", "Cup", "Jar", "Basket")
STOCK = 1_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("first", "last", "step", "port"):
        parser.add_argument(f"--{name}", type=int, required=True)
    given = parser.parse_args()
    os.environ["DJANGO_SETTINGS_MODULE"] = "storefront.server.settings"
    django.setup()
    for number in range(given.first, given.last + 1, given.step):
        sys.stdout.write(f"{json.dumps(shop_of(number, given.port))}\n")
        sys.stdout.flush()


def shop_of(number: int, port: int) -> dict[str, Any]:
    """The shop with this number, which is made if there is none. It takes demo cards and payment in advance."""
    from storefront.catalogue.models import Product
    from storefront.deployment.actions import open_shop
    from storefront.kit import clock
    from storefront.product_files.importing import import_products
    from storefront.shops.models import Shop
    from storefront.staff.actions import create_api_token

    domain, now = f"shop-{number}.localhost", clock.now()
    shop = Shop.objects.filter(domain=domain).first()
    if shop is None:
        methods: dict[str, Any] = {"payment_methods": ("demo", "manual"), "is_demo": True}
        url = f"http://{domain}:{port}"
        shop = open_shop(domain=domain, name=f"Shop {number}", base_url=url, now=now, **methods)
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(f"{json.dumps(product)}\n" for product in products(number))
        file.flush()
        report = import_products(shop=shop, file=Path(file.name), format="native", now=now)
    if report.failed:
        raise SystemExit(f"The products of {domain} are not imported: {report.problems[0]}")
    token = create_api_token(shop=shop, scopes=list(SCOPES), name="deploy/local", now=now)[1]
    rows = Product.objects.filter(shop=shop).order_by("id").values_list("pk", "slug", "name")
    return {"id": shop.pk, "domain": domain, "token": token, "products": [list(row) for row in rows]}


def products(number: int) -> list[dict[str, Any]]:
    """Each product's name has its shop's number, so that one that is shown elsewhere is seen."""
    return [
        {
            "name": f"{noun} of shop {number}",
            "slug": noun.lower(),
            "sku": f"{noun.upper()}-{number}",
            "status": "active",
            "price": f"{4 + place * 3}.50",
            "stock_qty": STOCK,
            "categories": [CATEGORIES[place % len(CATEGORIES)]],
            "short_description": f"A {noun.lower()} for every day, thrown and glazed by hand.",
        }
        for place, noun in enumerate(NOUNS)
    ]


if __name__ == "__main__":
    main()
