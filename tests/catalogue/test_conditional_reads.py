import pytest

from tests.catalogue.factories import make_category, make_product

PATHS = ["/products", "/products?q=mug", "/products/mug", "/categories", "/categories/cups"]


@pytest.fixture
def mug(shop):
    return make_product(shop, "Mug", categories=(make_category(shop, "Cups"),))


@pytest.mark.rule("R-CAT-38")
@pytest.mark.parametrize("path", PATHS)
def test_an_unchanged_body_is_not_sent_again(api, mug, path):
    first = api.get(path)
    assert first["ETag"].startswith('"')
    assert first["Cache-Control"] == "private, max-age=0, must-revalidate"
    again = api.get(path, If_None_Match=first["ETag"])
    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == first["ETag"]
    assert again["Cache-Control"] == first["Cache-Control"]
    assert "Content-Type" not in again.headers


@pytest.mark.parametrize("path", PATHS)
def test_a_change_is_sent(api, mug, path):
    first = api.get(path)
    mug.stock_qty, mug.status = 3, "active" if path.startswith("/products") else "draft"
    mug.save()
    again = api.get(path, If_None_Match=first["ETag"])
    assert again.status_code == 200
    assert again["ETag"] != first["ETag"]


@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}', "*", '"a",W/"b" , W/{}'])
def test_accepts_every_form_of_the_header(api, mug, form):
    etag = api.get("/products/mug")["ETag"]
    assert api.get("/products/mug", If_None_Match=form.format(etag)).status_code == 304


@pytest.mark.parametrize("header", ['"other"', "", "nonsense", 'W/"other"'])
def test_another_etag_gets_the_body(api, mug, header):
    assert api.get("/products/mug", If_None_Match=header).status_code == 200


def test_a_missing_product_is_a_404_and_no_304(api, mug):
    assert api.get("/products/nothing", If_None_Match="*").status_code == 404


def test_head_returns_the_etag_without_the_body(api, mug):
    answer = api.call("head", "/products/mug")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer["ETag"] == api.get("/products/mug")["ETag"]
