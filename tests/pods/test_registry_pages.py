"""A pod that reads accounts and apps from pod 0: pages, actions and commands say where these are changed, and nothing
is lost; who has an account signs in."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse

from storefront.apps import actions
from storefront.installations.models import App
from storefront.kit import clock as product_clock
from storefront.kit.refusals import InvalidFields
from storefront.pods import registry, registry_triggers
from storefront.pods.registry import WrittenInPodZero
from storefront.server import cli, sealed
from storefront.shops.models import Authenticator, FactorUse, Passkey, RecoveryCode, StaffInvitation, StaffMember, User
from storefront.staff import invitations, second_factor
from storefront.staff.factor_uses import use_here
from tests.factories.apps import install, make_app
from tests.staff import admin_url, make_staff, open_desk
from tests.staff.authenticators import SoftKey, code_of, options_of
from tests.staff.signing_in import KEY, PASSWORD, give_app, half_in, is_in, send, sign_in

pytestmark = [
    pytest.mark.sql,
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="pods are PostgreSQL databases"),
]
HOME = "https://admin.example.com"


@pytest.fixture
def join(db, settings):
    """Makes this a pod that has joined, with the rows that are there."""

    def joined() -> None:
        settings.POD, settings.REGISTRY_URL = 5, HOME
        with connection.cursor() as cursor:
            # What a shop's constraints have deferred is checked before a table changes.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            registry_triggers.create(cursor, sentence=registry.where())

    return joined


def make_operator(shop) -> User:
    return User.objects.create_superuser("operator", "operator@example.com", PASSWORD)


def is_elsewhere(answer) -> bool:
    assert "Traceback" not in answer.content.decode()
    return answer.status_code == 409 and f'href="{HOME}/admin/' in answer.content.decode()


class TestWithoutPods:
    def test_nothing_is_asked_of_the_database(self, db, django_assert_num_queries):
        with django_assert_num_queries(0):
            assert registry.is_written_here()
            registry.require_writable()

    def test_a_pod_with_its_own_registry_writes_it(self, db, settings):
        settings.POD = 5
        assert not registry.is_joined(using="default")
        assert make_app().pk


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE shops_user SET email = 'x@example.com'",
        "INSERT INTO apps_app SELECT * FROM apps_app",
        "DELETE FROM shops_recoverycode",
        "TRUNCATE shops_passkey",
        "UPDATE shops_authenticator SET last_step = 0 WHERE false",
    ],
)
def test_the_database_refuses_whatever_the_code_does(join, shop, statement):
    make_staff(shop)
    make_app()
    join()
    with pytest.raises(DatabaseError) as caught, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert registry.is_refused(caught.value)
    assert HOME in str(caught.value)


def test_what_nobody_refused_before_is_a_sentence_on_a_page_and_on_the_command_line(join, shop, capsys):
    desk = open_desk(make_operator(shop))
    app = make_app()
    join()

    def write() -> int:
        with transaction.atomic():
            app.save()
        return 0

    assert cli.exit_code_of(write) == 1
    assert HOME in capsys.readouterr().err
    desk.raise_request_exception = False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("storefront.apps.admin.elsewhere", lambda *_: None)
        patch.setattr("storefront.apps.admin.registry.is_written_here", lambda: True)
        form = {"name": "Other", "slug": app.slug, "install_url": app.install_url}
        answer = desk.post(admin_url(app, "change"), form)
    assert answer.status_code == 409
    assert HOME in answer.content.decode()


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("get", "admin:password_change"),
        ("post", "admin:password_change"),
        ("get", "admin:security_add"),
        ("post", "admin:security_add"),
        ("post", "admin:security_remove"),
        ("post", "admin:security_codes"),
        ("get", "admin:apps_app_add"),
        ("post", "admin:apps_app_add"),
    ],
)
def test_a_page_that_changes_them_leads_to_pod_0(join, shop, method, name):
    desk = open_desk(make_operator(shop))
    join()
    assert is_elsewhere(getattr(desk, method)(reverse(name), {"new_password1": "harbour-lane-7"}))


def test_a_page_for_a_new_password_leads_to_pod_0(join, shop):
    user = make_staff(shop)
    join()
    assert is_elsewhere(Client().get(reverse("admin:password_reset_confirm", args=["MQ"])))
    assert User.objects.get(pk=user.pk).password == user.password


class TestApps:
    def test_are_seen_and_installed_and_not_changed(self, join, shop):
        desk, app = open_desk(make_operator(shop)), make_app()
        join()
        assert "Add" not in desk.get(admin_url(App, "changelist")).content.decode().split("All apps")[-1]
        assert desk.page(app).status_code == 200
        assert is_elsewhere(desk.post(admin_url(app, "change"), {"name": "Other"}))
        installed = desk.post(reverse("admin:apps_app_install", args=[app.pk]), {"scopes": ["read_shop"]})
        assert "app_" in installed.content.decode()
        refused = desk.post(reverse("admin:apps_app_rotate_secret", args=[app.pk]), follow=True)
        assert HOME in refused.content.decode()

    def test_are_registered_elsewhere(self, join, db):
        join()
        with pytest.raises(WrittenInPodZero, match=HOME):
            call_command(
                "createapp", "--name=Notes", "--slug=notes", "--install-url=http://localhost:9/", "--scopes=read_shop"
            )

    def test_that_pod_0_deleted_are_uninstalled(self, join, shop, other_shop, settings):
        app, other = install(shop, "read_shop"), install(other_shop, "read_shop")
        App.objects.filter(pk=app.installation.app_id).update(slug=f"deleted--{app.installation.app_id}")
        join()
        assert actions.uninstall_deleted(now=product_clock.now(), limit=10) == 1
        assert app.api.get("/shop").status_code == 401
        assert other.api.get("/shop").status_code == 200
        assert actions.uninstall_deleted(now=product_clock.now(), limit=10) == 0
        settings.POD = 0
        with pytest.raises(InvalidFields) as caught:
            make_app("deleted--1")
        assert "slug" in caught.value.errors


class TestSignIn:
    def test_with_a_code_that_is_used_up_here(self, join, shop, clock):
        user = make_staff(shop)
        app = give_app(user)
        join()
        browser = half_in(user)
        assert send(browser, code_of(KEY)).status_code == 302
        assert is_in(browser)
        assert not is_in_with(user, code_of(KEY))
        clock.shift(timedelta(seconds=60))
        assert is_in_with(user, code_of(KEY))
        assert FactorUse.objects.get().factor_id == app.pk
        assert Authenticator.objects.get(pk=app.pk).last_step == -1
        assert User.objects.get(pk=user.pk).last_login is None

    def test_with_a_code_that_pod_0_has_used_up(self, join, shop, clock):
        user = make_staff(shop)
        give_app(user)
        assert second_factor.use_code(user=user, code=code_of(KEY), now=product_clock.now()) == "app"
        join()
        assert not is_in_with(user, code_of(KEY))

    def test_with_a_recovery_code_is_refused_and_the_code_stays(self, join, shop):
        user = make_staff(shop)
        give_app(user)
        code = second_factor.new_recovery_codes(user=user)[0]
        join()
        browser = half_in(user)
        answer = send(browser, code)
        assert "no recovery codes" in answer.content.decode()
        assert HOME in answer.content.decode()
        assert RecoveryCode.objects.filter(user=user).count() == second_factor.RECOVERY_CODES

    def test_with_a_passkey_whose_copy_is_noticed(self, join, shop):
        user, key = make_staff(shop), SoftKey()
        desk = open_desk(user)
        desk.post("/admin/security/add/", {"passkey": key.make(options_of(desk.get("/admin/security/add/")))})
        join()
        for count, is_right in ((3, True), (3, False), (2, False), (4, True)):
            browser = half_in(user)
            answer = key.sign(options_of(browser.get("/admin/login/second/")), count=count)
            browser.post("/admin/login/second/", {"passkey": answer})
            assert is_in(browser) == is_right, count
        assert Passkey.objects.get().sign_count == 0

    def test_a_password_of_an_older_hasher_is_accepted_and_stays(self, join, shop, settings):
        settings.PASSWORD_HASHERS = [
            "django.contrib.auth.hashers.MD5PasswordHasher",
            "django.contrib.auth.hashers.PBKDF2PasswordHasher",
        ]
        user = make_staff(shop)
        join()
        settings.PASSWORD_HASHERS = settings.PASSWORD_HASHERS[::-1]
        browser = Client()
        assert sign_in(browser).status_code == 302
        assert is_in(browser)
        assert User.objects.get(pk=user.pk).password == user.password

    def test_who_must_have_a_second_factor_sets_it_up_in_pod_0(self, join, shop, settings):
        make_staff(shop)
        settings.STAFF_SECOND_FACTOR = "owners"
        join()
        browser = Client()
        assert sign_in(browser)["Location"] == "/admin/login/enrol/"
        assert is_elsewhere(browser.get("/admin/login/enrol/"))
        assert not is_in(browser)


def is_in_with(user, code: str) -> bool:
    browser = half_in(user)
    send(browser, code)
    return is_in(browser)


def test_a_use_is_stored_once(db):
    assert [use_here("app", 7, step) for step in (5, 5, 4, 6)] == [True, False, False, True]
    assert [use_here("passkey", 7, count) for count in (0, 0, 3, 0)] == [True, True, True, False]


class TestInvitations:
    def link(self, shop, email: str) -> str:
        now = product_clock.now()
        made = invitations.invite_staff(shop=shop, email=email, role="manager", invited_by=None, now=now)
        link = invitations.new_link(shop=shop, invitation_id=made.pk, now=now)
        assert link
        return link.removeprefix(shop.base_url)

    def test_are_accepted_by_who_has_an_account(self, join, shop, other_shop):
        bert = make_staff(other_shop, "bert")
        join()
        desk = open_desk(bert, other_shop)
        desk.get(self.link(shop, bert.email))
        assert desk.post("/admin/invitation/accept/").status_code in (302, 303)
        assert StaffMember.objects.filter(shop=shop, user=bert).exists()

    def test_lead_who_has_none_to_pod_0_and_back(self, join, shop, settings):
        """Pod 0 is played by the same database once it may be written again."""
        join()
        browser = Client()
        browser.get(self.link(shop, "bo@example.com"))
        page = browser.get("/admin/invitation/accept/").content.decode()
        path = page.split(f'href="{HOME}')[1].split('"')[0]
        assert browser.post("/admin/invitation/accept/", {"name": "Bo"}).status_code == 200
        assert not User.objects.filter(email="bo@example.com").exists()
        settings.POD = 0
        with connection.cursor() as cursor:
            registry_triggers.drop(cursor)
        there = Client()
        assert there.get(path)["Location"] == "/admin/new-account/create/"
        mistyped = {"name": "Bo", "new_password1": "harbour-lane-7", "new_password2": "harbour"}
        again = there.post("/admin/new-account/create/", mistyped)
        assert again.status_code == 422
        assert 'value="Bo"' in again.content.decode()
        made = there.post("/admin/new-account/create/", mistyped | {"new_password2": "harbour-lane-7"})
        assert f'href="{shop.base_url}/admin/invitation/accept/"' in made.content.decode()
        person = User.objects.get(email="bo@example.com")
        assert person.check_password("harbour-lane-7")
        assert not StaffMember.objects.filter(user=person).exists()
        # The same link makes no second account, and changes no password.
        assert "Back to the invitation" in there.post("/admin/new-account/create/", mistyped).content.decode()
        assert StaffInvitation.objects.get().accepted_at is None

    @pytest.mark.parametrize("token", ["", "x", "eyJlbWFpbCI6ImFAYi5jIn0:1abcde:forged"])
    def test_a_forged_offer_makes_no_account(self, db, token):
        there = Client()
        assert there.get("/admin/new-account/", {"token": token}).status_code == 403
        assert there.post("/admin/new-account/create/", {"name": "Bo"}).status_code == 403


def test_a_mailed_link_for_a_new_password_leads_to_pod_0(join, shop, mailoutbox):
    from storefront.staff.jobs import send_password_reset

    user = make_staff(shop)
    join()
    send_password_reset.func(None, user.email)
    assert f"{HOME}/admin/password_reset/link/?uid=" in mailoutbox[0].body


def test_commands_say_where(join, shop):
    user = make_staff(shop)
    give_app(user)
    make_app()
    join()
    with pytest.raises(WrittenInPodZero):
        call_command("resetsecondfactor", "--email", user.email)
    assert {kind.what for kind in sealed.reseal()}.isdisjoint({"secrets of apps", "keys of authenticator apps"})
