from argparse import ArgumentParser
from dataclasses import asdict

from django.conf import settings

from storefront.demo import credentials, shop
from storefront.kit import clock
from storefront.server import readiness
from storefront.server.command import Command as Base
from storefront.shops.places import page_address


class Command(Base):
    help = "Create a demo shop with products. Prints its URLs and credentials as a JSON object."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--base-url", default="http://127.0.0.1:8000", help="base URL of the shop (default: %(default)s)"
        )
        parser.add_argument(
            "--reset", action="store_true", help="delete the demo shop with its carts and orders, and create it again"
        )

    def handle(self, *, base_url: str, reset: bool, **_options) -> None:
        readiness.require_migrated_database()
        now, base_url = clock.now(), base_url.rstrip("/")
        demo_shop = shop.demo_shop()
        if demo_shop and reset:
            shop.close_shop(demo_shop)
            demo_shop = None
        if demo_shop is None:
            demo_shop = shop.open_shop(base_url=base_url, now=now, report=self.write_message)
        else:
            shop.move_shop(demo_shop, base_url=base_url, now=now)
        file = settings.DATA_DIR / "demo.json"
        stored_credentials = credentials.ensure_credentials(file, shop=demo_shop, now=now)
        self.write_message(f"The demo's password and token are stored in {file}, which only you can read.")
        urls = {
            "shop": demo_shop.domain,
            "url": base_url + "/",
            "admin_url": page_address("admin:index", shop=demo_shop),
            "secure_url": page_address("checkout:checkout", shop=demo_shop),
        }
        self.write_result({**urls, **asdict(stored_credentials)})
