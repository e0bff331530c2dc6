import pytest
from django.db import InterfaceError, InternalError, OperationalError, connection, transaction

from storefront.kit.database_errors import is_unavailable
from tests.catalogue.factories import make_product


def test_an_unknown_page_is_a_404_page_of_the_shop(page, shop):
    text = page("/no/such/page", status=404)
    assert "Not found" in text
    assert shop.name in text
    assert 'content="noindex"' in text


def test_a_missing_product_has_its_own_message(page):
    assert "This product does not exist or is no longer available." in page("/products/gone", status=404)


def test_the_error_page_needs_no_database(shop, client, monkeypatch):
    client.raise_request_exception = False

    def fail(*args, **kwargs):
        raise RuntimeError("secret words")

    monkeypatch.setattr("storefront.website.queries.main_categories", fail)
    answer = client.get("/", headers={"host": shop.domain})
    text = answer.content.decode()
    assert answer.status_code == 500
    assert "Something went wrong" in text
    assert answer.headers["X-Request-Id"] in text
    assert "secret words" not in text
    assert "Traceback" not in text


@pytest.mark.rule("R-ERR-12")
@pytest.mark.parametrize("path", ["/", "/products", "/basket"])
@pytest.mark.parametrize(
    ("error", "status"),
    [(OperationalError("gone"), 503), (InterfaceError("closed"), 503), (InternalError("defect"), 500)],
)
def test_pages_are_503_while_the_database_is_away(shop, client, monkeypatch, path, error, status):
    client.raise_request_exception = False

    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr("storefront.website.queries.main_categories", fail)
    answer = client.get(path, headers={"host": shop.domain})
    assert answer.status_code == status
    assert answer.headers.get("Retry-After") == ("2" if status == 503 else None)
    text = answer.content.decode()
    assert ("Back in a moment" in text, "Something went wrong" in text) == (status == 503, status == 500)
    assert str(error) not in text


@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL has servers that are read-only")
def test_a_server_that_only_reads_is_unavailable(db):
    def write() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
            cursor.execute("DELETE FROM shops_shop")

    with pytest.raises(InternalError) as raised:
        write()
    assert is_unavailable(raised.value)


@pytest.mark.parametrize("path", ["/", "/products/cup", "/basket", "/nope"])
def test_pages_may_load_and_run_nothing_from_elsewhere(shop, visitor, path):
    make_product(shop, "Cup")
    policy = visitor.get(path).headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


def test_pages_have_no_script_or_style_in_their_text(shop, visitor):
    make_product(shop, "Cup")
    for path in ("/", "/products", "/products/cup", "/basket"):
        text = visitor.get(path).content.decode()
        assert "<style" not in text
        assert " style=" not in text
        assert "<script>" not in text


@pytest.mark.parametrize("path", ["/", "/products", "/products/cup", "/basket"])
def test_pages_are_read_only(shop, visitor, path):
    make_product(shop, "Cup")
    assert visitor.post(path).status_code == 405
    assert visitor.head(path).status_code == 200
