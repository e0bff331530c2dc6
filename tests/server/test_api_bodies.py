"""Bodies: what is read, what is refused and how, and what is never looked at."""

import pytest

from tests.answers import error_of
from tests.catalogue.factories import make_product


@pytest.fixture
def send(api, shop):
    """Posts these bytes to the cart as they are."""

    def post(content: bytes, content_type: str = "application/json", path: str = "/api/v1/cart", **environ):
        token = {"Authorization": f"Bearer {api.token}"}
        return api.http.generic("POST", path, content, content_type, headers=token, **environ)

    return post


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON;charset=UTF-8"]
)
def test_a_json_object_in_utf_8_is_read(send, shop, content_type):
    product = make_product(shop)
    assert send(b'{"product_id": %d, "qty": 1}' % product.id, content_type).status_code == 201


@pytest.mark.rule("R-ERR-7")
@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=latin-1",
        "application/json; charset=base64",
        "application/json; charset=no-such-thing",
    ],
)
def test_another_media_type_is_a_415(send, content_type):
    answer = send(b'{"product_id": 1, "qty": 1}', content_type)
    assert answer.status_code == 415
    assert error_of(answer) == {
        "message": "Send the request body as application/json in UTF-8.",
        "code": "unsupported_media_type",
    }


@pytest.mark.rule("R-ERR-2")
@pytest.mark.parametrize(
    ("content", "line", "column"),
    [
        (b"{", 1, 2),
        (b"nul", 1, 4),
        (b'{"qty": NaN}', 1, 9),
        (b"\xff\xfe", 1, 1),
        (b'{"qty": 1,}', 1, 10),
        (b'{\n  "qty": 1\n  "product_id": 2\n}', 3, 3),
        (b"[" * 50_000, 1, 1026),
        (b'{"a": "\\ud800"}', 1, 8),
        (b" ", 1, 1),
        (b'{"qty": 1e400, "product_id": NaN}', 1, 9),
    ],
)
def test_malformed_json_is_a_400_that_says_where(send, content, line, column):
    answer = send(content)
    error = error_of(answer)
    assert (answer.status_code, error["code"], error["line"], error["column"]) == (400, "malformed_json", line, column)
    assert error["message"].startswith("The request body is not valid JSON: ")
    assert error["message"].endswith(f" at line {line}, column {column}.")


@pytest.mark.rule("R-ERR-2")
@pytest.mark.parametrize("number", [b"1" + b"0" * 400, b"-1e400", b"1" * 10_000])
def test_a_number_of_any_size_is_valid_json_and_named(send, number):
    answer = send(b'{"product_id": 1, "qty": %s, "options": {"1": [%s]}}' % (number, number))
    assert answer.status_code == 422
    assert answer.json()["errors"] == {"qty": ["qty is too large."], "options": ["options is too large."]}


@pytest.mark.rule("R-ERR-2")
@pytest.mark.parametrize("content", [b"[]", b'"text"', b"1", b"null", b"true"])
def test_another_type_at_the_top_is_a_400(send, content):
    answer = send(content)
    assert answer.status_code == 400
    assert error_of(answer) == {"message": "The request body must be a JSON object.", "code": "malformed_json"}


def test_no_body_where_one_is_needed_is_a_422(send):
    answer = send(b"")
    assert answer.status_code == 422
    assert answer.json()["errors"] == {"body": ["The request body must be a JSON object."]}


@pytest.mark.rule("R-LIM-1")
def test_a_body_of_a_mebibyte_is_read_and_one_byte_more_is_a_413(send, shop):
    product = make_product(shop)
    frame = b'{"product_id": %d, "qty": 1, "unknown": "%%s"}' % product.id
    most = frame.replace(b"%s", b"x" * (1024 * 1024 - len(frame) + 2))
    assert len(most) == 1024 * 1024
    assert send(most).status_code == 201
    answer = send(most.replace(b"xx", b"xxx", 1))
    assert answer.status_code == 413
    assert error_of(answer) == {"message": "The request body is larger than 1 MiB.", "code": "too_large"}


@pytest.mark.rule("R-CALL-9")
def test_unknown_members_are_ignored(send, shop):
    product = make_product(shop)
    assert send(b'{"product_id": %d, "qty": 1, "colour": {"of": "the sky"}}' % product.id).status_code == 201


def test_a_body_is_ignored_where_none_is_asked_for(api):
    headers = {"Authorization": f"Bearer {api.token}"}
    answer = api.http.generic("DELETE", "/api/v1/cart", b"\xff not json", "image/png", headers=headers)
    assert answer.status_code == 200


@pytest.mark.rule("R-LINK-1")
@pytest.mark.parametrize("content_type", ["", "application/json", "text/plain", "application/x-www-form-urlencoded"])
def test_an_optional_body_can_be_left_out_whatever_the_media_type(send, content_type):
    answer = send(b"", content_type, path="/api/v1/cart/checkout")
    assert (answer.status_code, answer.json()["code"]) == (422, "empty_cart")


@pytest.mark.parametrize(("method", "path"), [("POST", "/cart/checkout"), ("DELETE", "/cart"), ("GET", "/products")])
def test_a_body_of_more_than_a_mebibyte_is_refused_also_where_none_is_asked_for(api, method, path):
    headers = {"Authorization": f"Bearer {api.token}"}
    answer = api.http.generic(method, f"/api/v1{path}", b"x" * (1024 * 1024 + 1), "image/png", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize("length", ["9" * 19, "9" * 5_000])
def test_an_announced_length_of_any_size_is_a_413(send, length):
    assert send(b"{}", CONTENT_LENGTH=length).status_code == 413


def test_a_nul_character_is_refused_by_field(send):
    answer = send(b'{"product_id": 1, "qty": 1, "custom_fields": [{"name": "a\\u0000", "value": "b"}]}')
    assert answer.status_code == 422
    assert answer.json()["errors"] == {"custom_fields": ["custom_fields must not contain the NUL character."]}


def test_a_nul_character_in_a_parameter_is_refused_by_name(api):
    answer = api.get("/products?q=a%00b")
    assert answer.status_code == 422
    assert answer.json()["errors"] == {"q": ["q must not contain the NUL character."]}


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json; charset=base64",
        "application/json; charset=idna",
        "text/plain; charset=utf-16",
        "text/plain; charset=latin-1",
        "text/plain; charset*=nothing''%ff",
        "text/plain; " + "x" * 20_000,
    ],
)
def test_a_content_type_cannot_change_how_the_query_is_read(wsgi, api, shop, content_type):
    make_product(shop, "Müsli")
    # Django's test client makes requests of a class of its own.
    answer = wsgi.get(
        "/api/v1/products?q=m%C3%BCs", headers={"Authorization": f"Bearer {api.token}", "Content-Type": content_type}
    )
    assert answer.status_code == 200
    assert answer.json["total"] == 1


@pytest.mark.rule("R-ERR-2")
def test_a_query_with_too_many_parameters_is_a_400(api, settings):
    query = "&".join(f"a{number}=1" for number in range(settings.DATA_UPLOAD_MAX_NUMBER_FIELDS + 1))
    answer = api.get(f"/products?{query}")
    assert answer.status_code == 400
    assert error_of(answer) == {"message": "The request could not be read.", "code": "bad_request"}


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({}, {"product_id": ["product_id is required."], "qty": ["qty is required."]}),
        ({"product_id": "1", "qty": 1}, {"product_id": ["product_id must be a whole number."]}),
        ({"product_id": 1, "qty": True}, {"qty": ["qty must be a whole number."]}),
        ({"product_id": 1, "qty": 0}, {"qty": ["qty must be 1 or more."]}),
        ({"product_id": 1, "qty": 10_000}, {"qty": ["qty must be 9999 or less."]}),
        ({"product_id": 1, "qty": 1, "is_damaged": "yes"}, {"is_damaged": ["is_damaged must be true or false."]}),
        ({"product_id": 1, "qty": 1, "options": []}, {"options": ["options must be an object."]}),
        ({"product_id": 1, "qty": 1, "gift_card": 5}, {"gift_card": ["gift_card must be an object."]}),
        (
            {"product_id": 1, "qty": 1, "options": {"5": [1]}},
            {"options.5": ["options.5 must be a value id or a text."]},
        ),
        (
            {"product_id": 1, "qty": 1, "options": {"int": True}},
            {"options.int": ["options.int must be a value id or a text."]},
        ),
        (
            {"product_id": 1, "qty": 1, "custom_price": 5},
            {"custom_price": ['custom_price must be a decimal string such as "12.50".']},
        ),
        (
            {"product_id": 1, "qty": 1, "custom_price": "5.000"},
            {"custom_price": ['custom_price must be a decimal string such as "12.50".']},
        ),
        (
            {"product_id": 1, "qty": 1, "custom_fields": [{"name": "", "value": "x"}]},
            {"custom_fields.0.name": ["custom_fields.0.name must not be empty."]},
        ),
        (
            {"product_id": 1, "qty": 1, "custom_fields": [{"name": "a", "value": "b"}] * 21},
            {"custom_fields": ["custom_fields must have at most 20 entries."]},
        ),
    ],
)
def test_a_field_that_does_not_fit_is_named_with_what_was_expected(api, body, errors):
    answer = api.post("/cart", body)
    assert answer.status_code == 422
    assert error_of(answer) == {
        "message": "The request has invalid fields.",
        "code": "invalid_fields",
        "errors": errors,
    }


def test_a_parameter_that_does_not_fit_is_named_with_what_was_expected(api):
    errors = api.get("/products?sort=best&page=0").json()["errors"]
    assert errors == {
        "sort": ["sort must be 'newest', 'price_asc', 'price_desc' or 'name'."],
        "page": ["page must be an integer of at least 1."],
    }
