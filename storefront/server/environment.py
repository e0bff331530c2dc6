"""Reads the environment once. A wrong value is one sentence and exit 2, never a traceback."""

import os
import secrets
import sys
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import environ

ROOT = Path(__file__).resolve().parent.parent.parent
env = environ.Env()


def refuse(name: str, expected: str) -> NoReturn:
    print(f"storefront: {name} is {os.environ.get(name, '')!r}; expected {expected}.", file=sys.stderr)
    raise SystemExit(2)


def boolean(name: str, default: bool = False) -> bool:
    text = os.environ.get(name, "").strip().lower()
    if not text:
        return default
    if text not in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        refuse(name, "1 or 0")
    return text in ("1", "true", "yes", "on")


def data_dir() -> Path:
    """Where the SQLite database, uploaded files and the generated secret key live; made when absent."""
    path = Path(os.environ.get("STOREFRONT_DATA_DIR") or "var").absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        refuse("STOREFRONT_DATA_DIR", f"a directory that can be made and written ({error.strerror})")
    return path


def secret_keys(directory: Path) -> list[str]:
    """SECRET_KEY, newest first and comma-separated; made and kept in the data directory when absent."""
    keys = [key for key in os.environ.get("SECRET_KEY", "").split(",") if key]
    if any(len(key) < 32 for key in keys):
        # The value itself must not be printed.
        print("storefront: SECRET_KEY is too short; expected at least 32 characters.", file=sys.stderr)
        raise SystemExit(2)
    if keys:
        return keys
    path = directory / "secret-key"
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(64))
    except FileExistsError:
        pass
    except OSError as error:
        refuse("STOREFRONT_DATA_DIR", f"a directory that can be written ({error.strerror})")
    return [path.read_text()]


SQLITE_OPTIONS = {
    # A write takes its lock when the transaction begins, so that two writers queue instead of failing half way.
    "transaction_mode": "IMMEDIATE",
    "timeout": 30,
    "init_command": (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-32000; "
        "PRAGMA mmap_size=268435456; PRAGMA temp_store=MEMORY;"
    ),
}


def database(directory: Path) -> dict[str, Any]:
    """Django's settings for DATABASE_URL: `sqlite:///path` or `postgres://user@host:port/name`."""
    url = os.environ.get("DATABASE_URL") or f"sqlite:///{directory / 'storefront.sqlite3'}"
    scheme = urlsplit(url).scheme
    if scheme not in ("sqlite", "postgres", "postgresql"):
        # The value may hold a password.
        print("storefront: DATABASE_URL is not understood; expected sqlite:///path or postgres://…", file=sys.stderr)
        raise SystemExit(2)
    settings: dict[str, Any] = {**environ.Env.db_url_config(url)}
    if scheme == "sqlite":
        settings["OPTIONS"] = SQLITE_OPTIONS
        settings["CONN_MAX_AGE"] = None
    else:
        settings["OPTIONS"] = {**settings.get("OPTIONS", {}), "pool": {"min_size": 1, "max_size": 20, "timeout": 10}}
    return settings
