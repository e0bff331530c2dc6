from argparse import ArgumentParser

from storefront.apps import actions
from storefront.kit import clock
from storefront.server.command import Command as Base
from storefront.server.command import add_app_argument, add_shop_argument, app_named, listed, shop_named


class Command(Base):
    help = "Install an app in a shop; answers with its token, which is shown this once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_shop_argument(parser)
        add_app_argument(parser)
        parser.add_argument("--scopes", help="what it may do, comma-separated (default: all that it asks for)")

    def handle(self, *, shop, app, scopes, **_options) -> None:
        wanted = app_named(app)
        _, token = actions.install_app(
            shop=shop_named(shop),
            app=wanted,
            scopes=wanted.scopes if scopes is None else listed(scopes),
            now=clock.now(),
        )
        self.answer(token)
