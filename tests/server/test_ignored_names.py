"""The header `X-Ignored` names what the service does not know of a request (R-CALL-31)."""

import pytest

from tests.catalogue.factories import make_product
from tests.factories.apps import install
from tests.server.edges import EdgeClient


@pytest.mark.rule("R-CALL-31")
def test_unknown_parameters_are_named_in_their_order(api):
    answer = api.get("/products?pageSize=5&per_page=2&Sort=name")
    assert (answer.status_code, answer["X-Ignored"]) == (200, "pageSize, Sort")


def test_without_unknown_names_there_is_no_header(api, shop):
    mug = make_product(shop)
    for answer in (
        api.get("/products?per_page=2"),
        api.get("/products/nothing"),
        api.post("/cart", {"product_id": mug.pk, "qty": 1, "custom_fields": [{"name": "a", "value": "b"}]}),
        api.delete("/cart"),
    ):
        assert not answer.has_header("X-Ignored")


@pytest.mark.rule("R-CALL-31")
def test_unknown_members_are_named_with_their_place(api, shop):
    mug = make_product(shop)
    body = {"product_id": mug.pk, "qty": 1, "colour": {"of": "the sky"}, "custom_fields": [{"name": "a", "text": "b"}]}
    answer = api.post("/cart?dry=1", body)
    assert answer["X-Ignored"] == "dry, colour, custom_fields.0.text"


def test_an_invalid_request_shows_the_misspelt_member(api):
    answer = api.post("/cart", {"productId": 1, "qty": 1})
    assert (answer.status_code, answer["X-Ignored"]) == (422, "productId")
    assert answer.json()["errors"] == {"product_id": ["product_id is required."]}


def test_entries_of_a_change_are_looked_into(shop):
    mug = make_product(shop)
    app = install(shop, "read_products", "write_products").api
    options = [{"name": "Size", "type": "select", "price": "1"}]
    answer = app.patch(f"/products/{mug.pk}", {"attributes": {"any": "name"}, "options": options})
    assert answer["X-Ignored"] == "options.0.price"


@pytest.mark.rule("R-CALL-31")
def test_names_are_encoded_shortened_and_ten_at_most(api):
    answer = api.get("/products?" + "&".join(f"n{number}=" for number in range(12)))
    assert answer["X-Ignored"] == ", ".join(f"n{number}" for number in range(10))
    answer = api.post("/cart", {"a\r\nX-Evil: 1": 1, "ä, b": 2, "x" * 100_000: 3})
    assert answer["X-Ignored"] == f"a%0D%0AX-Evil%3A%201, %C3%A4%2C%20b, {'x' * 60}"
    assert not answer.has_header("X-Evil")


@pytest.mark.rule("R-CALL-31")
def test_the_header_stays_small_whatever_is_sent(api):
    sent = {str(number) + "\U0001f512" * 100: number for number in range(10)}
    answer = api.post("/cart", sent)
    assert answer["X-Ignored"] == "0" + "%F0%9F%94%92" * 59
    many = {f"name{number}" + "x" * 60: number for number in range(10)}
    assert len(api.post("/cart", many)["X-Ignored"].split(", ")) == 10


def test_nothing_is_named_to_strangers(stranger):
    assert not stranger.get("/products?token=secret").has_header("X-Ignored")


@pytest.mark.django_db(transaction=True)
def test_a_response_from_memory_names_them_too(shop, api):
    make_product(shop, "Mug")
    asked = EdgeClient()
    for path in ("/products", "/products?colour=red", "/products?colour=blue", "/products/mug?fields=name"):
        expected = EdgeClient(capacity=0).ask(path, api.token).headers.get("X-Ignored")
        for _ in range(2):
            assert asked.ask(path, api.token).headers.get("X-Ignored") == expected
    assert asked.hits == 5  # The two colours share an entry.


def test_a_browser_may_read_the_header(shop, api):
    shop.allowed_origins.create(origin="https://scripts.example.com")
    answer = api.get("/products?x=1", Origin="https://scripts.example.com")
    assert "X-Ignored" in answer["Access-Control-Expose-Headers"]


def test_more_parameters_than_are_read_do_not_undo_the_answer_to_a_write(api, shop, settings):
    query = "&".join(f"a{number}=1" for number in range(settings.DATA_UPLOAD_MAX_NUMBER_FIELDS + 1))
    cart = api.post("/cart", {"product_id": make_product(shop).pk, "qty": 1}).json()["cart_token"]
    answer = api.post(f"/cart/checkout?{query}", {"colour": "red"}, cart=cart)
    assert (answer.status_code, answer.get("X-Ignored")) == (200, "colour")
    assert api.get(f"/products?{query}").status_code == 400
