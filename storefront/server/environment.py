"""Reads the environment once. A wrong value is one sentence and exit 2, never a traceback, and a value that may hold a
password is never repeated. The README has every variable in one table.
"""

import os
import secrets
import sys
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import environ

LOG_LEVELS = ("debug", "info", "warning", "error")


def refuse(name: str, expected: str, *, secret: bool = False) -> NoReturn:
    given = "is not understood" if secret else f"is {os.environ.get(name, '')!r}"
    print(f"storefront: {name} {given}; expected {expected}.", file=sys.stderr)
    raise SystemExit(2)


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def boolean(name: str, default: bool = False) -> bool:
    given = text(name).lower()
    if not given:
        return default
    if given not in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        refuse(name, "1 or 0")
    return given in ("1", "true", "yes", "on")


def number(name: str, default: int, *, smallest: int = 0) -> int:
    """A whole number from `smallest` on, which is not below zero."""
    given = text(name, str(default))
    if not (given.isascii() and given.isdigit() and len(given) < 16) or int(given) < smallest:
        refuse(name, f"a whole number of {smallest} or more")
    return int(given)


def log_level() -> str:
    """The least serious lines that are logged, from STOREFRONT_LOG_LEVEL."""
    given = text("STOREFRONT_LOG_LEVEL", "info").lower()
    if given not in LOG_LEVELS:
        refuse("STOREFRONT_LOG_LEVEL", f"one of {', '.join(LOG_LEVELS)}")
    return given


def data_dir() -> Path:
    """Where the SQLite database, uploaded files and the generated secret key live; made when absent."""
    path = Path(text("STOREFRONT_DATA_DIR", "var")).absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        refuse("STOREFRONT_DATA_DIR", f"a directory that can be made and written ({error.strerror})")
    return path


def secret_keys(directory: Path) -> list[str]:
    """SECRET_KEY, newest first and comma-separated; made and kept in the data directory when absent."""
    keys = [key.strip() for key in text("SECRET_KEY").split(",") if key.strip()]
    if any(len(key) < 32 for key in keys):
        refuse("SECRET_KEY", "at least 32 characters a key, such as openssl rand -hex 32 prints", secret=True)
    return keys or [kept_secret_key(directory / "secret-key")]


def kept_secret_key(path: Path) -> str:
    """The key in this file, which is made when absent, whole or not at all, whoever else makes it at the same time."""
    draft = path.with_name(f"secret-key.{os.getpid()}")
    try:
        if not path.exists():
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(secrets.token_urlsafe(64))
            try:
                os.link(draft, path)
            except FileExistsError:
                pass
            finally:
                draft.unlink()
        return path.read_text().strip()
    except OSError as error:
        refuse("STOREFRONT_DATA_DIR", f"a directory that can be written ({error.strerror})")


SQLITE_OPTIONS = {
    # A write takes its lock when the transaction begins, so that two writers queue instead of failing half way.
    "transaction_mode": "IMMEDIATE",
    "timeout": 30,
    # Each thread of a web process has a page cache of its own, which therefore stays small (512 KiB); pages are read no
    # slower for it, since the operating system caches the file for all of them. What is sorted beyond that goes to a
    # temporary file: a page far down a long list would take 50 MB of memory. What writes much asks for more
    # (catalogue/bulk.py).
    "init_command": (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-512; PRAGMA temp_store=FILE;"
    ),
}
# A thread keeps its connection, and with it the statements that are prepared, but not for ever, since the server's end
# of it grows. Where the database is away, say so soon.
POSTGRESQL_AGE = 3600
# Compiling a statement takes up to seconds, and none of ours runs long enough to earn them back.
POSTGRESQL_OPTIONS = {"prepare_threshold": 5, "connect_timeout": 3, "options": "-c jit=off"}


def database(directory: Path) -> dict[str, Any]:
    """Django's settings for DATABASE_URL: `sqlite:///path` or `postgres://user:password@host:port/name`."""
    url = text("DATABASE_URL")
    if not url:
        return sqlite(str(directory / "storefront.sqlite3"))
    scheme = scheme_of("DATABASE_URL", url, "sqlite", "postgres", "postgresql")
    settings: dict[str, Any] = {**environ.Env.db_url_config(url)}
    if not settings.get("NAME"):
        refuse("DATABASE_URL", "a database's name at its end, such as postgres://user@host/name", secret=True)
    if scheme == "sqlite":
        return sqlite(settings["NAME"])
    options = POSTGRESQL_OPTIONS | settings.get("OPTIONS", {})
    kept = {"CONN_MAX_AGE": POSTGRESQL_AGE, "CONN_HEALTH_CHECKS": True}
    return kept | settings | {"ENGINE": "storefront.server.postgresql", "OPTIONS": options}


def sqlite(path: str) -> dict[str, Any]:
    return {"ENGINE": "django.db.backends.sqlite3", "NAME": path, "OPTIONS": SQLITE_OPTIONS, "CONN_MAX_AGE": None}


def redis_url() -> str | None:
    """Where rate limits are counted for all web processes together; None: each counts for itself."""
    url = text("REDIS_URL")
    if url:
        scheme_of("REDIS_URL", url, "redis", "rediss")
    return url or None


def email() -> dict[str, Any]:
    """Django's e-mail settings for EMAIL_URL, such as `smtp+tls://user:password@host:587`; without it, none is sent."""
    url = text("EMAIL_URL", "dummymail://")
    scheme_of("EMAIL_URL", url, *environ.Env.EMAIL_SCHEMES)
    return environ.Env.email_url_config(url)


def scheme_of(name: str, url: str, *known: str) -> str:
    """The URL's scheme, once it is a known one and the rest can be read."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018, reading it is what finds a port that is no number
        readable = parts.scheme in known and "://" in url
    except ValueError:
        readable = False
    if not readable:
        refuse(name, f"a URL that begins with {' or '.join(f'{scheme}://' for scheme in known)}", secret=True)
    return parts.scheme
