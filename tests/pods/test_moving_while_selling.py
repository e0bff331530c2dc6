"""A shop moves behind the site of nginx that we ship, while carts are filled and orders placed in it, and while shops
of both pods are busy: no order is lost or there twice, and shoppers see nothing but the announced 503."""

import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
from django.db import connection

from storefront.kit.tokens import digest
from tests.faults.customers import shopping
from tests.faults.deployment import NO_LIMITS
from tests.pods.deployments import NGINX, POD, Deployment
from tests.pods.moves import Pods, movable_pods
from tests.server.programs import clean_environment, free_port, is_listening, running, wait_until

pytestmark = [
    pytest.mark.proof,
    # Programs, servers and three shoppers on a machine that may be busy.
    pytest.mark.timeout(900),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="pods are PostgreSQL databases"),
    pytest.mark.skipif(not NGINX, reason="nginx is not installed"),
]
DOMAIN = "127.0.0.1"
OLD_TOKEN = "api_" + "x" * 43


class Front(Deployment):
    """nginx in front of two pods, with a web and a worker process each."""

    def __init__(self, pods: Pods) -> None:
        self.directory, self.pods, self.ports, self.port = pods.directory, pods.environments, pods.ports, free_port()
        self.listed = pods.listed
        self.map, self.log, self.site = (pods.directory / name for name in ("pods.map", "access.log", "nginx.conf"))
        self.url = f"http://{DOMAIN}:{self.port}"


@pytest.fixture(scope="module")
def pods(migrated, tmp_path_factory) -> Iterator[Pods]:
    with movable_pods(tmp_path_factory.mktemp("moves"), migrated) as found:
        yield found


@pytest.fixture(scope="module")
def front(pods) -> Iterator[Front]:
    with ExitStack() as stack:
        for number, port in pods.ports.items():
            # All shoppers have one address.
            pods.environments[number] |= {f"STOREFRONT_LIMIT_{name}": "0" for name in NO_LIMITS}
            log = Path(pods.directory, f"pod{number}.log")
            serve = running("serve", "--port", str(port), "--workers", "1", log=log, **pods.environments[number])
            process = stack.enter_context(serve)
            wait_until(lambda port=port: is_listening(port), what=f"pod {number}", process=process)
        found = Front(pods)
        found.write_site()
        found.map.write_text(found.podmap().stdout)
        assert NGINX
        server = subprocess.Popen([NGINX, "-c", found.site], env=clean_environment(), stdin=subprocess.DEVNULL)
        stack.callback(server.wait)
        stack.callback(server.terminate)
        wait_until(lambda: is_listening(found.port), what="nginx", process=server)
        yield found


@contextmanager
def busy(front: Front, shops: list[dict[str, Any]]) -> Iterator[Counter]:
    """Fill carts of these shops until the block ends. Counts the answers' statuses by shop."""
    seen: Counter = Counter()
    stopping = threading.Event()

    def fill(shop: dict[str, Any]) -> None:
        headers = {"Authorization": f"Bearer {shop['token']}"}
        while not stopping.is_set():
            body = {"product_id": shop["mug"], "qty": 1}
            answer = requests.post(f"{front.url}/api/v1/cart", headers=headers, json=body, timeout=30)
            seen[shop["shop"], answer.status_code] += 1

    threads = [threading.Thread(target=fill, args=(shop,), daemon=True) for shop in shops]
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        stopping.set()
        for thread in threads:
            thread.join(60)


def call(front: Front, token: str, path: str) -> requests.Response:
    return requests.get(f"{front.url}/api/v1/{path}", headers={"Authorization": f"Bearer {token}"}, timeout=30)


def test_orders_go_on(pods, front):
    shop = pods.make_shop(0, DOMAIN, base_url=front.url)
    others = {0: pods.make_shop(0, "second.test"), POD: pods.make_shop(POD, "third.test")}
    pods.ask(0, "UPDATE catalogue_product SET stock_qty = 100000 WHERE id = %s", [shop["mug"]])
    for number in pods.urls:
        pods.ask(number, "UPDATE shops_apitoken SET requests_per_minute = NULL")
    add_old_token(pods, shop)
    front.publish()
    cursor = call(front, shop["token"], "products?after=").json()["next"]
    with shopping(front.url, shop["token"], shop["mug"]) as seen, busy(front, list(others.values())) as answers:
        wait_until(lambda: len(seen.confirmed) >= 5, what="orders before the move")
        done = pods.move(DOMAIN, POD)
        assert done.returncode == 0, done.stderr
        moved_at = time.monotonic()
        wait_until(lambda: sum(at > moved_at for _, at in seen.confirmed.values()) >= 5, what="orders after it")
        front.publish()
        published_at = time.monotonic()
        wait_until(lambda: sum(at > published_at for _, at in seen.confirmed.values()) >= 5, what="with the new map")
    assert {kind for _, kind in seen.failures} <= {"503"}
    assert not seen.failures or seen.failures[-1][0] - seen.failures[0][0] < 5
    assert_nothing_lost(pods, shop, set(seen.confirmed))
    assert {status for _, status in answers} == {201}, answers
    for number, other in others.items():
        carts = "SELECT count(*) FROM carts_cart WHERE shop_id = %s"
        assert pods.value(number, carts, [other["shop"]]) == answers[other["shop"], 201]
        assert pods.rows_of(POD if number == 0 else 0, other["shop"]) == {}
    for token in (shop["token"], OLD_TOKEN):
        assert call(front, token, "products/mug").json()["data"]["id"] == shop["mug"]
    refused = call(front, shop["token"], f"products?after={cursor}")
    assert (refused.status_code, refused.json()["code"]) == (422, "cursor_expired")
    pods.finish()
    assert pods.leftovers() == {}


def assert_nothing_lost(pods: Pods, shop: dict[str, Any], confirmed: set[str]) -> None:
    """Each confirmed order is there once, and so are the shop's numbers and its feed of events."""
    assert pods.rows_of(0, shop["shop"]) == {}
    orders = pods.ask(POD, "SELECT email, number FROM orders_order WHERE shop_id = %s", [shop["shop"]])
    emails = Counter(email for email, _ in orders)
    assert confirmed <= set(emails)
    assert set(emails.values()) == {1}
    numbers = sorted(number for _, number in orders)
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    places = [
        place
        for (place,) in pods.ask(
            POD, "SELECT sequence FROM webhooks_event WHERE shop_id = %s AND sequence IS NOT NULL", [shop["shop"]]
        )
    ]
    assert sorted(places) == list(range(min(places), min(places) + len(places)))


def add_old_token(pods: Pods, shop: dict[str, Any]) -> None:
    """A token from before tokens had codes."""
    columns = [
        name
        for (name,) in pods.ask(
            0,
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'shops_apitoken'"
            " AND column_name NOT IN ('id', 'digest')",
        )
    ]
    names = ", ".join(columns)
    pods.ask(
        0,
        f"INSERT INTO shops_apitoken (digest, {names}) SELECT %s, {names} FROM shops_apitoken WHERE shop_id = %s",
        [digest(OLD_TOKEN), shop["shop"]],
    )
