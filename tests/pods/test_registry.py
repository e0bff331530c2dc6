"""Accounts and apps of pod 0 work in pod 5, while pod 0 is away, too; pod 5 writes none of them; nothing that happens
to the servers loses a change, or leaves a row without what it belongs to."""

import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
import requests
from django.db import connection

from tests.pods.deployments import POD
from tests.pods.registries import HOME, Registry, two_servers
from tests.server.clusters import programs
from tests.server.programs import STOREFRONT, clean_environment, free_port, is_listening, running, wait_until
from tests.server.test_metrics import FIGURES_OF_PODS
from tests.staff.authenticators import code_of

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="pods are PostgreSQL databases"),
    pytest.mark.timeout(900),
]
SLOT = f"storefront_registry_{POD}"
KEY = b"twenty bytes of key!"
PERSON = f"""
from storefront.kit import clock
from storefront.shops.models import Authenticator, User
from storefront.staff import second_factor
from tests.staff.authenticators import code_of
user = User.objects.create_user("anna", email="anna@example.com", password="lighthouse-1", is_staff=True)
second_factor.add_authenticator(user=user, key={KEY!r}, code=code_of({KEY!r}), name="Phone", now=clock.now())
Authenticator.objects.update(last_step=-1)
print(user.pk)
"""
MEMBER = """
from storefront.shops.models import Shop, StaffInvitation, StaffMember, User
from storefront.kit import clock
shop, anna = Shop.objects.get(), User.objects.get(username="anna")
StaffMember.objects.create(shop=shop, user=anna, role="owner")
StaffInvitation.objects.create(
    shop=shop, email="bo@example.com", role="manager", invited_by=anna, created_at=clock.now(), expires_at=clock.now()
)
"""
FIGURES = """
import json
from storefront.server.metrics.database import DatabaseFigures
print(json.dumps([
    (sample.name, list(sample.labels)) for family in DatabaseFigures().collect() for sample in family.samples
    if "registry" in sample.name
]))
"""
UNINSTALL = """
from storefront.apps.actions import uninstall_deleted
from storefront.kit import clock
print(uninstall_deleted(now=clock.now(), limit=9))
"""
# Foreign keys of the database whose row is not there, by table and column.
DANGLING = """
from django.apps import apps
from django.db import connection
found = []
for model in apps.get_models(include_auto_created=True):
    for field in model._meta.concrete_fields:
        if field.is_relation and not model._meta.proxy:
            there = field.remote_field.model._meta
            with connection.cursor() as cursor:
                cursor.execute(
                    f'SELECT count(*) FROM "{model._meta.db_table}" a LEFT JOIN "{there.db_table}" b'
                    f' ON a."{field.column}" = b."{there.pk.column}"'
                    f' WHERE a."{field.column}" IS NOT NULL AND b."{there.pk.column}" IS NULL'
                )
                if cursor.fetchone()[0]:
                    found.append(f"{model._meta.db_table}.{field.column}")
print(found)
"""


@pytest.fixture(scope="module")
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


def create_app(registry: Registry, slug: str = "notes") -> None:
    given = ("--name", slug, "--slug", slug, "--install-url", "http://localhost:9/install", "--scopes", "read_shop")
    registry.first.output("createapp", *given)


def create_shop(registry: Registry, domain: str, port: int = 80) -> None:
    registry.second.output("createshop", "--domain", domain, "--name", domain, "--base-url", f"http://{domain}:{port}")


def sign_in(url: str, code: str) -> bool:
    """Sign in at the admin with the password and this code."""
    browser = requests.Session()
    login = browser.get(f"{url}/admin/login/", timeout=30)
    form = {"username": "anna", "password": "lighthouse-1", "csrfmiddlewaretoken": token_of(login.text)}
    second = browser.post(f"{url}/admin/login/", form, headers={"Referer": f"{url}/admin/login/"}, timeout=30)
    assert second.status_code == 200, second.text
    sent = {"code": code, "csrfmiddlewaretoken": token_of(second.text)}
    browser.post(f"{url}/admin/login/second/", sent, headers={"Referer": f"{url}/admin/login/second/"}, timeout=30)
    return browser.get(f"{url}/admin/", timeout=30, allow_redirects=False).status_code == 200


def token_of(page: str) -> str:
    return page.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]


def test_accounts_and_apps_of_pod_0_work_in_pod_5_while_pod_0_is_away(joined, tmp_path):
    create_app(joined)
    person = int(joined.first.shell(PERSON))
    joined.second.wait_for("SELECT count(*) FROM apps_app, shops_authenticator", 1)
    port = free_port()
    create_shop(joined, "localhost", port)
    joined.second.shell(MEMBER)
    assert joined.second.value("SELECT user_id FROM shops_staffmember") == person
    app = joined.second.output("installapp", "--shop", "localhost", "--app", "notes").strip()
    url = f"http://localhost:{port}"
    with running(
        "serve", "--port", str(port), "--workers", "1", log=tmp_path / "log", **joined.second.environment
    ) as it:
        wait_until(lambda: is_listening(port), what="the service", process=it)
        shop = requests.get(f"{url}/api/apps/shop", headers={"X-Shop-Access-Token": app}, timeout=30)
        assert shop.json()["shop"]["domain"] == "localhost"
        assert sign_in(url, code_of(KEY))
        joined.first.cluster.kill()
        try:
            assert not sign_in(url, code_of(KEY))
            assert sign_in(url, code_of(KEY, 1))
            assert requests.get(f"{url}/readyz", timeout=30).status_code == 200
        finally:
            joined.first.cluster.start()
        # A new password ends the sessions of all pods, as soon as it arrives.
        browser = requests.Session()
        joined.first.shell(
            "from storefront.shops.models import User\nu = User.objects.get(); u.set_password('harbour-7'); u.save()"
        )
        wanted = joined.first.value("SELECT password FROM shops_user")
        joined.second.wait_for("SELECT password FROM shops_user", wanted)
        assert joined.second.value("SELECT last_login IS NULL AND is_staff FROM shops_user")
        assert browser.get(f"{url}/admin/", timeout=30, allow_redirects=False).status_code == 302
    joined.second.output("verify")
    assert joined.second.shell(DANGLING) == "[]"


def test_pod_5_writes_none_of_them(joined):
    create_app(joined)
    joined.second.wait_for("SELECT count(*) FROM apps_app", 1)
    given = ("--name=X", "--slug=x", "--install-url=http://localhost:9/", "--scopes=read_shop")
    for command in (("createapp", *given), ("createsuperuser", "--noinput", "--username=x", "--email=x@example.com")):
        refused = joined.second.run(*command, DJANGO_SUPERUSER_PASSWORD="lighthouse-1")
        assert refused.returncode in (1, 2)
        assert HOME in refused.stderr
    with pytest.raises(psycopg.Error, match=HOME):
        joined.second.sql("DELETE FROM apps_app")
    assert joined.second.value("SELECT count(*) FROM shops_user") == 0


def test_what_is_deleted_in_pod_0_leaves_nothing_behind(joined):
    for slug in ("kept", "gone"):
        create_app(joined, slug)
    joined.first.shell(PERSON)
    joined.second.wait_for("SELECT count(*) FROM shops_authenticator", 1)
    joined.second.wait_for("SELECT count(*) FROM apps_app", 2)
    create_shop(joined, "localhost")
    joined.second.shell(MEMBER)
    joined.second.sql(
        "INSERT INTO shops_factoruse (kind, factor_id, used) SELECT 'app', id, 7 FROM shops_authenticator"
    )
    joined.second.output("installapp", "--shop", "localhost", "--app", "kept")
    joined.first.shell(
        "from storefront.shops.models import User; from storefront.installations.models import App;"
        "User.objects.all().delete(); App.objects.all().delete()"
    )
    joined.second.wait_for("SELECT count(*) FROM shops_user", 0)
    joined.second.wait_for("SELECT string_agg(slug, ' ') FROM apps_app", "deleted--1")
    for table in ("shops_staffmember", "shops_factoruse", "shops_authenticator"):
        assert joined.second.value(f"SELECT count(*) FROM {table}") == 0, table
    assert joined.second.sql("SELECT email, invited_by_id FROM shops_staffinvitation") == [("bo@example.com", None)]
    assert joined.second.shell(DANGLING) == "[]"
    # The slug is free again, also there.
    create_app(joined, "kept")
    joined.second.wait_for("SELECT count(*) FROM apps_app WHERE slug = 'kept'", 1)
    assert joined.second.shell(UNINSTALL) == "1"
    assert joined.second.value("SELECT count(*) FROM shops_apitoken WHERE revoked_at IS NULL") == 0
    joined.second.output("verify")


def test_a_new_factor_in_pod_0_ends_sessions_in_pod_5(joined):
    joined.first.shell(PERSON)
    joined.second.wait_for("SELECT count(*) FROM shops_authenticator", 1)
    joined.second.sql(
        "INSERT INTO shops_staffsession (user_id, digest, has_second_factor, place, browser, created_at, seen_at,"
        " confirmed_at, ends_at) SELECT id, 'x', true, '', '', now(), now(), now(), now() FROM shops_user"
    )
    joined.first.output("resetsecondfactor", "--email", "anna@example.com")
    joined.second.wait_for("SELECT count(*) FROM shops_authenticator", 0)
    assert joined.second.value("SELECT count(*) FROM shops_staffsession") == 0


def test_killed_servers_catch_up(joined):
    create_app(joined, "one")
    joined.second.wait_for("SELECT count(*) FROM apps_app", 1)
    joined.second.cluster.kill()
    create_app(joined, "two")
    assert f"Nobody reads {SLOT}" in joined.first.doctor()
    joined.first.cluster.kill()
    joined.first.cluster.start()
    joined.second.cluster.start()
    joined.second.wait_for("SELECT count(*) FROM apps_app", 2)
    create_app(joined, "three")
    joined.second.wait_for("SELECT count(*) FROM apps_app", 3)
    joined.first.shell(
        "from storefront.pods.registry_beat import *; from storefront.kit import clock; beat(now=clock.now())"
    )
    wanted = joined.first.value("SELECT at FROM pods_registrybeat")
    joined.second.wait_for("SELECT at FROM pods_registrybeat", wanted)
    assert "come from pod 0" in joined.second.doctor()
    assert f"{SLOT} is read" in joined.first.doctor()
    figures = {name: labels for pod in (joined.first, joined.second) for name, labels in json.loads(pod.shell(FIGURES))}
    assert {name: set(labels) for name, labels in figures.items()} == FIGURES_OF_PODS


def test_a_column_that_pod_5_lacks_stops_it_until_it_is_migrated(joined):
    joined.first.sql("ALTER TABLE apps_app ADD COLUMN colour varchar(9) NOT NULL DEFAULT 'red'")
    try:
        create_app(joined)
        errors = "SELECT apply_error_count > 0 FROM pg_stat_subscription_stats"
        joined.second.wait_for(errors, True)
        joined.second.sql("ALTER SUBSCRIPTION storefront_registry DISABLE")
        assert "The subscription is off" in joined.second.doctor()
        joined.second.sql("ALTER SUBSCRIPTION storefront_registry ENABLE")
        joined.second.sql("ALTER TABLE pods_registrybeat DISABLE TRIGGER USER")
        joined.second.sql("UPDATE pods_registrybeat SET at = now() - interval '1 hour'")
        joined.second.sql("ALTER TABLE pods_registrybeat ENABLE TRIGGER USER")
        assert "such as a column that this pod lacks" in joined.second.doctor()
        assert joined.second.value("SELECT count(*) FROM apps_app") == 0
        joined.second.sql("ALTER TABLE apps_app ADD COLUMN colour varchar(9) NOT NULL DEFAULT 'red'")
        joined.second.wait_for("SELECT count(*) FROM apps_app", 1)
    finally:
        for pod in (joined.first, joined.second):
            pod.sql("ALTER TABLE apps_app DROP COLUMN IF EXISTS colour")


def test_migrate_makes_the_triggers_anew(joined):
    joined.second.sql("DROP TRIGGER pods_registry_read ON apps_app")
    joined.second.output("migrate", "--verbosity=0")
    with pytest.raises(psycopg.Error, match=HOME):
        joined.second.sql("DELETE FROM apps_app")


class TestJoining:
    def test_again_changes_nothing(self, joined):
        create_app(joined)
        again = joined.join()
        assert (again.returncode, again.stderr.strip()) == (0, "This pod has joined already.")
        joined.second.wait_for("SELECT count(*) FROM apps_app", 1)

    def test_two_at_once_join_once(self, registry):
        with ThreadPoolExecutor(2) as threads:
            done = list(threads.map(lambda _: registry.join(), range(2)))
        assert 0 in [each.returncode for each in done]
        for each in done:
            assert each.returncode == 0 or "Another storefront registry command runs" in each.stderr
        assert registry.first.value("SELECT count(*) FROM pg_replication_slots") == 1
        create_app(registry)
        registry.second.wait_for("SELECT count(*) FROM apps_app", 1)

    def test_takes_all_rows_while_pod_0_goes_on(self, registry):
        script = (
            "from storefront.shops.models import User\n"
            "for n in range(3000): User.objects.create(username=f'u{n}', email=f'u{n}@example.com')"
        )
        environment = clean_environment(**registry.first.environment)
        writer = subprocess.Popen([STOREFRONT, "shell", "--no-imports", "-c", script], env=environment)
        try:
            wait_until(
                lambda: registry.first.value("SELECT count(*) FROM shops_user") > 300, what="rows", process=writer
            )
            done = registry.join()
            assert done.returncode == 0, done.stderr
            assert writer.wait(120) == 0
        finally:
            writer.kill()
            writer.wait()
        registry.second.wait_for("SELECT count(*) FROM shops_user", 3000)
        rows = "SELECT md5(string_agg(u::text, ',' ORDER BY id)) FROM shops_user u"
        assert registry.first.value(rows) == registry.second.value(rows)

    def test_refuses_a_pod_with_rows_of_its_own(self, registry):
        registry.second.shell(PERSON)
        refused = registry.join()
        assert refused.returncode == 1
        assert "1 rows of shops_user were made here" in refused.stderr
        assert registry.second.value("SELECT count(*) FROM shops_user") == 1
        assert registry.first.value("SELECT count(*) FROM pg_replication_slots") == 0

    def test_refuses_another_release(self, registry):
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
    def test_refuses_another_publication(self, registry, forged, reason):
        registry.first.sql("DROP PUBLICATION storefront_registry")
        if forged:
            registry.first.sql(f"CREATE PUBLICATION storefront_registry {forged}")
        assert reason in registry.join().stderr
        assert registry.second.value("SELECT count(*) FROM pg_subscription") == 0

    def test_refuses_another_key_and_leaves_nothing(self, registry):
        create_app(registry)
        refused = registry.join(SECRET_KEY="another key of thirty-two letters or more")
        assert refused.returncode == 1
        assert "SECRET_KEY is not that of pod 0" in refused.stderr
        assert registry.second.value("SELECT count(*) FROM apps_app") == 0
        assert registry.second.value("SELECT count(*) FROM pg_subscription") == 0
        assert registry.first.value("SELECT count(*) FROM pg_replication_slots") == 0

    def test_refuses_pod_0_and_itself_and_nobody(self, registry):
        refused = registry.first.run("registry", "join", "--from", registry.second.cluster.url)
        assert "This is pod 0" in refused.stderr
        assert "leads to pod 5" in registry.join(source=registry.second.cluster.url).stderr
        away = registry.join(source=f"postgres://u:secret@127.0.0.1:{free_port()}/postgres")
        assert "Pod 0's database cannot be used" in away.stderr
        assert "secret" not in away.stderr
        assert "secret" not in registry.join(source="postgres://u:the secret@127.0.0.1/x").stderr
        assert registry.second.run("registry", "join").returncode == 2
        assert "The registry is that of pod 0" in registry.second.run("registry", "publish").stderr

    def test_refuses_a_user_who_may_not(self, registry):
        for pod in (registry.first, registry.second):
            pod.sql("DROP ROLE IF EXISTS plain")
            pod.sql("CREATE ROLE plain LOGIN")
            pod.sql("GRANT pg_read_all_data TO plain")
        plain = {name: url.cluster.url.replace("postgres@", "plain@") for name, url in vars(registry).items()}
        assert "may not replicate" in registry.join(source=plain["first"]).stderr
        assert "Only a superuser" in registry.join(DATABASE_URL=plain["second"]).stderr

    def test_an_interrupted_one_is_taken_over(self, registry):
        registry.first.sql("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", SLOT)
        assert "run this with --again" in registry.join().stderr
        done = registry.join("--again")
        assert done.returncode == 0, done.stderr

    def test_copies_again_after_a_lost_slot(self, joined):
        for slug in ("stays", "goes", "installed"):
            create_app(joined, slug)
        joined.second.wait_for("SELECT count(*) FROM apps_app", 3)
        create_shop(joined, "localhost")
        joined.second.output("installapp", "--shop", "localhost", "--app", "installed")
        joined.second.sql("ALTER SUBSCRIPTION storefront_registry DISABLE")
        joined.first.wait_for("SELECT active FROM pg_replication_slots", False)
        joined.first.sql("SELECT pg_drop_replication_slot(%s)", SLOT)
        joined.first.sql("DELETE FROM apps_app WHERE slug IN ('goes', 'installed')")
        create_app(joined, "new")
        done = joined.join("--again")
        assert done.returncode == 0, done.stderr
        found = joined.second.sql("SELECT slug FROM apps_app ORDER BY slug")
        assert [slug for (slug,) in found] == ["deleted--3", "new", "stays"]
        assert joined.second.shell(DANGLING) == "[]"
        create_app(joined, "last")
        joined.second.wait_for("SELECT count(*) FROM apps_app", 4)

    def test_leaving_gives_the_rows_back_and_removes_the_slot(self, joined):
        create_app(joined)
        joined.second.wait_for("SELECT count(*) FROM apps_app", 1)
        joined.second.output("registry", "leave")
        assert joined.first.value("SELECT count(*) FROM pg_replication_slots") == 0
        joined.second.sql("UPDATE apps_app SET name = 'Ours'")
        create_app(joined, "two")
        assert joined.second.value("SELECT string_agg(name, ',') FROM apps_app") == "Ours"
        assert joined.join().returncode == 0
        joined.second.wait_for("SELECT string_agg(name, ',' ORDER BY id) FROM apps_app", "notes,two")

    def test_leaving_while_pod_0_is_away_names_the_slot(self, joined):
        joined.first.cluster.kill()
        try:
            left = joined.second.run("registry", "leave")
        finally:
            joined.first.cluster.start()
        assert left.returncode == 1
        assert f"pg_drop_replication_slot('{SLOT}')" in left.stderr
        joined.second.sql("DELETE FROM apps_app")
