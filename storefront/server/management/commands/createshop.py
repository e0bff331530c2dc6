from argparse import ArgumentParser

from storefront.kit import clock
from storefront.server.command import Command as Base
from storefront.shops import actions


class Command(Base):
    help = "Create a shop. Prints it as a JSON object."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--domain", required=True, help="host name, such as shop.example.com")
        parser.add_argument("--name", required=True, help="name of the shop")
        parser.add_argument("--base-url", required=True, help="base URL, such as https://shop.example.com")
        parser.add_argument("--currency", default="EUR", help="ISO 4217 currency code (default: %(default)s)")
        parser.add_argument("--timezone", default="Europe/Berlin", help="time zone name (default: %(default)s)")
        parser.add_argument("--language", default="en", help="language of the products (default: %(default)s)")
        parser.add_argument("--email", help="contact email address")

    def handle(self, *, domain, name, base_url, currency, timezone, language, email, **_options) -> None:
        shop = actions.create_shop(
            domain=domain,
            name=name,
            base_url=base_url,
            currency=currency,
            timezone=timezone,
            language=language,
            email=email,
            now=clock.now(),
        )
        fields = ("id", "domain", "name", "base_url", "currency", "timezone", "language", "email")
        self.write_result({field: getattr(shop, field) for field in fields})
