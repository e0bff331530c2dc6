"""Creating and updating customers through both APIs."""

import pytest

from storefront.customers.models import Address, Customer
from tests.addresses import ADDRESS
from tests.carts.factories import make_group
from tests.client import ApiClient
from tests.customers.conftest import one
from tests.customers.factories import add_address, events, make_customer
from tests.factories.apps import install

BODY = {"email": "Ada@Example.com", "name": "Ada Lovelace", "phone": "0431 1", "note": "Likes tea."}


@pytest.fixture
def ada(shop):
    return make_customer(shop, name="Ada")


def test_creates_a_customer(app, shop, form):
    group = make_group(shop)
    answer = app.post("/customers", BODY | {"group_id": group.pk, "addresses": [ADDRESS]})
    assert answer.status_code == 201
    made = one(answer)
    assert (made["email"], made["name"], made["group"]["id"]) == ("ada@example.com", "Ada Lovelace", group.pk)
    assert made["addresses"][0]["city"] == "Kiel"
    assert made["addresses"][0]["is_default"] is True
    assert one(app.get(f"/customers/{made['id']}")) == made
    customer = Customer.objects.get(shop=shop)
    assert not customer.can_sign_in


def test_only_the_email_address_is_required(app, shop):
    made = one(app.post("/customers", {"email": "ada@example.com"}))
    assert (made["name"], made["group"], made["addresses"]) == ("", None, [])


def test_ignores_a_password(app, shop):
    assert app.post("/customers", BODY | {"password": "lighthouse"}).status_code == 201
    assert Customer.objects.get(shop=shop).password == ""


def test_changes_only_the_members_that_are_sent(app, shop, ada):
    group = make_group(shop)
    add_address(ada)
    answer = app.patch(f"/customers/{ada.pk}", {"phone": "0431 2", "group_id": group.pk})
    assert answer.status_code == 200
    changed = one(answer)
    assert (changed["phone"], changed["group"]["id"], changed["name"]) == ("0431 2", group.pk, "Ada")
    assert len(changed["addresses"]) == 1
    assert one(app.patch(f"/customers/{ada.pk}", {"group_id": None}))["group"] is None
    assert changed["updated_at"] > changed["created_at"]


def test_an_update_keeps_the_password(app, ada):
    app.patch(f"/customers/{ada.pk}", {"name": "A."})
    before, after = ada.password, Customer.objects.get(pk=ada.pk).password
    assert before == after


@pytest.mark.rule("R-APP-32")
def test_addresses_are_changed_added_and_removed_and_others_stay(app, ada):
    home, work, hut = add_address(ada), add_address(ada, city="Lübeck", phone="0451 1"), add_address(ada, city="Sylt")
    given = [{"id": work.pk, "city": "Plön", "is_default": True}, ADDRESS | {"city": "Husum"}]
    book = one(app.patch(f"/customers/{ada.pk}", {"addresses": [*given, {"id": home.pk, "remove": True}]}))["addresses"]
    found = {row["id"]: (row["city"], row["is_default"], row["phone"]) for row in book}
    assert (found.pop(work.pk), found.pop(hut.pk)) == (("Plön", True, "0451 1"), ("Sylt", False, ""))
    assert list(found.values()) == [("Husum", False, "")]
    assert not Address.objects.filter(pk=home.pk).exists()


@pytest.mark.rule("R-APP-32")
def test_one_member_of_an_address_changes_alone(app, ada):
    home, work = add_address(ada, is_default=True), add_address(ada, city="Lübeck")
    before = one(app.get(f"/customers/{ada.pk}"))["addresses"]
    after = one(app.patch(f"/customers/{ada.pk}", {"addresses": [{"id": home.pk, "city": "Plön"}]}))["addresses"]
    assert after == [row | {"city": "Plön"} if row["id"] == home.pk else row for row in before]
    assert one(app.patch(f"/customers/{ada.pk}", {"addresses": []}))["addresses"] == after
    moved = one(app.patch(f"/customers/{ada.pk}", {"addresses": [{"id": work.pk, "is_default": True}]}))["addresses"]
    assert {row["id"]: row["is_default"] for row in moved} == {home.pk: False, work.pk: True}


@pytest.mark.parametrize(
    ("entries", "field"),
    [
        ([{"city": "Plön"}], "addresses.0.name"),
        ([{"remove": True}], "addresses.0.remove"),
        ([{"id": "OWN", "city": "Plön"}, {"id": "OWN", "remove": True}], "addresses.1.id"),
        ([{"id": 12345678, "remove": True}], "addresses.0.id"),
    ],
)
def test_an_address_that_cannot_be_written_is_named(app, ada, entries, field):
    home = add_address(ada)
    book = [{name: home.pk if value == "OWN" else value for name, value in entry.items()} for entry in entries]
    answer = app.patch(f"/customers/{ada.pk}", {"name": "A. L.", "addresses": book})
    assert (answer.status_code, next(iter(answer.json()["errors"]))) == (422, field)
    ada.refresh_from_db()
    assert (ada.name, Address.objects.get().city) == ("Ada", "Kiel")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("email", "nobody"),
        ("email", ""),
        ("email", None),
        ("email", 12),
        ("email", "a@example.com\r\nBcc: b@example.com"),
        ("email", "a" * 250 + "@example.com"),
        ("name", "x" * 201),
        ("name", "two\nlines"),
        ("name", None),
        ("phone", "1" * 41),
        ("note", "x\u0000y"),
        ("group_id", "1"),
        ("group_id", 12345678),
        ("addresses", {}),
    ],
)
def test_names_the_invalid_field(app, shop, ada, field, value):
    for answer in (
        app.post("/customers", {"email": "new@example.com", field: value}),
        app.patch(f"/customers/{ada.pk}", {field: value}),
    ):
        assert answer.status_code == 422, answer.content
        assert list(answer.json()["errors"]) == [field]
    assert Customer.objects.count() == 1


def test_refuses_a_customer_without_an_email_address(app, shop):
    assert app.post("/customers", {"name": "Ada"}).json()["errors"] == {"email": ["email is required."]}


@pytest.mark.parametrize(
    ("field", "value"), [("country", "XX"), ("country", ""), ("line1", ""), ("city", None), ("is_default", "yes")]
)
def test_names_an_invalid_address_field_with_its_index(app, shop, field, value):
    answer = app.post("/customers", BODY | {"addresses": [ADDRESS, ADDRESS | {field: value}]})
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [f"addresses.1.{field}"]


def test_refuses_two_default_addresses_and_another_customers_address(app, shop, ada):
    other = add_address(make_customer(shop, "b@example.com"))
    for book, field in (([ADDRESS | {"is_default": True}] * 2, ""), ([ADDRESS | {"id": other.pk}], ".0.id")):
        answer = app.patch(f"/customers/{ada.pk}", {"addresses": book})
        assert answer.status_code == 422
        assert list(answer.json()["errors"]) == [f"addresses{field}"]
    assert Address.objects.count() == 1


@pytest.mark.parametrize("email", ["ada@example.com", "ADA@EXAMPLE.COM", " Ada@example.com "])
def test_an_email_address_is_unique_ignoring_case(app, shop, ada, email):
    other = make_customer(shop, "b@example.com")
    for answer in (app.post("/customers", {"email": email}), app.patch(f"/customers/{other.pk}", {"email": email})):
        assert answer.status_code == 422
        assert answer.json()["errors"] == {"email": ["Another customer already has this email address."]}


def test_the_same_address_at_another_shop_is_another_customer(app, shop, other_shop):
    make_customer(other_shop)
    assert app.post("/customers", BODY).status_code == 201


def test_another_shops_customer_group_and_address_are_unknown(app, shop, other_shop, ada):
    theirs = make_customer(other_shop)
    answer = app.patch(f"/customers/{theirs.pk}", {"name": "Mine"})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    answer = app.patch(f"/customers/{ada.pk}", {"group_id": make_group(other_shop).pk})
    assert list(answer.json()["errors"]) == ["group_id"]
    book = [ADDRESS | {"id": add_address(theirs).pk}]
    assert app.patch(f"/customers/{ada.pk}", {"addresses": book}).status_code == 422
    theirs.refresh_from_db()
    assert theirs.name == ""


def test_events_contain_the_record(app, shop, other_shop):
    made = one(app.post("/customers", BODY))
    changed = one(app.patch(f"/customers/{made['id']}", {"name": "A. L."}))
    assert events(shop) == [("customer.created", made), ("customer.updated", changed)]
    assert events(other_shop) == []


def test_a_refused_change_records_no_event(app, shop, ada):
    app.post("/customers", {"email": ada.email})
    app.patch(f"/customers/{ada.pk}", {"group_id": 12345})
    assert events(shop) == []


def test_the_read_scope_does_not_allow_writing(shop, form, ada):
    api = ApiClient(install(shop, "read_customers").token, prefix=form)
    for answer in (api.post("/customers", BODY), api.patch(f"/customers/{ada.pk}", {"name": "A"})):
        assert answer.status_code == 403
        assert answer.json()["required_scopes"] == ["write_customers"]


def test_writes_take_a_constant_number_of_queries(app, shop, ada, django_assert_max_num_queries):
    with django_assert_max_num_queries(20):
        created = app.post("/customers", BODY | {"email": "c@example.com", "addresses": [ADDRESS]})
    assert (created.status_code, len(one(created)["addresses"])) == (201, 1)
    with django_assert_max_num_queries(13):
        changed = app.patch(f"/customers/{ada.pk}", {"name": "A"})
    assert (changed.status_code, one(changed)["name"]) == (200, "A")
