"""The cast: a merchant's shop, a second shop that must never be seen, an integration of each, a stranger."""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from shutil import which

import pytest
from django.test import TransactionTestCase

from storefront.customers import throttle
from storefront.kit.windows import Windows
from storefront.shops import ratelimit
from storefront.shops.models import Shop
from tests.client import ApiClient
from tests.databases import deployment, django_db_setup, migrated  # noqa: F401, fixtures, of one session each
from tests.emptying import empty_the_database
from tests.shops.factories import make_shop, make_token


@pytest.fixture(scope="session", autouse=True)
def emptied_by_deleting() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _test: empty_the_database())
        yield


@pytest.fixture(autouse=True)
def no_calls_counted(monkeypatch) -> None:
    """Installations are counted by their ids, which the next test gives out again."""
    monkeypatch.setattr(ratelimit, "_own", Windows())
    throttle.own_limiter.cache_clear()


@pytest.fixture
def shop(db) -> Shop:
    return make_shop()


@pytest.fixture
def other_shop(db) -> Shop:
    """Stands beside `shop` in every test that could leak."""
    return make_shop("other.example.com", name="Elsewhere")


@pytest.fixture
def api(shop) -> ApiClient:
    """An integration of `shop` with every scope."""
    return ApiClient(make_token(shop))


@pytest.fixture
def other_api(other_shop) -> ApiClient:
    return ApiClient(make_token(other_shop))


@pytest.fixture
def stranger(db) -> ApiClient:
    return ApiClient(None)


@pytest.fixture
def redis_url(tmp_path) -> Iterator[str]:
    """A Redis of this test's own."""
    server = which("redis-server")
    if not server:
        pytest.skip("redis-server is not installed")
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)],
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
    yield f"redis://127.0.0.1:{port}/0"
    process.kill()
    process.wait()
