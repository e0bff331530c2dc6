"""Joining the registry of pod 0: what is refused changes nothing; what was interrupted or lost is repaired."""

import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from tests.pods.deployments import ROOT
from tests.pods.registries import DANGLING, PERSON, SLOT, Registry, create_app, create_shop
from tests.server.programs import STOREFRONT, clean_environment, free_port, wait_until

pytestmark = [
    pytest.mark.proof,
    # Servers, their databases and programs are started.
    pytest.mark.timeout(900),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="pods are PostgreSQL databases"),
]


def test_again_changes_nothing(joined):
    create_app(joined)
    again = joined.join()
    assert (again.returncode, again.stderr.strip()) == (0, "This pod has joined already.")
    joined.second.wait_for("SELECT count(*) FROM apps_app", 1)


def test_two_at_once_join_once(registry):
    with ThreadPoolExecutor(2) as threads:
        done = list(threads.map(lambda _: registry.join(), range(2)))
    assert 0 in [each.returncode for each in done]
    for each in done:
        assert each.returncode == 0 or "Another storefront registry command runs" in each.stderr
    assert registry.first.value("SELECT count(*) FROM pg_replication_slots") == 1
    create_app(registry)
    registry.second.wait_for("SELECT count(*) FROM apps_app", 1)


def test_takes_all_rows_while_pod_0_goes_on(registry):
    script = (
        "from storefront.shops.models import User\n"
        "for n in range(10**6): User.objects.create(username=f'u{n}', email=f'u{n}@example.com')"
    )
    environment = clean_environment(**registry.first.environment)
    count = "SELECT count(*) FROM shops_user"
    writer = subprocess.Popen([STOREFRONT, "shell", "--no-imports", "-c", script], env=environment)
    try:
        wait_until(lambda: registry.first.value(count) > 100, what="rows", process=writer)
        done = registry.join()
        assert done.returncode == 0, done.stderr
        copied = registry.second.value(count)
        wait_until(lambda: registry.second.value(count) > copied, what="rows", process=writer)
    finally:
        writer.kill()
        writer.wait()
    registry.second.wait_for(count, registry.first.value(count))
    rows = "SELECT md5(string_agg(u::text, ',' ORDER BY id)) FROM shops_user u"
    assert registry.first.value(rows) == registry.second.value(rows)


def test_refuses_a_pod_with_rows_of_its_own(registry):
    registry.second.shell(PERSON)
    refused = registry.join()
    assert refused.returncode == 1
    assert "1 rows of shops_user were made here" in refused.stderr
    assert registry.second.value("SELECT count(*) FROM shops_user") == 1
    assert registry.first.value("SELECT count(*) FROM pg_replication_slots") == 0


def test_refuses_another_release(registry):
    registry.first.sql("INSERT INTO django_migrations (app, name, applied) VALUES ('apps', '9999_new', now())")
    try:
        assert "only one of both has apps.9999_new" in registry.join().stderr
    finally:
        registry.first.sql("DELETE FROM django_migrations WHERE name = '9999_new'")


@pytest.mark.parametrize(
    ("forged", "reason"),
    [
        ("FOR TABLE shops_user, shops_shop", "exactly the registry's tables"),
        ("FOR ALL TABLES", "exactly the registry's tables"),
        ("FOR TABLE shops_user (id, password)", "exactly the registry's tables"),
        ("FOR TABLE shops_user WHERE (id > 1)", "exactly the registry's tables"),
        ("", "Run storefront registry publish there"),
    ],
)
def test_refuses_another_publication(registry, forged, reason):
    registry.first.sql("DROP PUBLICATION storefront_registry")
    if forged:
        registry.first.sql(f"CREATE PUBLICATION storefront_registry {forged}")
    assert reason in registry.join().stderr
    assert registry.second.value("SELECT count(*) FROM pg_subscription") == 0


def test_refuses_another_key_and_leaves_nothing(registry):
    create_app(registry)
    refused = registry.join(SECRET_KEY="another key of thirty-two letters or more")
    assert refused.returncode == 1
    assert "SECRET_KEY is not that of pod 0" in refused.stderr
    assert registry.second.value("SELECT count(*) FROM apps_app") == 0
    assert registry.second.value("SELECT count(*) FROM pg_subscription") == 0
    assert registry.first.value("SELECT count(*) FROM pg_replication_slots") == 0


def test_refuses_pod_0_and_itself_and_nobody(registry):
    refused = registry.first.run("registry", "join", "--from", registry.second.cluster.url)
    assert "This is pod 0" in refused.stderr
    assert "leads to pod 5" in registry.join(source=registry.second.cluster.url).stderr
    away = registry.join(source=f"postgres://u:secret@127.0.0.1:{free_port()}/postgres")
    assert "Pod 0's database cannot be used" in away.stderr
    assert "secret" not in away.stderr
    assert "secret" not in registry.join(source="postgres://u:the secret@127.0.0.1/x").stderr
    assert registry.second.run("registry", "join").returncode == 2
    assert "The registry is that of pod 0" in registry.second.run("registry", "publish").stderr


def test_refuses_a_user_who_may_not(registry):
    for pod in (registry.first, registry.second):
        pod.sql("DROP ROLE IF EXISTS plain")
        pod.sql("CREATE ROLE plain LOGIN")
        pod.sql("GRANT pg_read_all_data TO plain")
    plain = {name: url.cluster.url.replace("postgres@", "plain@") for name, url in vars(registry).items()}
    assert "may not replicate" in registry.join(source=plain["first"]).stderr
    assert "Only a superuser" in registry.join(DATABASE_URL=plain["second"]).stderr


def test_by_a_user_who_may_read_nothing_else(registry):
    """The rights that docs/pods.md gives them."""
    page = (ROOT / "docs/pods.md").read_text()
    grant = f"GRANT SELECT ON {page.partition('GRANT SELECT ON')[2].partition(';')[0]}"
    registry.first.sql("CREATE ROLE registry LOGIN REPLICATION")
    registry.first.sql(grant)
    try:
        create_app(registry)
        done = registry.join(source=registry.first.cluster.url.replace("postgres@", "registry@"))
        assert done.returncode == 0, done.stderr
        create_app(registry, "two")
        registry.second.wait_for("SELECT count(*) FROM apps_app", 2)
        assert registry.second.output("registry", "leave") == ""
        assert registry.first.value("SELECT count(*) FROM pg_replication_slots") == 0
    finally:
        registry.first.sql("DROP OWNED BY registry")
        registry.first.sql("DROP ROLE registry")


def test_an_interrupted_one_is_taken_over(registry):
    registry.first.sql("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", SLOT)
    assert "run this with --again" in registry.join().stderr
    done = registry.join("--again")
    assert done.returncode == 0, done.stderr


def test_copies_again_after_a_lost_slot(joined):
    for slug in ("stays", "goes", "installed"):
        create_app(joined, slug)
    joined.second.wait_for("SELECT count(*) FROM apps_app", 3)
    create_shop(joined, "localhost")
    joined.second.output("installapp", "--shop", "localhost", "--app", "installed")
    lose_slot(joined)
    joined.first.sql("DELETE FROM apps_app WHERE slug IN ('goes', 'installed')")
    create_app(joined, "new")
    done = joined.join("--again")
    assert done.returncode == 0, done.stderr
    found = joined.second.sql("SELECT slug FROM apps_app ORDER BY slug")
    assert [slug for (slug,) in found] == ["deleted--3", "new", "stays"]
    assert joined.second.shell(DANGLING) == "[]"
    create_app(joined, "last")
    joined.second.wait_for("SELECT count(*) FROM apps_app", 4)


def lose_slot(joined: Registry) -> None:
    joined.second.sql("ALTER SUBSCRIPTION storefront_registry DISABLE")
    joined.first.wait_for("SELECT active FROM pg_replication_slots", False)
    joined.first.sql("SELECT pg_drop_replication_slot(%s)", SLOT)


def test_again_ends_the_sessions_of_who_has_a_new_factor(joined):
    """As replication does with the factor. Those of others go on."""
    joined.first.shell(PERSON)
    joined.first.sql(
        "INSERT INTO shops_user (password, is_superuser, username, first_name, last_name, is_staff, is_active,"
        " date_joined, email) VALUES ('', false, 'ben', '', '', true, true, now(), 'ben@example.com')"
    )
    joined.second.wait_for("SELECT count(*) FROM shops_user", 2)
    joined.second.wait_for("SELECT count(*) FROM shops_authenticator", 1)
    joined.second.sql(
        "INSERT INTO shops_staffsession (user_id, digest, has_second_factor, place, browser, created_at, seen_at,"
        " confirmed_at, ends_at) SELECT id, username, true, '', '', now(), now(), now(), now() FROM shops_user"
    )
    lose_slot(joined)
    joined.first.sql(
        "INSERT INTO shops_authenticator (user_id, name, sealed_key, last_step, created_at)"
        " SELECT user_id, 'Tablet', sealed_key, last_step, now() FROM shops_authenticator"
    )
    done = joined.join("--again")
    assert done.returncode == 0, done.stderr
    assert joined.second.sql("SELECT digest FROM shops_staffsession") == [("ben",)]


def test_leaving_gives_the_rows_back_and_removes_the_slot(joined):
    create_app(joined)
    joined.second.wait_for("SELECT count(*) FROM apps_app", 1)
    joined.second.output("registry", "leave")
    assert joined.first.value("SELECT count(*) FROM pg_replication_slots") == 0
    joined.second.sql("UPDATE apps_app SET name = 'Ours'")
    create_app(joined, "two")
    assert joined.second.value("SELECT string_agg(name, ',') FROM apps_app") == "Ours"
    assert joined.join().returncode == 0
    joined.second.wait_for("SELECT string_agg(name, ',' ORDER BY id) FROM apps_app", "notes,two")


def test_leaving_while_pod_0_is_away_names_the_slot(joined):
    joined.first.cluster.kill()
    try:
        left = joined.second.run("registry", "leave")
    finally:
        joined.first.cluster.start()
    assert left.returncode == 1
    assert f"pg_drop_replication_slot('{SLOT}')" in left.stderr
    joined.second.sql("DELETE FROM apps_app")
