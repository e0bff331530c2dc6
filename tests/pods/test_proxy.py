"""nginx finds the pod of each request by the map of `storefront podmap`, and with a wrong map by the pods' 421."""

import os
import re
import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
import requests
from django.db import connection

from tests.pods.deployments import POD, Deployment, make_shop, two_pods
from tests.server.programs import wait_until

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="pods are PostgreSQL databases"),
]
RELOADS = 6


@pytest.fixture(scope="module")
def deployment(migrated, tmp_path_factory) -> Iterator[Deployment]:
    with two_pods(tmp_path_factory.mktemp("pods"), migrated) as found:
        yield found


@pytest.fixture(params=["right map", "wrong map"])
def maps(request, deployment) -> str:
    """With the right map, one pod is asked. With one in which all leads to pod 0, the 421 of pod 0 leads further."""
    deployment.publish()
    if request.param == "wrong map":
        text = deployment.map.read_text()
        routed, mark, numbers = text.partition("map $upstream_http")
        deployment.map.write_text(re.sub(rf" {POD};", " 0;", routed) + mark + numbers)
        reload(deployment)
    return request.param


def reload(deployment: Deployment) -> None:
    """Have nginx load the map as it is on disk, and wait until a new worker answers."""
    pid = int((deployment.directory / "pid").read_text())
    before = workers(pid)
    os.kill(pid, signal.SIGHUP)
    wait_until(lambda: workers(pid) and not workers(pid) & before, what="the reload")


def workers(pid: int) -> set[str]:
    return set(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


def api(deployment: Deployment, path: str, *, host: str = "first.test", method: str = "GET", **given):
    return deployment.ask(host, f"/api{path}", method, **given)


def test_pages_by_host(deployment, maps):
    for domain in ("first.test", "second.test"):
        page = deployment.ask(domain, "/products/mug")
        assert (page.status_code, f"Mug of {domain}" in page.text) == (200, True)
        assert "X-Storefront-Pod" not in page.headers


def test_the_token_alone_decides(deployment, maps):
    first, second = deployment.first, deployment.second
    for shop in (first, second):
        for name, value in (("Authorization", f"Bearer {shop['token']}"), ("X-Shop-Access-Token", shop["token"])):
            for host in ("first.test", "second.test", "unknown.test"):
                answer = api(deployment, "/v1/products/mug", host=host, headers={name: value})
                assert answer.json()["data"]["id"] == shop["mug"], (name, host)
    both = {"Authorization": f"Bearer {first['token']}", "X-Shop-Access-Token": second["token"]}
    assert api(deployment, "/v1/products/mug", headers=both).json()["data"]["id"] == second["mug"]


def test_a_body_reaches_the_right_pod(deployment, maps):
    second = deployment.second
    headers = {"authorization": f"bearer  {second['token']}"}
    line = {"product_id": second["mug"], "qty": 2, "note": "x" * 30_000}
    answer = api(deployment, "/v1/cart", method="POST", headers=headers, json=line)
    assert answer.status_code == 201, answer.text
    cart = headers | {"X-Cart-Token": answer.json()["cart_token"]}
    read = api(deployment, "/v1/cart", headers=cart)
    assert [line["qty"] for line in read.json()["data"]["items"]] == [2]
    if maps == "wrong map":
        assert deployment.asked().count("127.0.0.1:") >= 2, "both pods were asked"


def test_the_secure_host_by_its_path(deployment, maps):
    for domain in ("first.test", "second.test"):
        page = deployment.ask("secure.test", f"/{domain}/account/sign-in")
        assert (page.status_code, domain in page.text) == (200, True)


def test_sessions_of_two_pods_live_in_one_browser(deployment):
    """At the secure host, which both have."""
    deployment.publish()
    names = [
        {cookie.name for cookie in deployment.ask("secure.test", f"/{domain}/account/sign-in").cookies}
        for domain in ("first.test", "second.test")
    ]
    assert all(names)
    assert not names[0] & names[1]


def test_forged_and_unknown_is_what_it_was(deployment, maps):
    first, second = deployment.first, deployment.second
    forged = first["token"].replace(f"{first['shop']:014x}", f"{second['shop']:014x}")
    for token in (forged, "api_" + second["token"][-43:], f"api_{7 * 2**40 + 1:014x}{'x' * 43}", "nonsense"):
        answer = api(deployment, "/v1/products", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401
    assert api(deployment, "/v1/products").status_code == 401
    assert deployment.ask("secure.test", "/nobody.test/account/sign-in").status_code == 404


def test_the_admin_by_host(deployment):
    deployment.publish()
    for number in deployment.pods:
        assert deployment.ask(f"admin{number}.test", "/admin/login/").status_code == 200
        assert f"pod={number} " in deployment.asked()


def test_no_request_fails_while_maps_change(deployment):
    """Requests go on while the map becomes wrong and right again. A shop that is new meanwhile is found at the end."""
    deployment.publish()
    done = Event()

    def visit(domain: str) -> Counter:
        answers: Counter = Counter()
        with requests.Session() as session:
            while not done.is_set():
                page = session.get(
                    f"http://127.0.0.1:{deployment.port}/products/mug", headers={"Host": domain}, timeout=60
                )
                answers[page.status_code if f"Mug of {domain}" in page.text else "wrong"] += 1
        return answers

    with ThreadPoolExecutor(4) as threads:
        visitors = [threads.submit(visit, f"{name}.test") for name in ("first", "second") * 2]
        try:
            for _ in range(RELOADS // 2):
                deployment.map.write_text(deployment.map.read_text().replace(f'"second.test" {POD};', ""))
                reload(deployment)
                deployment.publish()
            make_shop(deployment.pods[POD], "third.test")
            deployment.publish()
        finally:
            done.set()
        counts = [visitor.result() for visitor in visitors]
    assert all(set(count) == {200} for count in counts), counts
    assert "Mug of third.test" in deployment.ask("third.test", "/products/mug").text
    assert f"pod={POD} " in deployment.asked()


def test_a_pod_that_is_away_keeps_its_shops(deployment):
    deployment.publish()
    before, listed = deployment.map.read_text(), deployment.listed.read_text()
    try:
        deployment.listed.write_text(
            listed.replace(deployment.pods[POD]["DATABASE_URL"], "postgres://127.0.0.1:1/none")
        )
        done = deployment.podmap()
    finally:
        deployment.listed.write_text(listed)
    assert done.returncode == 1
    assert f"Pod {POD} was not read" in done.stderr
    assert done.stdout.strip() == before.strip()


def test_another_pods_database_is_not_believed(deployment):
    listed = deployment.listed.read_text()
    try:
        deployment.listed.write_text(listed.replace(f"number = {POD}", "number = 6"))
        done = deployment.podmap()
    finally:
        deployment.listed.write_text(listed)
    assert done.returncode == 1
    assert f"Its database is that of pod {POD}." in done.stderr
