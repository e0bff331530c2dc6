from argparse import ArgumentParser

from storefront.deployment.actions import open_shop
from storefront.kit import clock
from storefront.server.command import Command as Base
from storefront.staff.doors import close_doors


class Command(Base):
    help = "Create a shop, with pages for its owner to edit and publish. Prints it as a JSON object."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--domain", required=True, help="host name, such as shop.example.com")
        parser.add_argument("--name", required=True, help="name of the shop")
        parser.add_argument("--base-url", required=True, help="base URL, such as https://shop.example.com")
        parser.add_argument("--currency", default="EUR", help="ISO 4217 currency code (default: %(default)s)")
        parser.add_argument("--timezone", default="Europe/Berlin", help="time zone name (default: %(default)s)")
        parser.add_argument("--language", default="en", help="main language (default: %(default)s)")
        parser.add_argument(
            "--further-languages", default="", help="further languages, separated by commas, such as de,fr"
        )
        parser.add_argument("--email", help="contact email address")
        parser.add_argument(
            "--demo",
            action="store_true",
            help="a shop for trying out: it also offers a card payment that takes no money, only test cards",
        )
        parser.add_argument(
            "--closed", action="store_true", help="show visitors a password page until the owner opens the doors"
        )

    def handle(self, *, domain, name, base_url, currency, timezone, language, email, demo, closed, **options) -> None:
        further_languages = [code.strip() for code in options["further_languages"].split(",") if code.strip()]
        now = clock.now()
        shop = open_shop(
            domain=domain,
            name=name,
            base_url=base_url,
            currency=currency,
            timezone=timezone,
            language=language,
            further_languages=further_languages,
            email=email,
            payment_methods=("demo", "manual") if demo else ("manual",),
            is_demo=demo,
            now=now,
        )
        fields = ("id", "domain", "name", "base_url", "currency", "timezone", "language", "further_languages", "email")
        # The password is printed here, once.
        password = {"password": close_doors(shop=shop, now=now)} if closed else {}
        self.write_result({field: getattr(shop, field) for field in fields} | password)
