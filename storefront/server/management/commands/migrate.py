import sys
from typing import Any

from django.core.management.commands.migrate import Command as DjangoMigrate


class Command(DjangoMigrate):
    """Django's own, with its talk on stderr as everywhere else here."""

    help = "Bring the database's tables up to date; needed once, and after each update."

    def execute(self, *args: Any, **options: Any) -> str | None:
        options.setdefault("stdout", sys.stderr)
        return super().execute(*args, **options)
