"""The cast: a merchant's shop, a second shop that must never be seen, an integration of each, a stranger."""

import gc
import os
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from shutil import which

import pytest
from django.contrib.admin import autodiscover
from django.test import TransactionTestCase
from hypothesis import HealthCheck, settings

from storefront.apps import shared_blocks
from storefront.content import missing
from storefront.deployment import load
from storefront.kit.windows import Windows
from storefront.listing import warming
from storefront.listing.facet_index import clear_indexes
from storefront.shops import ratelimit, token_use
from storefront.shops import throttle as guesses
from storefront.shops.models import Shop
from tests import selection
from tests.client import ApiClient
from tests.databases import deployment, django_db_keepdb, django_db_setup, migrated  # noqa: F401, fixtures
from tests.emptying import empty_the_database
from tests.shops.factories import make_shop, make_token
from tests.staff import Desk, make_staff, open_desk

# Tests of the admin look through its pages.
autodiscover()

# The one profile of generated examples. `make proof` asks for many, `make test` for few: bin/test.py says how many.
settings.register_profile(
    "storefront",
    max_examples=int(os.environ.get("STOREFRONT_EXAMPLES", "10")),
    deadline=None,
    derandomize=False,
    print_blob=True,
    # They fail on busy machines, and by chance. Examples share the fixtures of their test.
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("storefront")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give all processes of this run one seed for their examples."""
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(secrets.randbits(32))
    if config.getoption("--minutes"):
        config.pluginmanager.register(selection.Deadline(config.getoption("--minutes")))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config) -> None:
    if exitstatus:
        terminalreporter.write_line(f"The same examples again: --hypothesis-seed={config.option.hypothesis_seed}")


def pytest_addoption(parser: pytest.Parser) -> None:
    selection.options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    selection.mark(config, items)
    selection.keep_part(config, items)


def pytest_collection_finish() -> None:
    """Let the garbage collector leave the thousands of tests and modules alone, which saves a tenth of the time."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def emptied_by_deleting() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _test: empty_the_database())
        yield


@pytest.fixture(autouse=True)
def no_calls_counted(monkeypatch) -> None:
    """Reset rate limits and in-process caches, since the next test uses the same ids again."""
    monkeypatch.setattr(ratelimit, "_credential_windows", Windows())
    shared_blocks.clear_cache()
    clear_indexes()
    # No background threads that store which tokens were used and which pages are missing, and that read the filters of
    # large shops.
    monkeypatch.setattr(token_use, "start", lambda: None)
    monkeypatch.setattr(load, "start", lambda: None)
    monkeypatch.setattr(warming, "start", lambda: None)
    monkeypatch.setattr(missing, "start", lambda: None)
    missing._pending.clear()
    load._counts.clear()
    monkeypatch.setattr(token_use, "_used", {})
    ratelimit.process_windows.cache_clear()
    guesses.memory_store.cache_clear()


@pytest.fixture
def shop(db) -> Shop:
    return make_shop()


@pytest.fixture
def other_shop(db) -> Shop:
    """A second shop, for every test in which data could leak."""
    return make_shop("other.example.com", name="Elsewhere")


@pytest.fixture
def apart(settings) -> None:
    """The admin and the shops' secure pages have their own hosts."""
    settings.ADMIN_HOST, settings.SECURE_HOST = "admin.example.com", "secure.example.com"


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
def role() -> str:
    """The role of the staff member at the desk."""
    return "owner"


@pytest.fixture
def desk(shop, role) -> Desk:
    """The shop's admin, opened by a member of its staff."""
    return open_desk(make_staff(shop, role=role))


@pytest.fixture
def redis_url(tmp_path) -> Iterator[str]:
    """The URL of a Redis server for this test alone."""
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
