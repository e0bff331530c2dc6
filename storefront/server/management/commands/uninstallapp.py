from argparse import ArgumentParser

from storefront.apps import actions, queries
from storefront.kit import clock
from storefront.server.command import Command as Base
from storefront.server.command import add_app_argument, add_shop_argument, find_app, find_shop


class Command(Base):
    help = "Uninstall an app from a shop, with everything that it added; its token is refused from the next request on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_shop_argument(parser)
        add_app_argument(parser)

    def handle(self, *, shop, app, **_options) -> None:
        found, wanted = find_shop(shop), find_app(app)
        installation = queries.current_installation(found, wanted)
        if installation is None:
            raise actions.NotInstalled
        actions.uninstall_app(shop=found, installation=installation, now=clock.now())
        self.write_message(f"{wanted} has been uninstalled from {found}.")
