"""A shop moves from pod to pod with all that it has, and nothing of another shop; a killed move goes on or back."""

import psycopg
import pytest
from django.db import connection

from tests.pods.deployments import POD
from tests.pods.moves import Pods
from tests.server.programs import storefront, wait_until

pytestmark = [
    pytest.mark.proof,
    pytest.mark.timeout(900),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="pods are PostgreSQL databases"),
]
STEPS = ["prepare", "copy", "drain", "stop", "switched", "shelve", "tidy"]
QUEUED = """
from storefront.customers.jobs import send_notice
send_notice.enqueue({shop}, "a@example.com", "password_changed")
"""


@pytest.fixture
def pods(movable) -> Pods:
    return movable


def test_all_of_one_shop_moves_and_nothing_of_another(pods, shops):
    shop, other = shops
    before, of_other = pods.rows_of(0, shop["shop"]), pods.rows_of(0, other["shop"])
    pods.shell(0, QUEUED.format(shop=shop["shop"]), EMAIL_URL="smtp://127.0.0.1:1")
    done = pods.move(shop["domain"], POD)
    assert done.returncode == 0, done.stderr
    assert pods.rows_of(POD, shop["shop"]) == before
    assert pods.rows_of(0, shop["shop"]) == {}
    assert pods.rows_of(0, other["shop"]) == of_other
    assert pods.rows_of(POD, other["shop"]) == {}
    task = "SELECT count(*) FROM django_tasks_database_dbtaskresult WHERE args_kwargs -> 'args' ->> 0 = %s"
    given = [str(shop["shop"])]
    assert (pods.value(0, task, given), pods.value(POD, f"{task} AND status = 'READY'", given)) == (0, 1)
    verified = storefront("verify", "--shop", shop["domain"], **pods.environments[POD])
    assert verified.returncode == 0, verified.stderr


def test_a_shop_moves_away_and_back(pods, shops):
    shop, _ = shops
    before, domain = pods.rows_of(0, shop["shop"]), shop["domain"]
    assert pods.move(domain, POD).returncode == 0
    again = pods.move(domain, 0)
    assert (again.returncode, "keeps old rows" in again.stderr) == (1, True)
    pods.finish()
    assert pods.move(domain, 0).returncode == 0
    assert pods.rows_of(0, shop["shop"]) == before


@pytest.mark.parametrize("step", STEPS)
def test_a_killed_move_goes_on(pods, shops, step):
    shop, _ = shops
    before, domain = pods.rows_of(0, shop["shop"]), shop["domain"]
    assert pods.move_killed_at(step, domain, POD)
    done = pods.move(domain, POD)
    assert done.returncode == 0, done.stderr
    assert pods.rows_of(POD, shop["shop"]) == before
    assert pods.rows_of(0, shop["shop"]) == {}


@pytest.mark.parametrize("step", STEPS[:-2])
def test_a_killed_move_leaves_the_shop_open_and_goes_back_until_it_has_switched(pods, shops, step):
    shop, _ = shops
    before, domain = pods.rows_of(0, shop["shop"]), shop["domain"]
    assert pods.move_killed_at(step, domain, POD)
    # A killed run that is in its stop may have come further than it could write.
    wait_until(lambda: not writers_lock_is_held(pods, shop), what="the end of the killed run's connection", seconds=5)
    is_switched = bool(pods.ask(POD, "SELECT 1 FROM shops_shop WHERE id = %s", [shop["shop"]]))
    assert is_switched or step != "switched"
    write(pods, POD if is_switched else 0, shop)
    done = pods.move(domain, POD, "--back")
    if is_switched:
        assert (done.returncode, "cannot be undone" in done.stderr) == (1, True)
        assert pods.move(domain, POD).returncode == 0
    else:
        assert done.returncode == 0, done.stderr
        assert (pods.rows_of(0, shop["shop"]), pods.rows_of(POD, shop["shop"])) == (before, {})
        write(pods, 0, shop)


def test_killed_between_the_two_commits_nobody_writes_until_it_goes_on(pods, shops):
    """The source has written that it refuses writes, and the target has not committed."""
    shop, _ = shops
    assert pods.move_killed_at("drain", shop["domain"], POD)
    pods.ask(0, "UPDATE pods_shopmove SET step = 'switching' WHERE shop_id = %s", [shop["shop"]])
    with pytest.raises(psycopg.errors.OperatorIntervention):
        write(pods, 0, shop)
    write(pods, POD, shop)
    name = "SELECT name FROM catalogue_product WHERE shop_id = %s"
    assert pods.value(POD, name, [shop["shop"]]) == "Mug", "at the target, a write does nothing"
    done = pods.move(shop["domain"], POD)
    assert done.returncode == 0, done.stderr
    assert pods.rows_of(0, shop["shop"]) == {}


def test_a_row_that_differs_stops_the_switch(pods, shops):
    shop, _ = shops
    assert pods.move_killed_at("drain", shop["domain"], POD)
    with psycopg.connect(pods.urls[POD], autocommit=True) as target:
        target.execute("SET session_replication_role = replica")
        target.execute("UPDATE catalogue_product SET name = 'Jug' WHERE shop_id = %s", [shop["shop"]])
    done = pods.move(shop["domain"], POD)
    assert (done.returncode, "The rows of catalogue_product differ" in done.stderr) == (1, True)
    write(pods, 0, shop)
    assert pods.move(shop["domain"], POD, "--back").returncode == 0


def writers_lock_is_held(pods: Pods, shop: dict) -> bool:
    key = (1 << 60) + shop["shop"]
    held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND objid = %s"
    return bool(pods.value(0, held, [key >> 32, key & 0xFFFFFFFF]))


def write(pods: Pods, number: int, shop: dict) -> None:
    pods.ask(number, "UPDATE catalogue_product SET name = name || '.' WHERE shop_id = %s", [shop["shop"]])


def test_a_second_run_at_once_is_refused(pods, shops):
    shop, _ = shops
    with psycopg.connect(pods.urls[0], autocommit=True) as first:
        first.execute("SELECT pg_advisory_lock(%s)", [(1 << 61) + shop["shop"]])
        done = pods.move(shop["domain"], POD)
    assert (done.returncode, "Another run moves" in done.stderr) == (1, True)


def test_a_missing_account_is_named_before_anything_changes(pods, shops):
    shop, _ = shops
    user = pods.value(
        0,
        "INSERT INTO shops_user (password, is_superuser, username, first_name, last_name, is_staff, is_active,"
        " date_joined, email) VALUES ('', false, 'ann', '', '', true, true, now(), 'ann@example.com') RETURNING id",
    )
    pods.ask(0, "INSERT INTO shops_staffmember (shop_id, user_id, role) VALUES (%s, %s, 'owner')", [shop["shop"], user])
    done = pods.move(shop["domain"], POD)
    assert (done.returncode, f"lacks user {user}" in done.stderr) == (1, True), done.stderr


def test_a_pod_that_is_not_listed_and_a_shop_that_nobody_has(pods, shops):
    shop, _ = shops
    assert "Pod 9 is not in the pods file" in pods.move(shop["domain"], 9).stderr
    assert "No pod has a shop" in pods.move("nowhere.test", POD).stderr
    assert "Pod 0 serves" in pods.move(shop["domain"], 0).stderr
