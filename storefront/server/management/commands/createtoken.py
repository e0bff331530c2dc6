from argparse import ArgumentParser, ArgumentTypeError
from datetime import timedelta

from storefront.kit import clock
from storefront.server.command import Command as Base
from storefront.server.command import add_shop_argument, listed, shop_named
from storefront.shops import actions
from storefront.shops.scopes import SCOPES

LONGEST = 36500


def days(text: str) -> timedelta:
    if not text.isdecimal() or not 1 <= int(text) <= LONGEST:
        raise ArgumentTypeError(f"expected a number of days from 1 to {LONGEST}, not {text}")
    return timedelta(days=int(text))


class Command(Base):
    help = "Make an API token of a shop; answers with the token, which is shown this once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_shop_argument(parser)
        parser.add_argument("--scopes", required=True, help=f"comma-separated, of {', '.join(SCOPES)}")
        parser.add_argument("--name", default="command line", help="what it is for (default: %(default)s)")
        parser.add_argument("--expires", type=days, metavar="DAYS", help="days until it ends (default: never)")

    def handle(self, *, shop, scopes, name, expires, **_options) -> None:
        _, secret = actions.create_api_token(
            shop=shop_named(shop), scopes=listed(scopes), name=name, now=clock.now(), expires_in=expires
        )
        self.answer(secret)
