"""Reads settings from environment variables. A wrong value ends the process with a sentence and exit 2. Values that may
contain a password are not repeated in it. docs/configuration.md lists every variable.
"""

import os
import re
import secrets
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import environ
from limits import RateLimitItem, parse_many

from storefront.kit import callers
from storefront.pods.ids import MAX_POD
from storefront.server.waits import IDLE, bounded

_CONTACT = re.compile(r"mailto:[^\s@]+@[^\s@]+|https://[^\s/]+[^\s]*|tel:\+[0-9-]+")
_METRICS_HOST = re.compile(r"[A-Za-z0-9.-]+|\[[0-9a-fA-F:.]+\]")
LOG_LEVELS = ("debug", "info", "warning", "error")


def refuse(name: str, expected: str, *, secret: bool = False) -> NoReturn:
    """End the process with a sentence about this variable, which leaves out the value of a `secret`."""
    given = "is not understood" if secret else f"is {os.environ.get(name, '')!r}"
    print(f"storefront: {name} {given}; expected {expected}.", file=sys.stderr)
    raise SystemExit(2)


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def folders(name: str) -> list[Path]:
    """A folder that must exist, as a list; empty without one."""
    given = text(name)
    if given and not Path(given).is_dir():
        refuse(name, "a folder that exists")
    return [Path(given)] if given else []


def boolean(name: str, default: bool = False) -> bool:
    given = text(name).lower()
    if not given:
        return default
    if given not in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        refuse(name, "1 or 0")
    return given in ("1", "true", "yes", "on")


def number(name: str, default: int, *, smallest: int = 0) -> int:
    """A whole number of `smallest` or more. `smallest` must not be negative."""
    given = text(name, str(default))
    if not (given.isascii() and given.isdigit() and len(given) < 16) or int(given) < smallest:
        refuse(name, f"a whole number of {smallest} or more")
    return int(given)


def limits(name: str, default: str) -> tuple[RateLimitItem, ...]:
    """Rate limits such as `20/hour`, or `10/minute, 100/day`, which both apply; `0` for no limit."""
    given = text(name, default)
    if given == "0":
        return ()
    try:
        items = parse_many(given)
    except ValueError:
        items = []
    if not items or any(item.amount < 1 or item.multiples < 1 for item in items):
        refuse(name, "a limit such as 20/hour, several such as 10/minute, 100/day, or 0 for none")
    return tuple(items)


def pod(database: dict[str, Any]) -> int:
    """The number of this pod, from STOREFRONT_POD."""
    number_of_pod = number("STOREFRONT_POD", 0)
    if number_of_pod > MAX_POD:
        refuse("STOREFRONT_POD", f"a number from 0 to {MAX_POD}")
    if number_of_pod and database["ENGINE"].endswith("sqlite3"):
        refuse("STOREFRONT_POD", "0, since DATABASE_URL is not that of a PostgreSQL database: SQLite has no pods")
    return number_of_pod


def log_level() -> str:
    """The lowest level that is logged, from STOREFRONT_LOG_LEVEL."""
    return one_of("STOREFRONT_LOG_LEVEL", "info", *LOG_LEVELS)


def one_of(name: str, default: str, *known: str) -> str:
    given = text(name, default).lower()
    if given not in known:
        refuse(name, f"one of {', '.join(known)}")
    return given


def trusted_proxies() -> callers.Networks:
    """The proxies whose headers give the visitor's address, from STOREFRONT_TRUSTED_PROXIES."""
    try:
        return callers.networks(text("STOREFRONT_TRUSTED_PROXIES", "127.0.0.0/8,::1"))
    except ValueError:
        refuse("STOREFRONT_TRUSTED_PROXIES", "addresses or networks such as 127.0.0.1,10.0.0.0/8, separated by commas")


def metrics_address() -> tuple[str, int] | None:
    """Where Prometheus reads the figures, from STOREFRONT_METRICS: `host:port` or a local port; None: off."""
    given = text("STOREFRONT_METRICS")
    if not given:
        return None
    host, _, port = given.rpartition(":")
    is_port = port.isascii() and port.isdigit() and len(port) < 6 and 0 < int(port) < 65536
    if not is_port or (host and not _METRICS_HOST.fullmatch(host)):
        refuse("STOREFRONT_METRICS", "a port such as 9100, or an address and a port such as 10.0.0.5:9100")
    return host.strip("[]") or "127.0.0.1", int(port)


def traces() -> bool:
    """Whether OTEL_EXPORTER_OTLP_ENDPOINT, or that of traces alone, names where to export traces."""
    names = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    given = [name for name in names if text(name)]
    if not given or boolean("OTEL_SDK_DISABLED"):
        return False
    for name in given:
        scheme_of(name, text(name), "http", "https")
    if not (find_spec("opentelemetry") and find_spec("opentelemetry.exporter.otlp.proto.http")):
        refuse(given[0], "the packages of the extra otel (pip install 'storefront[otel]')")
    one_of("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", "http/protobuf")
    return True


def security_contact() -> list[str]:
    """Where to report a vulnerability, from STOREFRONT_SECURITY_CONTACT; empty if it is not set."""
    given = [each.strip() for each in text("STOREFRONT_SECURITY_CONTACT").split(",") if each.strip()]
    if not all(_CONTACT.fullmatch(each) for each in given):
        refuse("STOREFRONT_SECURITY_CONTACT", "mailto:security@example.com or an https:// address")
    return given


def data_dir() -> Path:
    """The directory of the SQLite database, uploaded files and the generated secret key. Created if it is missing."""
    path = Path(text("STOREFRONT_DATA_DIR", "var")).absolute()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        refuse("STOREFRONT_DATA_DIR", f"a directory that can be made and written ({error.strerror})")
    return path


_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:[0-9]{1,5})?")


def separate_hosts() -> tuple[str, str]:
    """The hosts of the admin and the shops' secure pages, as `host` or `host:port`. Either both are set or neither."""
    admin, secure = (_host(name) for name in ("STOREFRONT_ADMIN_HOST", "STOREFRONT_SECURE_HOST"))
    if bool(admin) != bool(secure):
        missing, other = ("ADMIN", "SECURE") if secure else ("SECURE", "ADMIN")
        refuse(f"STOREFRONT_{missing}_HOST", f"a host name, since STOREFRONT_{other}_HOST is set")
    if admin and admin.partition(":")[0] == secure.partition(":")[0]:
        refuse("STOREFRONT_SECURE_HOST", "another host name than that of STOREFRONT_ADMIN_HOST")
    return admin, secure


def _host(name: str) -> str:
    given = text(name).lower()
    if given and not _HOST.fullmatch(given):
        refuse(name, "a host name such as admin.example.com, or with its port admin.example.com:8443")
    return given


def secret_keys(directory: Path) -> list[str]:
    """The keys of SECRET_KEY, newest first. Without it, a generated key that is stored in the data directory."""
    keys = [key.strip() for key in text("SECRET_KEY").split(",") if key.strip()]
    if any(len(key) < 32 for key in keys):
        refuse("SECRET_KEY", "at least 32 characters a key, such as openssl rand -hex 32 prints", secret=True)
    return keys or [stored_secret_key(directory / "secret-key")]


def stored_secret_key(path: Path) -> str:
    """The key in this file. Creates a missing file atomically, since two processes may do so at the same time."""
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
    # Each thread of a web process has its own page cache, so it is small (512 KiB). Reads are no slower, since the
    # operating system caches the file for all threads. Large sorts use a temporary file: a page far down a long list
    # would need 50 MB of memory. Bulk writes raise the cache size (kit/bulk_insert).
    "init_command": (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-512; PRAGMA temp_store=FILE;"
    ),
}
# Seconds for which a thread keeps its connection, with its prepared statements. Not for ever, since the server's memory
# for a connection grows.
POSTGRESQL_AGE = 3600
# Without JIT: compiling a statement takes up to seconds, and none of ours runs that long. A short time-out, so that an
# unreachable database is reported soon. Keepalives, so that a connection that the network lost is noticed within 20 s.
POSTGRESQL_OPTIONS = {
    "prepare_threshold": 5,
    "connect_timeout": 3,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    # Milliseconds for which sent data may stay without a confirmation.
    "tcp_user_timeout": 20_000,
    "options": "-c jit=off",
}


def database(directory: Path) -> dict[str, Any]:
    """Django's settings for DATABASE_URL: `sqlite:///path`, or a PostgreSQL URL in libpq's form, which can name several
    hosts: `postgres://user:password@a:5432,b:5432/name?target_session_attrs=read-write`."""
    url = text("DATABASE_URL")
    if not url:
        return sqlite(str(directory / "storefront.sqlite3"))
    if url.startswith("sqlite:"):
        scheme_of("DATABASE_URL", url, "sqlite")
        return sqlite(environ.Env.db_url_config(url)["NAME"] or refuse("DATABASE_URL", "a file, sqlite:///path"))
    if not pgbouncer():
        return unpooled_postgresql("DATABASE_URL")
    # The next transaction may run on another server connection, without the statements that were prepared on this one,
    # and PgBouncer refuses the start parameter `options`.
    return postgresql("DATABASE_URL", {"prepare_threshold": None, "options": ""}) | {
        "DISABLE_SERVER_SIDE_CURSORS": True
    }


def direct_database() -> dict[str, Any] | None:
    """Django's settings for DATABASE_DIRECT_URL, which leads past PgBouncer; None without PgBouncer."""
    if pgbouncer():
        if not text("DATABASE_URL").startswith("postgres"):
            refuse("STOREFRONT_PGBOUNCER", "0, since DATABASE_URL is not that of a PostgreSQL database")
        if not text("DATABASE_DIRECT_URL"):
            refuse(
                "DATABASE_DIRECT_URL",
                "the PostgreSQL server's own URL, since STOREFRONT_PGBOUNCER is set: LISTEN and migrations need it",
            )
        return unpooled_postgresql("DATABASE_DIRECT_URL")
    if text("DATABASE_DIRECT_URL"):
        refuse("STOREFRONT_PGBOUNCER", "1, since DATABASE_DIRECT_URL is set")
    return None


def pgbouncer() -> bool:
    """Whether DATABASE_URL leads to a PgBouncer that pools transactions."""
    return boolean("STOREFRONT_PGBOUNCER")


def unpooled_postgresql(
    name: str, changed_options: dict[str, Any] | None = None, *, url: str | None = None
) -> dict[str, Any]:
    """The same as `postgresql`, with the deadline for idle transactions."""
    found = postgresql(name, changed_options, url=url)
    found["OPTIONS"] = bounded(found["OPTIONS"], **{IDLE: number("STOREFRONT_IDLE_TRANSACTION_SECONDS", 60)})
    return found


def postgresql(name: str, changed_options: dict[str, Any] | None = None, *, url: str | None = None) -> dict[str, Any]:
    """Django's settings for the PostgreSQL URL in this variable, or for a `url` that an argument of this name gave. Its
    own options win over ours."""
    # Imported here, since a deployment on SQLite does not need it.
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    url = text(name) if url is None else url
    if not url.startswith(("postgres://", "postgresql://")):
        kinds = (
            "sqlite:// or postgres:// or postgresql://" if name == "DATABASE_URL" else "postgres:// or postgresql://"
        )
        refuse(name, f"a URL that begins with {kinds}", secret=True)
    try:
        given = conninfo_to_dict(url)
    except ProgrammingError:
        refuse(name, "a PostgreSQL URL such as postgres://user:password@host:5432/name", secret=True)
    names = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
    found: dict[str, Any] = {key: given.pop(parameter, "") for key, parameter in names.items()}
    if not found["NAME"]:
        refuse(name, "a database's name at its end, such as postgres://user@host/name", secret=True)
    if "@" in found["HOST"][1:]:
        refuse(name, "a password in which each @ is written as %40", secret=True)
    if not found["PORT"].replace(",", "0").isdecimal() and found["PORT"]:
        refuse(name, "numbers as ports, such as postgres://user@host:5432/name", secret=True)
    return found | {
        "ENGINE": "storefront.server.postgresql",
        "OPTIONS": POSTGRESQL_OPTIONS | (changed_options or {}) | given,
        "CONN_MAX_AGE": POSTGRESQL_AGE,
        "CONN_HEALTH_CHECKS": True,
    }


def sqlite(path: str) -> dict[str, Any]:
    return {"ENGINE": "storefront.server.sqlite3", "NAME": path, "OPTIONS": SQLITE_OPTIONS, "CONN_MAX_AGE": None}


def file_storages(directory: Path) -> dict[str, Any]:
    """Django's STORAGES of pictures (`default`) and of private files: folders of the data directory, or the buckets of
    STOREFRONT_S3_MEDIA_BUCKET and STOREFRONT_S3_PRIVATE_BUCKET."""
    media, private = text("STOREFRONT_S3_MEDIA_BUCKET"), text("STOREFRONT_S3_PRIVATE_BUCKET")
    shown = {"base_url": media_url()}
    if not media and not private:
        backend = "django.core.files.storage.FileSystemStorage"
        hidden = {"location": directory / "private", "file_permissions_mode": 0o600}
        return {
            "default": {"BACKEND": backend, "OPTIONS": shown},
            # Not under MEDIA_ROOT, which is public.
            "private": {"BACKEND": backend, "OPTIONS": hidden},
        }
    if not (media and private) or media == private:
        refuse(
            "STOREFRONT_S3_MEDIA_BUCKET" if private and not media else "STOREFRONT_S3_PRIVATE_BUCKET",
            "a bucket of its own: pictures and private files need one each",
        )
    if not (find_spec("storages") and find_spec("boto3")):
        refuse("STOREFRONT_S3_MEDIA_BUCKET", "the packages of the extra s3 (pip install 'storefront[s3]')")
    backend = "storefront.kit.files.s3.S3Files"
    return {
        "default": {"BACKEND": backend, "OPTIONS": shown | {"bucket_name": media}},
        # Thumbnails, whose names follow from those of their pictures.
        "easy_thumbnails": {"BACKEND": backend, "OPTIONS": shown | {"bucket_name": media, "file_overwrite": True}},
        "private": {"BACKEND": backend, "OPTIONS": {"bucket_name": private}},
    }


def media_url() -> str:
    """Where browsers find pictures, from STOREFRONT_MEDIA_URL: this service, or a CDN or bucket."""
    url = text("STOREFRONT_MEDIA_URL", "/media/")
    if url != "/media/":
        scheme_of("STOREFRONT_MEDIA_URL", url, "https", "http")
    return url.rstrip("/") + "/"


def web_address(name: str, default: str) -> str:
    """The address of a service, without a slash at its end."""
    url = text(name, default).rstrip("/")
    scheme_of(name, url, "https", "http")
    return url


def registry_url() -> str:
    """The address of pod 0's admin, without a path; empty if it is not named."""
    return web_address("STOREFRONT_REGISTRY_URL", "") if text("STOREFRONT_REGISTRY_URL") else ""


def redis_url() -> str | None:
    """The Redis that counts rate limits for all web processes together; None: each process counts for itself."""
    url = text("REDIS_URL")
    if url:
        scheme_of("REDIS_URL", url, "redis", "rediss")
    return url or None


def email() -> dict[str, Any]:
    """Django's email settings for EMAIL_URL, such as `smtp+tls://user:password@host:587`. Without it, none is sent."""
    url = text("EMAIL_URL", "dummymail://")
    scheme_of("EMAIL_URL", url, *environ.Env.EMAIL_SCHEMES)
    return environ.Env.email_url_config(url)


def scheme_of(name: str, url: str, *known: str) -> str:
    """The URL's scheme. Refuses an unknown scheme and a URL that cannot be parsed."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018, raises ValueError if the port is not a number
        is_valid = parts.scheme in known and "://" in url
    except ValueError:
        is_valid = False
    if not is_valid:
        refuse(name, f"a URL that begins with {' or '.join(f'{scheme}://' for scheme in known)}", secret=True)
    return parts.scheme
