from argparse import ArgumentParser
from dataclasses import asdict

from django.conf import settings

from storefront.kit import clock
from storefront.server import readiness
from storefront.server.command import Command as Base
from storefront.server.demo import credentials, shop


class Command(Base):
    help = "Open a demo shop with products in it; answers with its addresses and credentials as one JSON object."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--base-url", default="http://127.0.0.1:8000", help="where it will be reached (default: %(default)s)"
        )
        parser.add_argument(
            "--reset", action="store_true", help="delete the demo shop, with its carts and orders, and open it anew"
        )

    def handle(self, *, base_url: str, reset: bool, **_options) -> None:
        readiness.require_migrated_database()
        now, base_url = clock.now(), base_url.rstrip("/")
        standing = shop.demo_shop()
        if standing and reset:
            shop.close_shop(standing)
            standing = None
        if standing is None:
            standing = shop.open_shop(base_url=base_url, now=now, tell=self.say)
        else:
            shop.move_shop(standing, base_url=base_url, now=now)
        file = settings.DATA_DIR / "demo.json"
        known = credentials.keep_credentials(file, shop=standing, now=now)
        self.say(f"The demo's password and token are kept in {file}, readable by you alone.")
        addresses = {"shop": standing.domain, "url": base_url + "/", "admin_url": base_url + "/admin/"}
        self.answer({**addresses, **asdict(known)})
