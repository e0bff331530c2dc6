from argparse import ArgumentParser

from storefront.apps import actions
from storefront.apps.queries import current_installation
from storefront.kit import clock
from storefront.server.command import Command as Base
from storefront.server.command import add_app_argument, add_shop_argument, find_app, find_shop


class Command(Base):
    help = "Uninstall an app from a shop, with everything that it added; its token is refused from the next request on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_shop_argument(parser)
        add_app_argument(parser)

    def handle(self, *, shop, app, **_options) -> None:
        found = current_installation(find_shop(shop), find_app(app))
        actions.uninstall_app(shop=found.shop, installation=found, now=clock.now())
        self.write_message(f"{found} has been uninstalled from {found.shop}.")
