"""Admin pages of app scripts: turn one off, allow a host, see what was blocked."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from storefront.apps.models import AllowedScriptHost, BlockedScript, ScriptTag
from storefront.apps.script_hosts import MAX_HOSTS, allow_script_host
from storefront.apps.script_reports import Violation, record_violations
from storefront.apps.scripts import register_script_tag
from storefront.kit import clock
from tests.factories.apps import install, make_app
from tests.staff import admin_url, make_staff, open_desk

pytestmark = pytest.mark.slow

OWN = "https://app.example.com/badge.js"
STRANGE = "https://cdn.example.net/badge.js"


@pytest.fixture
def desk(request, shop):
    if "apart" in request.fixturenames:
        request.getfixturevalue("apart")
    return open_desk(make_staff(shop))


def put(shop, src: str = OWN, slug: str | None = None) -> ScriptTag:
    app = install(shop, app=make_app(slug, name="Gift notes" if slug is None else slug))
    given = {"shop": shop, "installation_id": app.installation.pk, "now": clock.now()}
    return register_script_tag(**given, src=src, location="head")[0]


def blocked(shop, source: str = STRANGE, directive: str = "script-src") -> BlockedScript:
    record_violations(shop=shop, violations=[Violation(source, directive, "/basket")], now=clock.now())
    return BlockedScript.objects.get(shop=shop, source=source, directive=directive)


def allow(row) -> str:
    return reverse(f"admin:apps_{row._meta.model_name}_allow", args=[row.pk])


def text(answer) -> str:
    assert answer.status_code == 200
    return answer.content.decode()


def hosts(shop) -> list[str]:
    return sorted(AllowedScriptHost.objects.filter(shop=shop, installation=None).values_list("host", flat=True))


@pytest.mark.parametrize("model", [ScriptTag, AllowedScriptHost, BlockedScript])
def test_if_the_shop_shares_a_host_with_the_admin_each_page_warns(desk, shop, model):
    put(shop)
    blocked(shop)
    page = text(desk.get(admin_url(model, "changelist")))
    assert "STOREFRONT_ADMIN_HOST and STOREFRONT_SECURE_HOST" in page
    assert "Active" not in page
    row = model.objects.first()
    assert "STOREFRONT_ADMIN_HOST and STOREFRONT_SECURE_HOST" in text(desk.page(row))


@pytest.mark.usefixtures("apart")
class TestScriptTags:
    def test_the_list_shows_which_scripts_run(self, desk, shop):
        runs, stopped, off = put(shop), put(shop, STRANGE, "chat"), put(shop, f"{OWN}?2", "stars")
        ScriptTag.objects.filter(pk=off.pk).update(is_active=False)
        page = text(desk.get(admin_url(ScriptTag, "changelist")))
        for words in (OWN, "Gift notes", "Active", "Blocked: cdn.example.net is not allowed", "Off"):
            assert words in page
        assert "STOREFRONT_ADMIN_HOST" not in page
        assert "Active" in text(desk.page(runs))
        assert "is not allowed" in text(desk.page(stopped))

    def test_turning_a_script_off_changes_nothing_else(self, desk, shop):
        tag = put(shop)
        assert desk.fill(tag, is_active="", src="https://evil.example/x.js", location="body_end").status_code == 302
        row = ScriptTag.objects.get()
        assert (row.is_active, row.src, row.location) == (False, OWN, "head")
        assert row.updated_at > tag.updated_at

    def test_allows_the_host_of_a_blocked_script(self, desk, shop):
        tag = put(shop, STRANGE)
        assert "Allow scripts from cdn.example.net on the shop&#x27;s pages?" in text(desk.get(allow(tag)))
        assert hosts(shop) == [], "looking is not allowing"
        assert "Scripts from cdn.example.net are now allowed." in text(desk.post(allow(tag), follow=True))
        assert hosts(shop) == ["cdn.example.net"]
        assert "Active" in text(desk.page(tag))
        assert allow(tag) not in text(desk.page(tag))

    def test_the_list_takes_as_many_queries_for_many(self, desk, shop, django_assert_num_queries):
        put(shop)
        url = admin_url(ScriptTag, "changelist")
        desk.get(url)
        with CaptureQueriesContext(connection) as counted:
            desk.get(url)
        for number in range(5):
            put(shop, slug=f"app-of-{number}")
        with django_assert_num_queries(len(counted)):
            answer = desk.get(url)
        assert len(answer.context["cl"].result_list) == 6


class TestBlockedScripts:
    def test_the_list_shows_blocked_sources_and_their_apps(self, desk, shop):
        put(shop, f"{STRANGE}?v=2")
        blocked(shop)
        blocked(shop)
        blocked(shop, "https://other.example/api", "connect-src")
        page = text(desk.get(admin_url(BlockedScript, "changelist")))
        for words in (STRANGE, "Gift notes", "Script", "/basket", "https://other.example/api", "Call"):
            assert words in page
        assert BlockedScript.objects.get(source=STRANGE).times == 2

    def test_allowing_the_host_deletes_its_reports(self, desk, shop):
        row = blocked(shop)
        for source in ("https://cdn.example.net/api", "https://cdn.example.net:8443/x.js", "https://other.example/x"):
            blocked(shop, source)
        page = text(desk.get(allow(row)))
        assert "Allow scripts from cdn.example.net on the shop&#x27;s pages?" in page
        assert "Anybody can make a browser report" in page
        assert "Scripts from cdn.example.net are now allowed" in text(desk.post(allow(row), follow=True))
        assert hosts(shop) == ["cdn.example.net"]
        left = BlockedScript.objects.order_by("source").values_list("source", flat=True)
        assert list(left) == ["https://cdn.example.net:8443/x.js", "https://other.example/x"]

    def test_deletes_a_report(self, desk, shop):
        row = blocked(shop)
        assert desk.post(admin_url(row, "delete"), {"post": "yes"}).status_code == 302
        assert not BlockedScript.objects.exists()
        assert hosts(shop) == []

    def test_the_list_takes_as_many_queries_for_many(self, desk, shop, django_assert_num_queries):
        put(shop)
        blocked(shop)
        url = admin_url(BlockedScript, "changelist")
        desk.get(url)
        with CaptureQueriesContext(connection) as counted:
            desk.get(url)
        for number in range(5):
            put(shop, f"{STRANGE}?{number}", slug=f"app-of-{number}")
            blocked(shop, f"https://h{number}.example/x.js")
        with django_assert_num_queries(len(counted)):
            answer = desk.get(url)
        assert len(answer.context["cl"].result_list) == 6


class TestAllowedHosts:
    @pytest.mark.parametrize(
        ("given", "host"),
        [
            ("scripts.example.com", "scripts.example.com"),
            (" Scripts.Example.COM ", "scripts.example.com"),
            ("scripts.example.com:8443", "scripts.example.com:8443"),
            ("scripts.example.com:443", "scripts.example.com"),
            ("https://scripts.example.com/x.js?v=1", "scripts.example.com"),
        ],
    )
    def test_allows_a_host(self, desk, shop, given, host):
        assert desk.fill(AllowedScriptHost, host=given).status_code == 302
        assert hosts(shop) == [host]

    @pytest.mark.parametrize(
        "given",
        [
            *("", "*", "*.example.com", "a b", "a,b", "a;b.example.com", "'unsafe-inline'", "https:", "data:", "com"),
            *("a:0", "a.example.com:99999", "me@a.example.com", "https://me:pw@a.example.com/", "ftp://a.example.com"),
            *("localhost", "10.0.0.1", "[::1]", "münchen.example", "x" * 64 + ".example.com"),
        ],
    )
    def test_refuses_a_host_that_is_not_public(self, desk, shop, given, settings):
        settings.ALLOW_PRIVATE_CALLBACKS = False
        answer = desk.fill(AllowedScriptHost, host=given)
        assert answer.status_code == 200
        assert answer.context_data["adminform"].form.errors["host"]
        assert hosts(shop) == []

    def test_refuses_an_allowed_host_with_a_sentence(self, desk, shop):
        allow_script_host(shop=shop, host="cdn.example.net", now=clock.now())
        assert "host" in desk.fill(AllowedScriptHost, host="CDN.example.net").context_data["adminform"].form.errors
        assert hosts(shop) == ["cdn.example.net"]

    def test_the_number_of_hosts_is_limited(self, desk, shop, other_shop):
        allow_script_host(shop=other_shop, host="cdn.example.net", now=clock.now())
        for number in range(MAX_HOSTS):
            allow_script_host(shop=shop, host=f"h{number}.example.com", now=clock.now())
        assert "A shop can allow 30 hosts." in text(desk.fill(AllowedScriptHost, host="cdn.example.net", follow=True))
        assert len(hosts(shop)) == MAX_HOSTS

    def test_the_merchants_hosts_can_be_deleted_and_an_apps_only_with_the_app(self, desk, shop):
        put(shop)
        own = allow_script_host(shop=shop, host="cdn.example.net", now=clock.now())
        apps = AllowedScriptHost.objects.exclude(installation=None).get()
        assert "Installing Gift notes" in text(desk.get(admin_url(AllowedScriptHost, "changelist")))
        assert desk.post(admin_url(apps, "delete"), {"post": "yes"}).status_code == 403
        desk.choose(AllowedScriptHost, "delete_selected", apps, own, post="yes")
        assert set(AllowedScriptHost.objects.all()) == {apps, own}
        assert desk.post(admin_url(own, "delete"), {"post": "yes"}).status_code == 302
        assert list(AllowedScriptHost.objects.all()) == [apps]
