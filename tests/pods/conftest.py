from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from tests.pods.moves import Pods, movable_pods
from tests.pods.registries import Registry, two_servers
from tests.server.clusters import programs
from tests.shops.conftest import clock

__all__ = ["clock"]


@pytest.fixture(scope="session")
def servers(migrated, tmp_path_factory) -> Iterator[Registry]:
    found = programs()
    if not found:
        pytest.skip("PostgreSQL's programs are not installed")
    with two_servers(tmp_path_factory.mktemp("registry"), migrated, found) as registry:
        yield registry


@pytest.fixture
def registry(servers) -> Registry:
    servers.reset()
    return servers


@pytest.fixture
def joined(registry) -> Registry:
    done = registry.join()
    assert done.returncode == 0, done.stderr
    return registry


@pytest.fixture(scope="session")
def movable(migrated, tmp_path_factory) -> Iterator[Pods]:
    with movable_pods(tmp_path_factory.mktemp("moves"), migrated) as found:
        yield found


@pytest.fixture(scope="session")
def made(movable) -> Iterator[dict[str, Any]]:
    """Shops in pod 0, some for each test. One program makes many."""
    return (
        shop
        for first in count(0, 40)
        for shop in movable.make_shops(0, [f"shop{number}.test" for number in range(first, first + 40)])
    )


@pytest.fixture
def shops(movable, made) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """A shop in pod 0, and a second one beside it."""
    yield next(made), next(made)
    movable.finish()
    assert movable.leftovers() == {}
