"""The base of our commands: results go to stdout, messages to stderr.

A Refusal becomes a sentence for each field and exit 2, Failed becomes its sentence and exit 1. `cli.py` turns them into
exits, so that tests which call a command see the exceptions.
"""

import getpass
import os
import socket
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import BaseCommand
from django.db import connection

from storefront import audit
from storefront.installations.models import App
from storefront.kit.direct import make_direct
from storefront.kit.refusals import InvalidFields
from storefront.shops.models import Shop


class Failed(Exception):
    """The command could not do its work; the text is one sentence for people. The script exits with 1."""


class Command(BaseCommand):
    """Base of our commands. `help` is the line that `storefront help` shows."""

    # Checks take a second of start-up, and `make check` runs them.
    requires_system_checks: list[str] = []
    # Whether its transactions last for minutes, so that it uses the database past PgBouncer.
    goes_direct = False

    def execute(self, *args: Any, **options: Any) -> Any:
        """Run the command, with its name and the system user as the actor in the shop's audit log."""
        if self.goes_direct:
            make_direct(connection)
        name = type(self).__module__.rpartition(".")[2]
        actor = audit.Actor(audit.Kind.COMMAND, None, f"{name}, run by {system_user()}")
        with audit.acting(actor, place=socket.gethostname()):
            return super().execute(*args, **options)

    def write_result(self, value: Any) -> None:
        """Write the result to stdout, which has nothing else: a string as it is, other values as one line of JSON."""
        self.stdout.write(value if isinstance(value, str) else orjson.dumps(value).decode())

    def write_message(self, text: str) -> None:
        """Write a message for people to stderr."""
        self.stderr.write(text, style_func=str)


def system_user() -> str:
    """The name of the system user who runs this, or the user id, since containers may have users without names."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


def add_shop_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--shop", required=True, metavar="DOMAIN", help="the shop, by its domain")


def add_app_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--app", required=True, metavar="SLUG", help="the app, by its slug")


def split_list(text: str) -> list[str]:
    """The words of a comma-separated argument."""
    return [word.strip() for word in text.split(",") if word.strip()]


def find_shop(domain: str) -> Shop:
    """The shop of a `--shop` argument. Raises InvalidFields, which lists existing shops."""
    found = Shop.objects.filter(domain=domain.strip().lower()).first()
    if found:
        return found
    domains = list(Shop.objects.order_by("domain").values_list("domain", flat=True)[:10])
    existing = (
        f"Shops: {', '.join(domains)}." if domains else "There are none yet. Create one with storefront createshop."
    )
    raise InvalidFields(errors={"shop": [f"No shop has the domain {domain}. {existing}"]})


def find_app(slug: str) -> App:
    """The app of an `--app` argument. Raises InvalidFields, which lists existing apps."""
    found = App.objects.filter(slug=slug.strip()).first()
    if found:
        return found
    slugs = list(App.objects.order_by("slug").values_list("slug", flat=True)[:10])
    existing = f"Apps: {', '.join(slugs)}." if slugs else "There are none yet. Create one with storefront createapp."
    raise InvalidFields(errors={"app": [f"No app has the slug {slug}. {existing}"]})


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """A temporary file, which only we can read, that replaces `path` at the end, unless an exception is raised. Raises
    Failed if it cannot be written."""
    try:
        handle, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
        os.close(handle)
        try:
            yield Path(name)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise Failed(f"The file {path} cannot be written: {error.strerror}.") from None
