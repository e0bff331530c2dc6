"""What happens beside a move at one of its steps: writers, tasks, other moves, a survey of the pods."""

import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

import psycopg
import pytest
from django.db import connection

from storefront.pods.deployment import Pod, read_pods
from storefront.pods.registry_triggers import DELETED_SLUG
from storefront.pods.survey import Survey, survey
from storefront.server.moving import gate, moving
from storefront.server.moving.stop import MAX_STOP_SECONDS, MAX_WAIT_SECONDS
from tests.pods.deployments import POD
from tests.pods.moves import Pods
from tests.server.programs import STOREFRONT, clean_environment, wait_until

pytestmark = [
    pytest.mark.proof,
    pytest.mark.timeout(900),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="pods are PostgreSQL databases"),
]
RENAME = "UPDATE catalogue_product SET name = %s WHERE shop_id = %s"
NAME = "SELECT name FROM catalogue_product WHERE shop_id = %s"
TASKS = "SELECT status FROM django_tasks_database_dbtaskresult WHERE args_kwargs -> 'args' ->> 0 = %s"
# Waits for a line before it begins, and for a second one before it commits.
SENDS = """
from django.db import transaction
from storefront.content.jobs import send_message
input()
with transaction.atomic():
    send_message.enqueue({shop}, "Ann", "ann@example.com", "Is the mug still blue?")
    print("queued", flush=True)
    input()
"""


@pytest.fixture
def pods(movable) -> Pods:
    return movable


@pytest.fixture
def later() -> Iterator[Callable[..., Future]]:
    """Calls something in another thread."""
    with ThreadPoolExecutor(1) as threads:
        yield threads.submit


def await_stop(pods: Pods, shop: dict) -> None:
    """Wait until the stop waits for those who write in the shop."""
    key = gate.WRITERS + shop["shop"]
    waiting = (
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND objid = %s AND NOT granted"
    )
    given = [key >> 32, key & 0xFFFFFFFF]
    wait_until(lambda: pods.value(0, waiting, given), what="the stop that waits", seconds=10)


def test_the_stop_waits_for_a_running_writer(pods, shops, later):
    shop, _ = shops
    with psycopg.connect(pods.urls[0]) as writer:

        def end() -> None:
            await_stop(pods, shop)
            writer.commit()

        def begin() -> None:
            writer.execute(RENAME, ["Jug", shop["shop"]])
            ended.append(later(end))

        ended: list[Future] = []
        _, lines = pods.move_here(shop["domain"], POD, {"step stop": begin})
    for each in ended:
        each.result()
    assert not [line for line in lines if line.startswith("Attempt")]
    assert pods.ask(POD, NAME, [shop["shop"]]) == [("Jug",)]


def test_a_writer_that_takes_too_long_is_not_waited_for_and_the_shop_sells_on(pods, shops, monkeypatch):
    shop, _ = shops
    monkeypatch.setattr(moving, "STOP_PAUSE_SECONDS", 0.1)
    with psycopg.connect(pods.urls[0]) as writer:

        def begin() -> None:
            if not seen:
                writer.execute(RENAME, ["Jug", shop["shop"]])

        def go_on() -> None:
            # Another writer is let in.
            pods.ask(0, "UPDATE shops_shop SET name = 'Mugs' WHERE id = %s", [shop["shop"]])
            seen.append("sells")
            writer.commit()

        seen: list[str] = []
        done, lines = pods.move_here(shop["domain"], POD, {"step stop": begin, "Attempt 1 of 5": go_on})
    (refused,) = [line for line in lines if line.startswith("Attempt")]
    assert f"A transaction of the shop takes longer than {MAX_WAIT_SECONDS} s. The shop sells on." in refused
    assert done.stop_seconds is not None
    assert done.stop_seconds < MAX_STOP_SECONDS
    assert pods.ask(POD, NAME, [shop["shop"]]) == [("Jug",)]


def test_a_message_that_is_sent_at_the_stop_is_at_the_target(pods, shops, later):
    shop, _ = shops
    script = SENDS.format(shop=shop["shop"])
    environment = clean_environment(**pods.environments[0])
    with subprocess.Popen(
        [STOREFRONT, "shell", "--no-imports", "-c", script],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as sender:  # fmt: skip
        assert sender.stdin
        assert sender.stdout
        go = partial(print, file=sender.stdin, flush=True)

        def end() -> None:
            await_stop(pods, shop)
            go()

        def begin() -> None:
            go()
            assert sender.stdout
            assert sender.stdout.readline() == "queued\n"
            ended.append(later(end))

        ended: list[Future] = []
        pods.move_here(shop["domain"], POD, {"step stop": begin})
        for each in ended:
            each.result()
    assert sender.returncode == 0
    assert pods.ask(0, TASKS, [str(shop["shop"])]) == []
    assert pods.ask(POD, TASKS, [str(shop["shop"])]) == [("READY",)]


def test_a_second_move_of_the_shop_is_refused_and_the_first_goes_on(pods, shops):
    shop, _ = shops
    before, seen = pods.rows_of(0, shop["shop"]), []
    again = {"step copy": lambda: seen.append(pods.move(shop["domain"], POD))}
    pods.move_here(shop["domain"], POD, again)
    assert [(done.returncode, "Another run moves" in done.stderr) for done in seen] == [(1, True)]
    assert pods.rows_of(POD, shop["shop"]) == before


def test_two_shops_move_at_once(pods, shops):
    before = [pods.rows_of(0, shop["shop"]) for shop in shops]
    with ThreadPoolExecutor(2) as threads:
        done = list(threads.map(lambda shop: pods.move(shop["domain"], POD), shops))
    assert [each.returncode for each in done] == [0, 0], [each.stderr for each in done]
    assert [pods.rows_of(POD, shop["shop"]) for shop in shops] == before
    assert [pods.rows_of(0, shop["shop"]) for shop in shops] == [{}, {}]


def test_an_app_that_pod_0_has_deleted_is_brought(pods, shops):
    shop, _ = shops
    app = install_deleted_app(pods, shop)
    pods.move_here(shop["domain"], POD, {})
    found = pods.ask(POD, "SELECT app_id FROM apps_installation WHERE shop_id = %s", [shop["shop"]])
    assert found == [(app,)]
    assert pods.value(POD, "SELECT slug FROM apps_app WHERE id = %s", [app]) == f"{DELETED_SLUG}{app}"


def test_but_not_to_pod_0_which_would_send_it_to_all(pods, shops):
    shop, _ = shops
    app = install_deleted_app(pods, shop)
    pods.move_here(shop["domain"], POD, {})
    pods.finish()
    pods.ask(0, "DELETE FROM apps_app WHERE id = %s", [app])
    refused = pods.move(shop["domain"], 0)
    assert (refused.returncode, f"Pod 0 lacks app {app}" in refused.stderr) == (1, True), refused.stderr
    assert pods.ask(0, "SELECT 1 FROM apps_app WHERE id = %s", [app]) == []


def install_deleted_app(pods: Pods, shop: dict) -> int:
    """An app that stays only because the shop has it installed. Returns its id."""
    script = f"""
from storefront.installations.models import App
from storefront.shops.models import Shop
from tests.factories.apps import install
app = install(Shop.objects.get(pk={shop["shop"]}), "read_shop").installation.app
App.objects.filter(pk=app.pk).update(slug=f"{DELETED_SLUG}{{app.pk}}", is_active=False)
print(app.pk)
"""
    return int(pods.shell(0, script))


def test_a_shop_that_moves_while_the_pods_are_read_stays_in_the_map(pods, shops):
    """The target is read before it, and the source after it: neither has the shop."""
    shop, _ = shops
    first, second = read_pods(pods.listed)

    def one_after_the_other() -> Iterator[Pod]:
        yield second
        pods.move_here(shop["domain"], POD, {})
        yield first

    found = survey(one_after_the_other())
    assert (places_of(found, shop), found.problems) == ([POD], [])
    assert elsewhere(pods, shop) == [(POD,)]


def test_a_shop_that_moves_after_its_pod_was_read_is_known_to_have_moved(pods, shops):
    """The source was read with the shop, and must not forget where it is meanwhile."""
    shop, _ = shops
    first, second = read_pods(pods.listed)

    def one_after_the_other() -> Iterator[Pod]:
        yield second
        yield first
        pods.move_here(shop["domain"], POD, {})

    assert places_of(survey(one_after_the_other()), shop) == [0]
    assert elsewhere(pods, shop) == [(POD,)]
    assert places_of(survey([first, second]), shop) == [POD]


def places_of(found: Survey, shop: dict) -> list[int]:
    return [place.pod for place in found.places if place.host == shop["domain"]]


def elsewhere(pods: Pods, shop: dict) -> list[tuple]:
    """The pod to which pod 0 sends who asks for the shop."""
    return pods.ask(0, "SELECT pod FROM pods_hostelsewhere WHERE host = %s", [shop["domain"]])
