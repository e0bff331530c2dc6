"""The `storefront` script: runs our commands and Django's, and reports errors in a sentence instead of a traceback."""

import os
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from textwrap import fill, indent

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line, get_commands, load_command_class
from django.db import DatabaseError, DataError, IntegrityError, InterfaceError

from storefront.kit.refusals import Refusal
from storefront.kit.refused_rows import refused
from storefront.server.metrics import directory

GROUPS = {
    "Shops": [
        "createshop",
        "createtoken",
        "domains",
        "senders",
        "loadtaxrates",
        "invitestaff",
        "resetsecondfactor",
        "eraseaudit",
        "customerdata",
        "exportshop",
        "importshop",
        "deleteshop",
    ],
    "Apps": ["createapp", "installapp", "uninstallapp", "webhooks"],
    "Catalogue": ["importproducts", "undoimport", "exportproducts", "pictures"],
    "Run": ["serve", "worker", "demo"],
    "Maintenance": [
        "doctor",
        "migrate",
        "podmap",
        "registry",
        "verify",
        "reindex",
        "reseal",
        "copydatabase",
        "createsuperuser",
    ],
}

WRONG_USE, FAILED, INTERRUPTED = 2, 1, 130


def main() -> None:
    # Our files contain customers' addresses and secrets, so other users of the machine must not read them.
    os.umask(0o077)
    sys.exit(run(sys.argv))


def run(argv: Sequence[str]) -> int:
    """Run a command line. Returns the exit code: 0 done, 1 failed, 2 wrong use or settings."""
    return exit_code_of(lambda: dispatch(argv), with_traceback="--traceback" in argv)


def exit_code_of(work: Callable[[], int], *, with_traceback: bool = False) -> int:
    """The exit code that `work` returns. An exception becomes a sentence on stderr, and 1 or 2."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.server.settings")
    try:
        return work()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has ended, as `| head` does. Python must not fail again when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        if with_traceback:
            raise
        for sentence in error_sentences(error):
            print_message(sentence)
        return WRONG_USE if isinstance(error, Refusal | ImproperlyConfigured) else FAILED


def dispatch(argv: Sequence[str]) -> int:
    name, *rest = argv[1:] or ["help"]
    if name in ("serve", "worker"):
        directory.prepare()
    django.setup()
    if name in ("help", "--help", "-h") and not rest:
        print(overview())  # noqa: T201
        return 0
    if not name.startswith("-") and name not in [*get_commands(), "help", "version"]:
        print_message(unknown_command(name))
        return WRONG_USE
    execute_from_command_line(["storefront", *argv[1:]])
    return 0


def overview() -> str:
    """The text that lists every command: ours by group with a line each, Django's by name."""
    known = get_commands()
    lines = ["storefront: an online shop that other programs can sell through.", ""]
    for group, names in GROUPS.items():
        lines.append(group)
        lines += [f"  {name:<18}{load_command_class(known[name], name).help}" for name in names if name in known]
        lines.append("")
    listed = {name for names in GROUPS.values() for name in names}
    others = fill(" ".join(sorted(set(known) - listed)), 98)
    lines += ["Django's own commands", indent(others, "  "), ""]
    lines.append("storefront help COMMAND shows the options of a command.")
    return "\n".join(lines)


def unknown_command(name: str) -> str:
    nearest = get_close_matches(name, get_commands(), n=1)
    hint = f"did you mean {nearest[0]}?" if nearest else "storefront help lists the commands."
    return f"There is no command {name}; {hint}"


def error_sentences(error: Exception) -> list[str]:
    """The error in sentences for people: one for each refused field, or a single one."""
    if isinstance(error, Refusal) and error.errors:
        return [f"--{field.replace('_', '-')}: {text}" for field, texts in error.errors.items() for text in texts]
    if isinstance(error, DataError | IntegrityError):
        return [f"The database refused a row: {refused(error)}. Use --traceback to see where."]
    if isinstance(error, DatabaseError | InterfaceError):
        # Only now there are settings, by which the database is known.
        from storefront.pods.registry import is_refused, where

        return [f"{where()} Nothing was changed." if is_refused(error) else database_sentence(error)]
    if type(error).__module__.startswith("storefront.") or isinstance(error, ImproperlyConfigured):
        return [str(error)]
    return [f"Unexpected error ({type(error).__name__}: {error}). Use --traceback to see where."]


def database_sentence(error: Exception) -> str:
    reason = " ".join(str(error).split())
    if "no such table" in reason or "no such column" in reason or ("does not exist" in reason and "relation" in reason):
        return "The database is not migrated; run storefront migrate first."
    if "database is locked" in reason:
        return "The database is busy with another write; try again in a moment."
    return f"The database cannot be used: {reason}"


def print_message(sentence: str) -> None:
    print(f"storefront: {sentence}", file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    main()
