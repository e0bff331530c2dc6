"""What every command of ours shares: results on stdout, talk on stderr, and one sentence where something is wrong.

A Refusal that leaves a command becomes a sentence per field and exit 2; Failed becomes its sentence and exit 1.
Both are turned into exits in `cli.py`, so that tests which call a command see them as they were raised.
"""

import sys
from argparse import ArgumentParser
from typing import Any

import orjson
from django.core.management.base import BaseCommand

from storefront.apps.models import App
from storefront.kit.refusals import InvalidFields
from storefront.shops.models import Shop


class Failed(Exception):
    """What was asked for could not be done; the text is one sentence for people. The script exits with 1."""


class Command(BaseCommand):
    """Base of our commands. `help` is the one line that `storefront` alone shows."""

    # Checks cost a second of start-up and belong to `make check`.
    requires_system_checks: list[str] = []

    def answer(self, value: Any) -> None:
        """The result, alone on stdout: a string as it is, anything else as one line of JSON."""
        self.stdout.write(value if isinstance(value, str) else orjson.dumps(value).decode())

    def say(self, text: str) -> None:
        """Talk for whoever watches, on stderr."""
        self.stderr.write(text, style_func=str)

    @property
    def is_watched(self) -> bool:
        """Whether stderr is a terminal, so that progress is worth drawing."""
        return sys.stderr.isatty()


def add_shop_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--shop", required=True, metavar="DOMAIN", help="the shop, by its domain")


def add_app_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--app", required=True, metavar="SLUG", help="the app, by its slug")


def listed(text: str) -> list[str]:
    """The words of a comma-separated argument."""
    return [word.strip() for word in text.split(",") if word.strip()]


def shop_named(domain: str) -> Shop:
    """The shop of a `--shop` argument. Raises InvalidFields, which names the shops there are."""
    found = Shop.objects.filter(domain=domain.strip().lower()).first()
    if found:
        return found
    domains = list(Shop.objects.order_by("domain").values_list("domain", flat=True)[:10])
    there_are = (
        f"There are: {', '.join(domains)}." if domains else "There is none yet; storefront createshop makes one."
    )
    raise InvalidFields(errors={"shop": [f"No shop has the domain {domain}. {there_are}"]})


def app_named(slug: str) -> App:
    """The app of an `--app` argument. Raises InvalidFields, which names the apps there are."""
    found = App.objects.filter(slug=slug.strip()).first()
    if found:
        return found
    slugs = list(App.objects.order_by("slug").values_list("slug", flat=True)[:10])
    there_are = f"There are: {', '.join(slugs)}." if slugs else "There is none yet; storefront createapp makes one."
    raise InvalidFields(errors={"app": [f"No app has the slug {slug}. {there_are}"]})
