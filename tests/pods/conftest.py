from collections.abc import Iterator

import pytest

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
