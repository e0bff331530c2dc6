"""Finds out which pod serves which shop, and stores in each pod what the others serve.

The truth about a shop is its row in its pod; nothing is registered anywhere. A pod that does not answer keeps the
places that the other pods have of it, so that its shops stay in the map. If two pods have one host, an open shop comes
before a closed one, its own domain before a further one, then the lower pod's, and a problem is reported.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg

from storefront.pods.deployment import HOST, Pod

# A pod that is away must not hold up the map of the others.
_OPTIONS = "-c statement_timeout=10000 -c lock_timeout=5000"
_HOSTS = """
    SELECT shop.domain, shop.id, shop.is_active, true FROM shops_shop shop
    UNION ALL
    SELECT further.domain, shop.id, shop.is_active, false FROM shops_shopdomain further
    JOIN shops_shop shop ON shop.id = further.shop_id WHERE further.confirmed_at IS NOT NULL
"""


@dataclass(frozen=True)
class Place:
    """The pod that serves a host, and the shop that has it. `is_domain`: it is the shop's own domain, which is also its
    name in the paths of the secure host."""

    host: str
    shop_id: int
    pod: int
    is_domain: bool = True


@dataclass
class Survey:
    """`places` has each host once, sorted by host. `problems` are sentences for people."""

    places: list[Place] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def survey(pods: Iterable[Pod]) -> Survey:
    """Read all pods, and store in each one that answers which hosts the others serve."""
    found, away, answering = Survey(), [], []
    rows: list[tuple[bool, Place]] = []
    remembered: list[Place] = []
    moved: list[Place] = []
    for pod in pods:
        try:
            with _connected(pod) as connection:
                _require_number(connection, pod)
                rows += [
                    (is_open, Place(host, shop, pod.number, own)) for host, shop, is_open, own in _read(connection)
                ]
                remembered += _elsewhere(connection)
                moved += _moved(connection)
            answering.append(pod)
        except (psycopg.Error, WrongNumber) as error:
            away.append(pod.number)
            found.problems.append(f"Pod {pod.number} was not read; its shops stay where they were. {_short(error)}")
    rows += [(True, place) for place in remembered if place.pod in away]
    # A shop that moved while the pods were read one after the other can be in none of them.
    known = {place.host for _, place in rows}
    rows += [(False, place) for place in moved if place.host not in known]
    found.places = decide(rows, found.problems)
    for pod in answering:
        try:
            with _connected(pod) as connection:
                _store(connection, [place for place in found.places if place.pod != pod.number])
        except psycopg.Error as error:
            found.problems.append(f"Pod {pod.number} does not know yet what moved. {_short(error)}")
    return found


class WrongNumber(Exception):
    """The database at a pod's URL belongs to another pod."""


@contextmanager
def _connected(pod: Pod) -> Iterator[Any]:
    with psycopg.connect(pod.database, connect_timeout=5, options=_OPTIONS, prepare_threshold=None) as connection:
        yield connection


def _require_number(connection: Any, pod: Pod) -> None:
    stored = next((number for (number,) in connection.execute("SELECT number FROM pods_ownpod")), 0)
    if stored != pod.number:
        raise WrongNumber(f"Its database is that of pod {stored}.")


def _read(connection: Any) -> list[tuple[str, int, bool, bool]]:
    # A proxy's configuration is made of these hosts, so nothing else may get into it.
    return [row for row in connection.execute(_HOSTS) if HOST.fullmatch(row[0])]


def _elsewhere(connection: Any) -> list[Place]:
    rows = connection.execute("SELECT host, shop_id, pod, is_domain FROM pods_hostelsewhere")
    return [Place(*row) for row in rows]


def _moved(connection: Any) -> list[Place]:
    """Hosts of shops that this pod has given up, of which it knows by itself (`server/moving`)."""
    rows = connection.execute(
        "SELECT host, shop_id, pod, is_domain FROM pods_hostelsewhere JOIN pods_shopmove USING (shop_id)"
        " WHERE pod = target AND step IN ('moved', 'shelved')"
    )
    return [Place(*row) for row in rows]


def decide(rows: list[tuple[bool, Place]], problems: list[str]) -> list[Place]:
    """One place for each host, of rows with whether their shop is open. Adds conflicts to the problems."""
    places: dict[str, Place] = {}
    opened: dict[str, bool] = {}
    for is_open, place in sorted(rows, key=_rank):
        first = places.setdefault(place.host, place)
        opened.setdefault(place.host, is_open)
        if is_open and opened[place.host] and first.pod != place.pod:
            problems.append(f"Pods {first.pod} and {place.pod} both serve {place.host}; requests go to {first.pod}.")
    return list(places.values())


def _rank(row: tuple[bool, Place]) -> tuple[str, bool, bool, int]:
    is_open, place = row
    return place.host, not is_open, not place.is_domain, place.pod


def _store(connection: Any, places: list[Place]) -> None:
    """Make the pod's rows these ones. Two surveys at once write one after the other."""
    with connection.transaction():
        connection.execute("LOCK TABLE pods_hostelsewhere IN SHARE ROW EXCLUSIVE MODE")
        known = set(_elsewhere(connection))
        gone, new = known - set(places), set(places) - known
        # A shop that moved after its pod was read: the pod knows better.
        hosts = {place.host for place in new}
        gone -= {place for place in _moved(connection) if place.host not in hosts}
        with connection.cursor() as cursor:
            cursor.executemany("DELETE FROM pods_hostelsewhere WHERE host = %s", [(place.host,) for place in gone])
            cursor.executemany(
                "INSERT INTO pods_hostelsewhere (host, shop_id, pod, is_domain) VALUES (%s, %s, %s, %s)",
                [(place.host, place.shop_id, place.pod, place.is_domain) for place in new],
            )


def _short(error: Exception) -> str:
    return " ".join(str(error).split())
