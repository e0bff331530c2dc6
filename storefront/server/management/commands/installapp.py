from argparse import ArgumentParser

from storefront.apps import actions
from storefront.kit import clock
from storefront.server.command import Command as Base
from storefront.server.command import add_app_argument, add_shop_argument, find_app, find_shop, split_list


class Command(Base):
    help = "Install an app in a shop. Prints its token, which is shown only once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_shop_argument(parser)
        add_app_argument(parser)
        parser.add_argument("--scopes", help="comma-separated scopes to grant (default: all that the app asks for)")

    def handle(self, *, shop, app, scopes, **_options) -> None:
        wanted = find_app(app)
        _, token = actions.install_app(
            shop=find_shop(shop),
            app=wanted,
            scopes=wanted.scopes if scopes is None else split_list(scopes),
            now=clock.now(),
        )
        self.write_result(token)
