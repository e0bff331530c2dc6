"""Reads the file that lists a deployment's pods, for `storefront podmap`. docs/pods.md has an example."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from storefront.kit.refusals import InvalidFields
from storefront.pods.ids import MAX_POD

_UPSTREAM = re.compile(r"([A-Za-z0-9.-]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}")
# But for words that mean something else in the maps of nginx or Caddy.
HOST = re.compile(r"(?!(?:default|hostnames|include|volatile)\Z)[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_MEMBERS = {"number", "upstream", "database", "admin_host"}


@dataclass(frozen=True)
class Pod:
    """`upstream` are the addresses of its web processes, as `host:port`; `admin_host` is empty if the admin is at each
    shop's own host."""

    number: int
    upstream: tuple[str, ...]
    database: str
    admin_host: str = ""


def read_pods(path: Path) -> list[Pod]:
    """The pods of the file, by number. Raises InvalidFields, which names what is wrong; never the database's URL, which
    has a password."""
    try:
        given = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _invalid(f"{path} cannot be read: {error}") from None
    rows = given.get("pod")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise _invalid(f"{path} has no [[pod]].")
    pods = sorted((_pod(row) for row in rows), key=lambda pod: pod.number)
    numbers = [pod.number for pod in pods]
    if len(set(numbers)) < len(numbers):
        raise _invalid(f"Two pods have one number: {', '.join(map(str, numbers))}.")
    if 0 not in numbers:
        raise _invalid("Pod 0 is missing. It answers for shops and tokens that no pod knows.")
    return pods


def _pod(row: dict[str, Any]) -> Pod:
    number, upstream, database = row.get("number"), row.get("upstream"), row.get("database")
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= MAX_POD:
        raise _invalid(f"Each pod needs a number from 0 to {MAX_POD}; one has {number!r}.")
    if unknown := sorted(row.keys() - _MEMBERS):
        raise _invalid(f"Pod {number} has unknown members: {', '.join(unknown)}.")
    if not isinstance(upstream, list) or not upstream or not all(_fits(_UPSTREAM, each) for each in upstream):
        raise _invalid(f'upstream of pod {number}: expected addresses such as ["10.0.0.1:8000", "10.0.0.2:8000"].')
    if not isinstance(database, str) or not _is_database(database):
        raise _invalid(
            f"database of pod {number}: expected a URL such as postgres://user:password@host:5432/name. In a password,"
            " write %40 for @, %2F for / and %25 for %."
        )
    admin_host = row.get("admin_host", "")
    if admin_host and not _fits(HOST, admin_host):
        raise _invalid(f"admin_host of pod {number}: expected a host name such as admin.example.com.")
    return Pod(number, tuple(upstream), database, admin_host)


def _is_database(url: str) -> bool:
    """Whether the URL names a server. Of one that does not, the driver's errors quote the password."""
    try:
        given = conninfo_to_dict(url) if url.startswith(("postgres://", "postgresql://")) else {}
    except ProgrammingError:
        return False
    host, port = str(given.get("host", "")), str(given.get("port", "0"))
    return bool(given) and "@" not in host[1:] and port.replace(",", "0").isdecimal()


def _fits(form: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and form.fullmatch(value) is not None


def _invalid(message: str) -> InvalidFields:
    return InvalidFields(errors={"pods": [message]})
