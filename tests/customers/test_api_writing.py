"""Making and changing customers, in both forms of the resource."""

import pytest

from storefront.customers.models import Address, Customer
from tests.carts.factories import make_group
from tests.client import ApiClient
from tests.customers.conftest import one
from tests.customers.factories import ADDRESS, add_address, events, make_customer
from tests.factories.apps import install

BODY = {"email": "Ada@Example.com", "name": "Ada Lovelace", "phone": "0431 1", "note": "Likes tea."}


@pytest.fixture
def ada(shop):
    return make_customer(shop, name="Ada")


def test_a_customer_is_made(app, shop, form):
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


def test_an_e_mail_address_is_enough(app, shop):
    made = one(app.post("/customers", {"email": "ada@example.com"}))
    assert (made["name"], made["group"], made["addresses"]) == ("", None, [])


def test_a_password_that_is_sent_is_not_taken(app, shop):
    assert app.post("/customers", BODY | {"password": "lighthouse"}).status_code == 201
    assert Customer.objects.get(shop=shop).password == ""


def test_what_is_sent_is_changed_and_nothing_else(app, shop, ada):
    group = make_group(shop)
    add_address(ada)
    answer = app.patch(f"/customers/{ada.pk}", {"phone": "0431 2", "group_id": group.pk})
    assert answer.status_code == 200
    changed = one(answer)
    assert (changed["phone"], changed["group"]["id"], changed["name"]) == ("0431 2", group.pk, "Ada")
    assert len(changed["addresses"]) == 1
    assert one(app.patch(f"/customers/{ada.pk}", {"group_id": None}))["group"] is None
    assert changed["updated_at"] > changed["created_at"]


def test_changing_keeps_the_password(app, ada):
    app.patch(f"/customers/{ada.pk}", {"name": "A."})
    before, after = ada.password, Customer.objects.get(pk=ada.pk).password
    assert before == after


def test_an_address_book_is_replaced_and_an_id_keeps_its_address(app, ada):
    home, work = add_address(ada), add_address(ada, city="Lübeck")
    given = [ADDRESS | {"id": work.pk, "city": "Plön", "is_default": True}, ADDRESS | {"city": "Husum"}]
    book = one(app.patch(f"/customers/{ada.pk}", {"addresses": given}))["addresses"]
    assert [(row["city"], row["is_default"]) for row in book] == [("Plön", True), ("Husum", False)]
    assert book[0]["id"] == work.pk
    assert not Address.objects.filter(pk=home.pk).exists()


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
def test_a_field_that_does_not_fit_is_named(app, shop, ada, field, value):
    for answer in (
        app.post("/customers", {"email": "new@example.com", field: value}),
        app.patch(f"/customers/{ada.pk}", {field: value}),
    ):
        assert answer.status_code == 422, answer.content
        assert list(answer.json()["errors"]) == [field]
    assert Customer.objects.count() == 1


def test_a_customer_without_an_e_mail_address_is_refused(app, shop):
    assert app.post("/customers", {"name": "Ada"}).json()["errors"] == {"email": ["email is required."]}


@pytest.mark.parametrize(
    ("field", "value"), [("country", "XX"), ("country", ""), ("line1", ""), ("city", None), ("is_default", "yes")]
)
def test_a_field_of_an_address_is_named_with_its_place(app, shop, field, value):
    answer = app.post("/customers", BODY | {"addresses": [ADDRESS, ADDRESS | {field: value}]})
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == [f"addresses.1.{field}"]


def test_two_default_addresses_and_an_address_of_somebody_else_are_refused(app, shop, ada):
    other = add_address(make_customer(shop, "b@example.com"))
    for book in ([ADDRESS | {"is_default": True}] * 2, [ADDRESS | {"id": other.pk}]):
        answer = app.patch(f"/customers/{ada.pk}", {"addresses": book})
        assert answer.status_code == 422
        assert list(answer.json()["errors"]) == ["addresses"]
    assert Address.objects.count() == 1


@pytest.mark.parametrize("email", ["ada@example.com", "ADA@EXAMPLE.COM", " Ada@example.com "])
def test_an_e_mail_address_is_one_customers_whatever_its_case(app, shop, ada, email):
    other = make_customer(shop, "b@example.com")
    for answer in (app.post("/customers", {"email": email}), app.patch(f"/customers/{other.pk}", {"email": email})):
        assert answer.status_code == 422
        assert answer.json()["errors"] == {"email": ["Another customer has this e-mail address."]}


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


def test_events_tell_the_record(app, shop, other_shop):
    made = one(app.post("/customers", BODY))
    changed = one(app.patch(f"/customers/{made['id']}", {"name": "A. L."}))
    assert events(shop) == [("customer.created", made), ("customer.updated", changed)]
    assert events(other_shop) == []


def test_what_is_refused_is_not_told(app, shop, ada):
    app.post("/customers", {"email": ada.email})
    app.patch(f"/customers/{ada.pk}", {"group_id": 12345})
    assert events(shop) == []


def test_reading_does_not_let_write(shop, form, ada):
    api = ApiClient(install(shop, "read_customers").token, prefix=form)
    for answer in (api.post("/customers", BODY), api.patch(f"/customers/{ada.pk}", {"name": "A"})):
        assert answer.status_code == 403
        assert answer.json()["required_scopes"] == ["write_customers"]


def test_a_repeated_post_makes_one(app, shop):
    first, again = (app.post("/customers", BODY, Idempotency_Key="k1") for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert Customer.objects.count() == 1


def test_writes_ask_a_constant_number_of_times(app, shop, ada, django_assert_max_num_queries):
    with django_assert_max_num_queries(18):
        app.post("/customers", BODY | {"email": "c@example.com", "addresses": [ADDRESS]})
    with django_assert_max_num_queries(12):
        app.patch(f"/customers/{ada.pk}", {"name": "A"})
