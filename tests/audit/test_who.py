"""The actor of an entry is set per request, command or task, and does not leak into another."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.management import call_command
from django.db import transaction

from storefront import audit
from storefront.server.middleware import RequestFrame, VisitorAddress
from storefront.shops.models import ApiToken, AuditEntry
from storefront.shops.scopes import SCOPES
from storefront.staff import actions
from tests.audit.entries import entries, one_entry
from tests.factories.apps import install
from tests.shops.factories import NOW, make_shop, make_token
from tests.staff import make_staff, open_desk


def test_without_an_actor_the_entry_names_the_system(shop):
    with one_entry(shop) as found:
        make_token(shop)
    assert (found[0].actor_kind, found[0].actor_id, found[0].actor_name, found[0].place) == ("system", None, "", "")
    assert found[0].after["scopes"] == list(SCOPES)


def test_a_commands_entry_names_the_system_user_and_host(shop, monkeypatch, capsys):
    monkeypatch.setattr("getpass.getuser", lambda: "deploy")
    monkeypatch.setattr("socket.gethostname", lambda: "web1")
    with one_entry(shop) as found:
        call_command("createtoken", shop=shop.domain, scopes="read_products")
    secret = capsys.readouterr().out.strip()
    assert (found[0].actor_kind, found[0].actor_name, found[0].place) == (
        "command",
        "createtoken, run by deploy",
        "web1",
    )
    assert secret not in str(list(AuditEntry.objects.values()))
    with one_entry(shop) as found:
        make_token(shop)
    assert found[0].actor_kind == "system"


def test_the_entry_of_a_new_shop_names_the_command(db):
    call_command("createshop", domain="new.example.com", name="New", base_url="https://new.example.com")
    first, *pages = AuditEntry.objects.order_by("pk")
    assert (first.action, first.actor_kind, first.object_name) == ("shop.created", "command", "New")
    assert {(entry.action, entry.actor_kind) for entry in pages} == {("page.created", "command")}


def test_no_actor_is_left_after_a_request(shop):
    api = install(shop, *SCOPES).api
    api.post("/products", {"name": "Cup"})
    with one_entry(shop) as found:
        make_token(shop)
    assert found[0].actor_kind == "system"


def test_no_actor_is_left_after_a_failed_request(shop, rf):
    def break_down(request):
        audit.act_as(audit.Actor(audit.Kind.STAFF, 1, "anna@example.com"))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        VisitorAddress(RequestFrame(break_down))(rf.get("/"))
    assert audit.current_actor() == audit.SYSTEM
    assert audit.current_place() == ""


def test_the_next_request_of_the_same_thread_starts_without_an_actor(shop, rf):
    seen = []

    def page(request):
        seen.append((audit.current_actor(), audit.current_place()))
        audit.act_as(audit.Actor(audit.Kind.STAFF, 1, "anna@example.com"))

        class Answer(dict):
            pass

        return Answer()

    for address in ("192.0.2.1", "2001:db8::1"):
        VisitorAddress(RequestFrame(page))(rf.get("/", REMOTE_ADDR=address))
    nobody = audit.Actor(audit.Kind.CUSTOMER)
    assert seen == [(nobody, "192.0.2.1"), (nobody, "2001:db8::/64")]


def test_threads_do_not_share_the_actor():
    def who(number):
        with audit.acting(audit.Actor(audit.Kind.STAFF, number)):
            return [audit.current_actor().id for _ in range(200)]

    with ThreadPoolExecutor(8) as pool:
        assert [set(found) for found in pool.map(who, range(50))] == [{number} for number in range(50)]
    assert audit.current_actor() == audit.SYSTEM


def test_a_nested_actor_ends_with_its_block():
    with audit.acting(audit.Actor(audit.Kind.WORKER), place="web1"):
        with audit.acting(audit.Actor(audit.Kind.STAFF, 7), place="192.0.2.7"):
            assert (audit.current_actor().id, audit.current_place()) == (7, "192.0.2.7")
        assert (audit.current_actor().kind, audit.current_place()) == ("worker", "web1")


def test_entries_distinguish_two_tokens_of_one_shop(shop):
    from tests.client import ApiClient

    names = {name: actions.create_api_token(shop=shop, scopes=list(SCOPES), name=name, now=NOW)[1] for name in "AB"}
    for name, token in names.items():
        ApiClient(token).post("/customers", {"email": f"{name}@example.com"})
    recorded = [(entry.actor_name, entry.actor_id) for entry in entries(shop, action="customer.created")]
    assert recorded == [(name, ApiToken.objects.get(name=name).pk) for name in "AB"]


def test_the_entry_is_rolled_back_with_its_change(shop):
    before = len(entries(shop))
    with transaction.atomic():
        make_token(shop)
        transaction.set_rollback(True)
    assert len(entries(shop)) == before


def test_an_unknown_action_raises_an_error(shop):
    with pytest.raises(ValueError, match=r"product\.painted"):
        audit.record(shop=shop, action="product.painted", now=NOW)


def test_opening_a_shop_is_recorded_once_a_session(shop, other_shop):
    anna = make_staff(shop)
    make_staff(other_shop, "anna", role="manager")
    desk = open_desk(anna)
    for _ in range(2):
        desk.get("/admin/")
    (entry,) = [*entries(shop, action="staff.signed_in"), *entries(other_shop, action="staff.signed_in")]
    assert (entry.actor_id, entry.actor_name, entry.place) == (anna.pk, "anna@example.com", "127.0.0.1")
    first, second = (other_shop, shop) if entry.shop_id == other_shop.pk else (shop, other_shop)
    desk.post("/admin/shop/", {"shop": second.pk})
    assert len(entries(second, action="staff.signed_in")) == len(entries(first, action="staff.signed_in")) == 1
    open_desk(anna).get("/admin/")
    assert len(entries(first, action="staff.signed_in")) == 2


def test_each_shop_has_its_own_log(db):
    shops = [make_shop(f"s{number}.example.com") for number in range(3)]
    make_token(shops[1])
    assert [[entry.action for entry in entries(shop)] for shop in shops] == [
        ["shop.created"],
        ["shop.created", "token.created"],
        ["shop.created"],
    ]
