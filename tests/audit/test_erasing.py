"""A person is taken out of a shop's log: what happened stays, who they are does not; another shop is untouched."""

import json

import pytest
from django.core.management import call_command

from storefront import audit
from storefront.audit.erasing import erase_person
from storefront.customers.models import Customer
from storefront.kit.refusals import InvalidFields
from storefront.shops.models import AuditEntry
from storefront.shops.scopes import SCOPES
from tests.audit.entries import entries
from tests.catalogue.factories import make_product
from tests.client import ApiClient
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW
from tests.staff import make_staff, open_desk

ADA = {"email": "ada@example.com", "name": "Ada Lovelace", "phone": "+49 431 1234"}
BOOK = [{"name": "Ada Lovelace", "line1": "Hafen 1", "city": "Kiel", "country": "DE", "postal_code": "24103"}]


def everything(shop) -> str:
    """All that the log has of a shop, with letters as people write them."""
    rows = AuditEntry.objects.filter(shop=shop).order_by("id").values()
    return json.dumps(list(rows), default=str, ensure_ascii=False)


def live(shop):
    """A customer who comes by the API, is renamed, gets a new address, and whose order is remarked on."""
    api = install(shop, *SCOPES).api
    ada = api.post("/customers", ADA | {"addresses": BOOK}).json()["customer"]["id"]
    api.patch(f"/customers/{ada}", {"name": "Ada King", "note": "Likes tea"})
    order = make_order(shop, sale_line(make_product(shop, "Mug")), customer_id=ada)
    api.patch(f"/orders/{order.pk}", {"note": "Ada rang"})
    api.patch(f"/customers/{ada}", {"email": "countess@example.com"})
    return ada


def erase(shop, email, capsys) -> int:
    capsys.readouterr()
    call_command("eraseaudit", shop=shop.domain, email=email)
    return json.loads(capsys.readouterr().out)["erased"]


def test_erases_a_customer_under_former_addresses_too(shop, other_shop, capsys):
    ada = live(shop)
    live(other_shop)
    before = entries(shop)
    theirs = everything(other_shop)
    assert erase(shop, "Countess@example.com", capsys) == 5
    left = everything(shop)
    for text in ("ada@example.com", "Ada", "Lovelace", "King", "Kiel", "431 1234", "countess", "Likes tea", "rang"):
        assert text not in left
    assert everything(other_shop) == theirs
    after = entries(shop)
    assert [(entry.pk, entry.action, entry.at) for entry in after[:-1]] == [
        (entry.pk, entry.action, entry.at) for entry in before
    ]
    (made,) = entries(shop, action="customer.created")
    assert (made.object_id, made.object_name, made.after["email"]) == (ada, "[erased]", "[erased]")
    assert made.after["addresses"][0]["city"] == "[erased]"
    assert made.erased_at
    assert made.actor_name == "App-1"


def test_the_erasure_makes_an_entry_without_a_name(shop, capsys):
    live(shop)
    erase(shop, "countess@example.com", capsys)
    (entry,) = entries(shop, action="audit.erased")
    assert (entry.actor_kind, entry.after, entry.object_name) == ("command", {"entries": 5}, "")


def test_erases_a_deleted_customer_by_address(shop):
    ada = live(shop)
    Customer.objects.filter(pk=ada).delete()
    assert erase_person(shop=shop, email="ada@example.com", now=NOW) >= 3
    assert "Lovelace" not in everything(shop)


@pytest.mark.slow
def test_erases_staff_with_their_network_address(shop, other_shop, capsys):
    anna = make_staff(shop)
    make_staff(other_shop, "anna")
    desk = open_desk(anna, shop)
    desk.get("/admin/")
    ben = make_staff(shop, "ben")
    desk.fill(ben.memberships.get(), role="manager")
    desk.fill(make_product(shop, "Mug"), price="1.00")
    assert erase(shop, "anna@example.com", capsys) >= 3
    own = [entry for entry in entries(shop) if entry.actor_kind == "staff"]
    assert {(entry.actor_name, entry.place) for entry in own} == {("[erased]", "[erased]")}
    assert "anna@example.com" not in everything(shop)
    assert "ben@example.com" in everything(shop)
    (changed,) = entries(shop, action="product.updated")
    assert (changed.actor_id, changed.before, changed.after) == (anna.pk, {"price": "9.50"}, {"price": "1.00"})


def test_erases_addresses_that_are_not_ascii(shop):
    with audit.acting(audit.SYSTEM):
        about = audit.Object("product", 5, "Mug")
        note = {"note": "for jürgen@example.com"}
        audit.record(shop=shop, action="product.updated", object=about, after=note, now=NOW)
    assert erase_person(shop=shop, email="jürgen@example.com", now=NOW) == 1
    assert "jürgen" not in everything(shop)


def test_erasing_again_or_an_unknown_address_changes_nothing(shop, capsys):
    live(shop)
    before = everything(shop)
    assert erase(shop, "nobody@example.com", capsys) == 0
    assert everything(shop).startswith(before[:-1])


@pytest.mark.parametrize("email", ["", "a", "%", "_", "ada", "ada@", "@example.com", "ada@example com"])
def test_refuses_what_is_no_email_address(shop, email):
    live(shop)
    before = everything(shop)
    with pytest.raises(InvalidFields) as refused:
        erase_person(shop=shop, email=email, now=NOW)
    assert list(refused.value.errors or {}) == ["email"]
    assert everything(shop) == before


def test_erases_an_address_at_the_end_of_a_sentence(shop):
    with audit.acting(audit.SYSTEM):
        about = audit.Object("product", 5, "Mug")
        audit.record(shop=shop, action="product.updated", object=about, after={"note": "Ask ada@example.com."}, now=NOW)
    assert erase_person(shop=shop, email="ada@example.com", now=NOW) == 1
    assert "ada@example.com" not in everything(shop)


@pytest.mark.parametrize("email", ["da@example.com", "ada@example.co", "%da@example.com", "_da@example.com"])
def test_leaves_similar_addresses(shop, email):
    live(shop)
    before = everything(shop)
    assert erase_person(shop=shop, email=email, now=NOW) == 0
    assert everything(shop).startswith(before[:-1])


def test_the_api_shows_that_an_entry_was_erased(shop, capsys):
    live(shop)
    erase(shop, "countess@example.com", capsys)
    token = install(shop, *SCOPES).token
    answer = ApiClient(token, prefix="/api/apps").get("/audit?action=customer.created").json()["audit"][0]
    assert answer["object"]["name"] == "[erased]"
    assert answer["erased_at"]
