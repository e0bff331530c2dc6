"""The `storefront` script: Django's management commands behind one name."""

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.server.settings")
    execute_from_command_line(sys.argv)
