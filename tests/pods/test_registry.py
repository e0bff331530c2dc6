"""Accounts and apps of pod 0 work in pod 5, while pod 0 is away, too; pod 5 writes none of them; nothing that happens
to the servers loses a change, or leaves a row without what it belongs to."""

import json

import psycopg
import pytest
import requests
from django.db import connection

from tests.pods.registries import DANGLING, HOME, KEY, PERSON, SLOT, create_app, create_shop
from tests.server.programs import free_port, is_listening, running, wait_until
from tests.server.test_metrics import FIGURES_OF_PODS
from tests.staff.authenticators import code_of

pytestmark = [
    pytest.mark.proof,
    # Servers, their databases and programs are started.
    pytest.mark.timeout(900),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="pods are PostgreSQL databases"),
]
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


def sign_in(url: str, code: str) -> requests.Session | None:
    """A browser that has signed in at the admin with the password and this code; None if it is not let in."""
    browser = requests.Session()
    login = browser.get(f"{url}/admin/login/", timeout=30)
    form = {"username": "anna", "password": "lighthouse-1", "csrfmiddlewaretoken": token_of(login.text)}
    second = browser.post(f"{url}/admin/login/", form, headers={"Referer": f"{url}/admin/login/"}, timeout=30)
    assert second.status_code == 200, second.text
    sent = {"code": code, "csrfmiddlewaretoken": token_of(second.text)}
    browser.post(f"{url}/admin/login/second/", sent, headers={"Referer": f"{url}/admin/login/second/"}, timeout=30)
    return browser if is_in(browser, url) else None


def is_in(browser: requests.Session, url: str) -> bool:
    return browser.get(f"{url}/admin/", timeout=30, allow_redirects=False).status_code == 200


def token_of(page: str) -> str:
    return page.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]


def test_accounts_and_apps_of_pod_0_work_in_pod_5_while_pod_0_is_away(joined, tmp_path):
    given = ("--name=Notes", "--slug=notes", "--install-url=http://localhost:9/install", "--scopes=read_shop")
    joined.first.output("createapp", *given)
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
        browser = sign_in(url, code_of(KEY))
        assert browser
        joined.first.cluster.kill()
        try:
            assert not sign_in(url, code_of(KEY))
            assert sign_in(url, code_of(KEY, 1))
            assert requests.get(f"{url}/readyz", timeout=30).status_code == 200
        finally:
            joined.first.cluster.start()
        # A new password ends the sessions of all pods, as soon as it arrives.
        assert is_in(browser, url)
        joined.first.shell(
            "from storefront.shops.models import User\nu = User.objects.get(); u.set_password('harbour-7'); u.save()"
        )
        wanted = joined.first.value("SELECT password FROM shops_user")
        joined.second.wait_for("SELECT password FROM shops_user", wanted)
        assert joined.second.value("SELECT last_login IS NULL AND is_staff FROM shops_user")
        assert not is_in(browser, url)
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
        " ON CONFLICT DO NOTHING"
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


def test_a_membership_that_is_made_while_its_account_is_deleted_goes_too(joined):
    joined.first.shell(PERSON)
    joined.second.wait_for("SELECT count(*) FROM shops_user", 1)
    create_shop(joined, "localhost")
    with psycopg.connect(joined.second.cluster.url) as other:
        other.execute(
            "INSERT INTO shops_staffmember (shop_id, user_id, role)"
            " SELECT s.id, u.id, 'owner' FROM shops_shop s, shops_user u"
        )
        other.execute("SET CONSTRAINTS ALL IMMEDIATE")
        joined.first.sql("DELETE FROM shops_authenticator")
        joined.first.sql("DELETE FROM shops_user")
        waits = "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE %s AND wait_event_type = 'Lock'"
        joined.second.wait_for(waits, 1, "logical replication%")
        other.commit()
    joined.second.wait_for("SELECT count(*) FROM shops_user", 0)
    assert joined.second.value("SELECT count(*) FROM shops_staffmember") == 0


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
