from argparse import ArgumentParser, ArgumentTypeError
from datetime import timedelta

from storefront.kit import clock
from storefront.server.command import Command as Base
from storefront.server.command import add_shop_argument, find_shop, split_list
from storefront.shops.scopes import SCOPES
from storefront.staff import actions

MAX_DAYS = 36500


def days(text: str) -> timedelta:
    if not text.isdecimal() or not 1 <= int(text) <= MAX_DAYS:
        raise ArgumentTypeError(f"expected a number of days from 1 to {MAX_DAYS}, not {text}")
    return timedelta(days=int(text))


class Command(Base):
    help = "Create an API token for a shop. Prints the token, which is shown only once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_shop_argument(parser)
        parser.add_argument("--scopes", required=True, help=f"comma-separated scopes: {', '.join(SCOPES)}")
        parser.add_argument("--name", default="command line", help="name of the token (default: %(default)s)")
        parser.add_argument(
            "--expires", type=days, metavar="DAYS", help="days until the token expires (default: never)"
        )

    def handle(self, *, shop, scopes, name, expires, **_options) -> None:
        _, secret = actions.create_api_token(
            shop=find_shop(shop), scopes=split_list(scopes), name=name, now=clock.now(), expires_in=expires
        )
        self.write_result(secret)
