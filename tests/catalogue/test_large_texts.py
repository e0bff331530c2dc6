"""Every write checks how much HTML a text contains, and names the field (kit/markup.py)."""

import orjson
import pytest

from storefront.catalogue import actions
from storefront.catalogue.models import Product
from storefront.kit import clock
from storefront.kit.refusals import InvalidFields
from storefront.product_files import importing
from tests.catalogue.factories import make_category, make_product
from tests.factories.apps import install

DEEP = "<div>" * 30_000
SAID = "30,000 tags; at most 5,000 are allowed"


@pytest.mark.parametrize("field", ["description", "short_description", "meta_description"])
def test_an_app_gets_the_member_that_is_too_large(shop, field):
    app = install(shop, "write_products", "read_products")
    answer = app.api.post("/products", {"name": "Cup", "price": "1.00", field: DEEP})
    assert answer.status_code == 422
    assert SAID in answer.json()["errors"][field][0]
    assert not Product.objects.exists()


def test_html_within_the_limits_is_stored_unchanged(shop, api):
    app = install(shop, "write_products", "read_products")
    text = "<p>a<p>b<script>c</script>" + "<i>x<b>y</i></b>" * 900
    made = app.api.post("/products", {"name": "Cup", "price": "1.00", "status": "active", "description": text})
    assert made.status_code == 201, made.json()
    assert api.get("/products/cup").json()["data"]["description"] == text


def test_an_existing_text_can_be_written_again_unchanged(shop):
    product = make_product(shop, "Cup")
    Product.objects.filter(pk=product.pk).update(description=DEEP)
    product = actions.update_product(shop=shop, product=product, now=clock.now(), name="Mug", description=DEEP)
    assert (product.name, product.description) == ("Mug", DEEP)
    with pytest.raises(InvalidFields) as refused:
        actions.update_product(shop=shop, product=product, now=clock.now(), description=DEEP + "<p>")
    assert "description" in refused.value.errors


def test_a_category_has_the_same_limits(shop):
    category = make_category(shop, "Cups")
    with pytest.raises(InvalidFields) as refused:
        actions.update_category(shop=shop, category=category, now=clock.now(), description=DEEP)
    assert SAID in refused.value.errors["description"][0]


@pytest.mark.parametrize(
    ("name", "content", "column"),
    [
        ("a.jsonl", orjson.dumps({"name": "Cup", "price": "1.00", "description": DEEP}), "description"),
        (
            "a.jsonl",
            orjson.dumps({"name": "Cup", "categories": [{"path": "A", "nodes": [{"name": "A", "description": DEEP}]}]}),
            "categories.0.nodes.0.description",
        ),
        ("a.csv", f"ID,Type,SKU,Name,Regular price,Description\n1,simple,c,Cup,1,{DEEP}\n".encode(), "Description"),
        (
            "a.csv",
            f"Handle,Title,Body (HTML),Variant Price,Variant SKU\ncup,Cup,{DEEP},1.00,c\n".encode(),
            "Body (HTML)",
        ),
    ],
)
def test_an_import_names_the_line_and_the_column(shop, tmp_path, name, content, column):
    file = tmp_path / name
    file.write_bytes(content)
    report = importing.import_products(shop=shop, file=file, format="auto", now=clock.now())
    assert report.failed == 1
    (problem,) = [found for found in report.problems if found.severity == "error"]
    assert (problem.column, problem.line > 0) == (column, True)
    assert SAID in problem.reason


@pytest.fixture
def role() -> str:
    return "manager"


@pytest.mark.slow
@pytest.mark.parametrize("make", [make_product, make_category])
def test_the_admin_shows_the_error_at_the_field(desk, shop, make):
    row = make(shop, "Cup")
    answer = desk.fill(row, description=DEEP)
    assert SAID in str(answer.context_data["adminform"].errors)
    row.refresh_from_db()
    assert row.description == ""


@pytest.mark.parametrize("make", [make_product, make_category])
def test_the_admin_keeps_an_existing_text(desk, shop, make):
    """A browser sends it with other line endings."""
    row = make(shop, "Cup")
    type(row).objects.filter(pk=row.pk).update(description=DEEP + "\nEnd")
    assert desk.fill(row, name="Mug", description=DEEP + "\r\nEnd").status_code == 302
    row.refresh_from_db()
    assert (row.name, DEEP in row.description) == ("Mug", True)
