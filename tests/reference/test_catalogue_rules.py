"""What the catalogue shows, of which values, found and paged in which way."""

from datetime import timedelta
from decimal import Decimal
from urllib.parse import urlencode

import orjson
import pytest
from django.db import IntegrityError

from storefront.catalogue.models import Product
from storefront.kit import clock
from storefront.kit.api.pagination import envelope
from tests.answers import without_id
from tests.catalogue.factories import make_category, make_media, make_option, make_product, make_variant
from tests.reference.pictures import picture
from tests.shops.factories import NOW


def names(answer) -> list[str]:
    return [record["name"] for record in answer.json()["data"]]


def single(api, product) -> dict:
    return api.get(f"/products/{product.pk}").json()["data"]


# Which products are public.


@pytest.mark.rule("R-CAT-2")
@pytest.mark.parametrize(
    ("state", "public"),
    [
        ({}, True),
        ({"status": "draft", "is_featured": True}, False),
        ({"status": "archived"}, False),
        ({"deleted_at": NOW}, False),
        ({"publish_at": timedelta(hours=1)}, False),
        ({"publish_at": timedelta(hours=-1)}, True),
        ({"unpublish_at": timedelta(hours=-1)}, False),
        ({"unpublish_at": timedelta(hours=1)}, True),
    ],
)
def test_public_is_active_not_deleted_and_within_publish_at_and_unpublish_at(api, shop, state, public):
    now = clock.now()
    mug = make_product(shop, "Mug", **{k: now + v if isinstance(v, timedelta) else v for k, v in state.items()})
    assert names(api.get("/products")) == (["Mug"] if public else [])
    assert api.get(f"/products/{mug.pk}").status_code == (200 if public else 404)


@pytest.mark.rule("R-CAT-3")
def test_the_list_leaves_out_exclude_from_catalog_and_the_single_read_and_the_cart_do_not(api, shop):
    mug = make_product(shop, "Mug", exclude_from_catalog=True)
    assert names(api.get("/products")) == names(api.get("/products?q=mug")) == []
    assert api.get("/products/mug").status_code == 200
    assert api.post("/cart", {"product_id": mug.pk, "qty": 1}).status_code == 201


@pytest.mark.rule("R-CAT-4")
def test_everything_else_is_a_404_the_same_as_an_id_that_never_existed(api, shop):
    never = api.get("/products/999999")
    for state in ({"status": "draft"}, {"deleted_at": NOW}, {"publish_at": clock.now() + timedelta(days=1)}):
        answer = api.get(f"/products/{make_product(shop, **state).pk}")
        assert answer.status_code == 404
        assert without_id(answer) == without_id(never)


# Values.


@pytest.mark.rule("R-CAT-8")
def test_status_is_draft_active_or_archived_and_type_simple_variable_bundle_or_digital():
    assert set(Product.Status.values) == {"draft", "active", "archived"}
    assert set(Product.Type.values) == {"simple", "variable", "bundle", "digital"}


@pytest.mark.rule("R-CAT-11")
def test_nullable_values_when_set_are_money_measures_ids_timestamps_and_translations(api, shop):
    mug = make_product(
        shop,
        setup_fee=Decimal(3),
        damaged_price=Decimal("2.5"),
        length=Decimal("12.5"),
        dimension_unit="cm",
        billing_interval="month",
        sitemap_lastmod=NOW,
        translations={"de": {"name": "Becher"}},
    )
    Product.objects.filter(pk=mug.pk).update(default_variant=make_variant(mug))
    record = single(api, mug)
    assert (record["setup_fee"], record["damaged_price"]) == ("3.00", "2.50")
    assert (record["length"], record["dimension_unit"], record["billing_interval"]) == ("12.500", "cm", "month")
    assert type(record["default_variant_id"]) is int
    assert record["sitemap_lastmod"] == "2026-11-21T07:30:00.000000Z"
    assert record["translations"] == {"de": {"name": "Becher"}}


@pytest.mark.rule("R-CAT-11")
def test_billing_interval_and_dimension_unit_are_one_of_those_listed():
    choices = {name: dict(Product._meta.get_field(name).flatchoices) for name in ("billing_interval", "dimension_unit")}
    assert set(choices["billing_interval"]) == {"day", "week", "month", "year"}
    assert set(choices["dimension_unit"]) == {"cm", "in"}


@pytest.mark.rule("R-CAT-28")
def test_media_have_these_members_in_order_with_absolute_urls(api, shop):
    mug = make_product(shop)
    make_media(mug, "https://cdn.example.com/2.jpg", sort_order=2)
    make_media(mug, "", file=picture(), sort_order=1)
    media = single(api, mug)["media"]
    assert list(media[0]) == ["id", "type", "url", "alt", "width", "height", "sort_order"]
    assert [each["sort_order"] for each in media] == [1, 2]
    assert [each["url"].split("/")[2] for each in media] == ["shop.example.com", "cdn.example.com"]


@pytest.mark.rule("R-CAT-29")
def test_variants_have_these_members(api, shop):
    variant = make_variant(make_product(shop))
    (record,) = single(api, variant.product)["variants"]
    assert " ".join(record) == (
        "id product_id name sku barcode price compare_price weight track_inventory stock_qty allow_backorders "
        "is_active option_values image sort_order created_at updated_at "
        "sale_price sale_from sale_until regular_compare_price"
    )
    assert record["option_values"] == {"Colour": "Blue"}


@pytest.mark.rule("R-CAT-30")
@pytest.mark.parametrize("kind", ["select", "radio", "checkbox", "text"])
def test_options_have_these_members_and_type_is_one_of_four(api, shop, kind):
    mug = make_product(shop)
    make_option(mug, type=kind)
    (option,) = single(api, mug)["options"]
    assert list(option) == ["id", "name", "type", "required", "sort_order", "max_length", "values"]
    assert option["type"] == kind
    assert list(option["values"][0]) == ["id", "label", "price", "sort_order"]


@pytest.mark.rule("R-CAT-30")
def test_the_price_of_a_value_is_added_to_the_lines_price(api, shop):
    mug = make_product(shop, price=Decimal("9.50"))
    option = make_option(mug, values={"Gold": "5.00"})
    body = {"product_id": mug.pk, "qty": 1, "options": {str(option.pk): option.values.get().pk}}
    assert api.post("/cart", body).json()["data"]["price_snapshot"] == "14.50"


# List parameters.


@pytest.mark.rule("R-CAT-20")
@pytest.mark.parametrize(
    ("q", "found"), [("blue mug", 1), ("MUG  blue", 1), ("lu", 1), ("ug-7", 1), ("glaz", 1), ("blue red", 0), ("%", 0)]
)
def test_q_every_word_must_occur_ignoring_case_as_a_substring(api, shop, q, found):
    make_product(shop, "Blue Mug", sku="MUG-7", description="Glazed")
    assert api.get(f"/products?{urlencode({'q': q})}").json()["total"] == found


@pytest.mark.rule("R-CAT-21")
def test_category_means_products_in_exactly_that_category_and_an_unknown_slug_gives_an_empty_list(api, shop):
    kitchen = make_category(shop, "Kitchen")
    make_product(shop, "Pot", categories=(kitchen,))
    make_product(shop, "Mug", categories=(make_category(shop, "Cups", kitchen),))
    assert names(api.get("/products?category=kitchen")) == ["Pot"]
    empty = api.get("/products?category=nothing")
    assert (empty.status_code, empty.json()["data"]) == (200, [])


@pytest.mark.rule("R-CAT-22")
@pytest.mark.parametrize("given", ["0", "false", "no"])
def test_featured_is_on_when_present_unless_0_false_or_no(api, shop, given):
    make_product(shop, "Mug", is_featured=True)
    make_product(shop, "Lamp")
    assert api.get(f"/products?featured={given}").json()["total"] == 2
    for on in ("featured", "featured=", "featured=1", "featured=true", "featured=yes"):
        assert names(api.get(f"/products?{on}")) == ["Mug"]


@pytest.mark.rule("R-CAT-23")
def test_newest_is_created_at_descending_and_name_ignores_case(api, shop):
    for days, name in enumerate(["b", "A", "C"]):
        make_product(shop, name, created_at=NOW + timedelta(days=days))
    assert names(api.get("/products?sort=newest")) == ["C", "A", "b"]
    assert names(api.get("/products?sort=name")) == ["A", "b", "C"]


@pytest.mark.rule("R-CAT-23")
@pytest.mark.parametrize("sort", ["", "&sort=newest", "&sort=price_asc", "&sort=price_desc", "&sort=name"])
def test_ties_always_break_on_id_so_that_pages_never_overlap(api, shop, sort):
    ids = [make_product(shop, "Mug", slug=f"mug-{number}").pk for number in range(5)]
    paged = [api.get(f"/products?per_page=1&page={page}{sort}").json()["data"][0]["id"] for page in range(1, 6)]
    assert sorted(paged) == ids
    assert paged in (ids, ids[::-1])


@pytest.mark.rule("R-CAT-23")
def test_without_sort_pinned_first_then_sort_order_then_newest(api, shop):
    make_product(shop, "Old", sort_order=1)
    make_product(shop, "New", sort_order=1, created_at=NOW + timedelta(days=1))
    make_product(shop, "First", sort_order=0)
    make_product(shop, "Pinned", sort_order=9, is_pinned=True)
    assert names(api.get("/products")) == ["Pinned", "First", "New", "Old"]


@pytest.mark.rule("R-CAT-23")
def test_an_unknown_sort_is_a_422(api, shop):
    answer = api.get("/products?sort=best")
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["sort"])


@pytest.mark.rule("R-CAT-24", "R-CAT-16")
def test_a_page_past_the_end_is_a_200_with_no_data_and_from_and_to_null(api, shop):
    make_product(shop)
    answer = api.get("/products?page=9")
    body = answer.json()
    assert (answer.status_code, body["data"], body["from"], body["to"]) == (200, [], None, None)
    assert (body["current_page"], body["last_page"], body["total"]) == (9, 1, 1)


@pytest.mark.rule("R-CAT-25")
def test_updated_since_gives_what_changed_then_or_later(api, shop):
    make_product(shop, "Old", updated_at=NOW - timedelta(seconds=1))
    make_product(shop, "New", updated_at=NOW)
    assert names(api.get("/products?updated_since=2026-11-21T07:30:00.000000Z")) == ["New"]


# Envelope.


@pytest.mark.rule("R-CAT-16")
def test_an_empty_result_has_last_page_1(api, shop):
    body = api.get("/products").json()
    assert (body["last_page"], body["total"], body["data"]) == (1, 0, [])


def labels(*, page: int, last: int) -> list[str]:
    made = envelope(["1"], total=last, page=page, per_page=1, path="https://shop.example.com/api/v1/products")
    return [link["label"] for link in orjson.loads(made)["links"]][1:-1]


@pytest.mark.rule("R-CAT-17")
def test_up_to_1000_pages_there_is_one_entry_per_page():
    assert labels(page=500, last=1000) == [str(number) for number in range(1, 1001)]


@pytest.mark.rule("R-CAT-17")
@pytest.mark.parametrize(
    ("page", "shown"),
    [
        (1, "1 2 3 4 ... 1000 1001"),
        (6, "1 2 3 4 5 6 7 8 9 ... 1000 1001"),
        (500, "1 2 ... 497 498 499 500 501 502 503 ... 1000 1001"),
        (1001, "1 2 ... 998 999 1000 1001"),
    ],
)
def test_above_1000_pages_three_either_side_first_two_and_last_two_are_kept(page, shown):
    assert labels(page=page, last=1001) == shown.split()


@pytest.mark.rule("R-CAT-17")
def test_gaps_are_shown_as_an_entry_without_url_and_page():
    links = orjson.loads(envelope(["1"], total=1001, page=500, per_page=1, path="x"))["links"]
    assert links[3] == {"url": None, "label": "...", "page": None, "active": False}


@pytest.mark.rule("R-CAT-18")
def test_filters_that_were_given_come_before_page(api, shop):
    make_product(shop, "Mug", is_featured=True)
    url = api.get("/products?page=1&featured=1&q=mug&colour=x").json()["first_page_url"]
    assert url == "https://shop.example.com/api/v1/products?q=mug&featured=1&page=1"


# Single read, categories.


@pytest.mark.rule("R-CAT-27")
def test_digits_only_are_an_id_first_then_a_slug(api, shop):
    mug = make_product(shop, "Mug")
    make_product(shop, "Number", slug=str(mug.pk))
    make_product(shop, "Other", slug="777777")
    assert single(api, mug)["name"] == "Mug"
    assert api.get("/products/777777").json()["data"]["name"] == "Other"


@pytest.mark.rule("R-CAT-27")
def test_slugs_are_unique_in_a_shop(shop, other_shop):
    make_product(shop, "Mug")
    make_product(other_shop, "Mug")
    with pytest.raises(IntegrityError):
        make_product(shop, "Mug")


@pytest.mark.rule("R-CAT-35")
def test_one_category_has_products_count_and_its_slug_does_too(api, shop):
    cups = make_category(shop, "Cups")
    make_product(shop, categories=(cups,))
    for key in (cups.pk, "cups"):
        assert api.get(f"/categories/{key}").json()["data"]["products_count"] == 1


@pytest.mark.rule("R-CAT-36")
def test_products_count_is_what_the_list_filtered_by_that_category_gives(api, shop):
    cups = make_category(shop, "Cups")
    make_category(shop, "Mugs", cups)
    for state in ({}, {"status": "draft"}, {"exclude_from_catalog": True}, {"deleted_at": NOW}, {}):
        make_product(shop, categories=(cups,), **state)
    for category in api.get("/categories").json()["data"]:
        assert category["products_count"] == api.get(f"/products?category={category['slug']}").json()["total"]
    assert api.get("/categories/cups").json()["data"]["products_count"] == 2


@pytest.mark.rule("R-CAT-33", "R-CAT-37")
def test_the_list_is_ordered_by_lft_contiguous_from_1_in_each_shop(api, shop, other_shop):
    make_category(other_shop, "Theirs")
    kitchen = make_category(shop, "Kitchen", sort_order=2)
    make_category(shop, "Garden", sort_order=1)
    make_category(shop, "Cups", kitchen)
    listed = api.get("/categories").json()["data"]
    assert [each["name"] for each in listed] == ["Garden", "Kitchen", "Cups"]
    assert sorted(bound for each in listed for bound in (each["_lft"], each["_rgt"])) == [1, 2, 3, 4, 5, 6]


@pytest.mark.rule("R-CAT-34", "R-CAT-31", "R-CAT-21")
def test_only_is_active_categories_are_public(api, shop):
    cups = make_category(shop, "Cups", is_active=False)
    make_product(shop, "Mug", categories=(cups,))
    assert api.get("/categories").json()["data"] == []
    assert api.get(f"/categories/{cups.pk}").status_code == api.get("/categories/cups").status_code == 404
    assert api.get("/products?category=cups").json()["total"] == 0
    assert api.get("/products/mug").json()["data"]["categories"] == []


# Conditional reads.


@pytest.mark.rule("R-CAT-38")
@pytest.mark.parametrize("path", ["/products", "/products/mug", "/categories", "/categories/cups"])
def test_every_catalogue_answer_carries_a_strong_etag_and_if_none_match_gives_304(api, shop, path):
    make_product(shop, "Mug", categories=(make_category(shop, "Cups"),))
    answer = api.get(path)
    assert answer["ETag"].startswith('"')
    assert answer["Cache-Control"] == "private, max-age=0, must-revalidate"
    again = api.get(path, If_None_Match=answer["ETag"])
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", answer["ETag"])
    assert again["Cache-Control"] == answer["Cache-Control"]
