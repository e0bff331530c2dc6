"""The end of an app's token and its rate limit hold across web processes."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from tests.server.test_edge_processes import Servers, two_servers

pytestmark = [pytest.mark.any_database, pytest.mark.proof]

WITH_APP = (
    "from storefront.apps import actions as apps; from storefront.installations.models import App, Installation; "
    "standing = Installation.objects.filter(uninstalled_at=None).first(); "
)
REGISTER = (
    'app = apps.register_app(name="Gifts", slug="gifts", install_url="https://gifts.example.com/install", '
    'scopes=["read_shop", "read_products"], now=clock.now())[0]; '
)
ON_IT = "(shop=shop, installation=standing, now=clock.now()"


@pytest.fixture
def servers(deployment, redis_url, tmp_path) -> Iterator[Servers]:
    """Two web processes that count in one Redis, with an app installed."""
    with two_servers(deployment | {"REDIS_URL": redis_url}) as started:
        install = "token = apps.install_app(shop=shop, app=app, scopes=app.scopes, now=clock.now())[1]; "
        file = tmp_path / "token"
        started.write(f'{WITH_APP}{REGISTER}{install}open("{file}", "w").write(token)')
        started.token = file.read_text()
        yield started


@pytest.mark.timeout(600)
def test_after_the_uninstall_no_process_answers_the_app(servers):
    gone = Event()
    servers.write(f"{WITH_APP}apps.change_rate_limit{ON_IT}, requests_per_minute=100_000)")

    def call(port: int, path: str) -> list[tuple[float, int]]:
        """When each call began, and its status, until some time after the uninstall."""
        calls = []
        while not gone.is_set() or time.time() < calls[-1][0] or [status for _, status in calls[-20:]] != [401] * 20:
            began = time.time()
            calls.append((began, servers.ask(port, path)[0]))
            assert began < deadline, calls[-5:]
        return calls

    deadline = time.time() + 30
    paths = ("/api/apps/shop", "/products")
    with ThreadPoolExecutor() as threads:
        running = {(port, path): threads.submit(call, port, path) for port in servers.ports for path in paths}
        for port in servers.ports:
            for path in paths:
                assert servers.ask(port, path)[0] == 200
        committed = servers.write(f"{WITH_APP}apps.uninstall_app{ON_IT})")
        gone.set()
    for (_, path), calls in running.items():
        statuses = [status for _, status in calls.result()]
        assert statuses[0] == 200
        assert set(statuses) == {200, 401}
        # First responses, then only refusals.
        assert statuses == sorted(statuses)
        # The process may answer from its cache until it learns of the change.
        heard = 0.0 if path == "/api/apps/shop" else 1.0
        assert {status for began, status in calls.result() if began > committed + heard} <= {401}


@pytest.mark.timeout(600)
def test_processes_share_one_limit(servers):
    servers.write(f"{WITH_APP}apps.change_rate_limit{ON_IT}, requests_per_minute=150)")

    def call(port: int) -> list[int]:
        return [servers.ask(port, path)[0] for path in ("/api/apps/shop", "/products") for _ in range(20)]

    began = time.monotonic()
    with ThreadPoolExecutor() as threads:
        answers = [status for statuses in threads.map(call, servers.ports * 4) for status in statuses]
    assert time.monotonic() - began < 55
    assert (answers.count(200) + answers.count(429), len(answers)) == (320, 320)
    # Within 5%.
    assert 143 <= answers.count(200) <= 157
