"""The sections of the home page: what they show, what they refuse, and what of another shop they never name."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from storefront.catalogue.models import UploadedPicture
from storefront.content import sections
from storefront.content.models import Looks, LooksPicture
from storefront.content.sections import new_section
from storefront.kit import clock
from storefront.website import home
from tests.catalogue.factories import make_category, make_product
from tests.content.test_looks import frame, make_looks, picture, text_of
from tests.orders.factories import make_order, sale_line
from tests.staff import form_values


@pytest.fixture
def looks(shop) -> Looks:
    return make_looks(shop, home=[])


def put(desk, looks: Looks, *blocks: dict, **given):
    """Post the form with these sections, in this order."""
    values = {name: value for name, value in form_values(desk.page(looks)).items() if not name.startswith("home-")}
    values["home-order"] = ",".join(block["id"] for block in blocks)
    for block in blocks:
        shown = {} if block.get("hidden") else {"shown": "on"}
        for name, value in (block | shown).items():
            if name not in ("id", "hidden"):
                values[f"home-{block['id']}-{name}"] = value
    return desk.post(f"/admin/content/looks/{looks.pk}/change/", values | given)


def ids(text: str) -> list[str]:
    """The ids of the sections' headings, in the order of the page."""
    return [part.split('"')[0] for part in text.split("<section")[1:] for part in part.split('labelledby="')[1:2]]


def test_sections_stand_in_their_order_and_hidden_ones_are_not_shown(shop, desk, looks):
    make_category(shop, "Cups")
    make_product(shop, "Mug")
    hero = {"id": "s1", "kind": "hero", "title": "Autumn & co", "button": "Look", "link": "/products?sort=newest"}
    quote = {"id": "s2", "kind": "quotes", "quote_1": "Lovely <b>", "name_1": "Ada"}
    blocks = [hero, {"id": "s3", "kind": "products", "rule": "newest", "count": "4"}, quote]
    assert put(desk, looks, *blocks, {"id": "s4", "kind": "categories", "hidden": True}).status_code == 302
    text = text_of(shop)
    assert ids(text) == ["s1", "s3"]
    assert "Autumn &amp; co</h1>" in text
    assert '<a class="button" href="/products?sort=newest">Look</a>' in text
    assert text.index("Mug</a>") < text.index("Lovely &lt;b&gt;")
    assert "Shop by category" not in text
    assert len(Looks.objects.get(pk=looks.pk).home) == 4


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"kind": "hero", "title": ""}, "Opening, Heading: This field is required."),
        ({"kind": "hero", "title": "x" * 121}, "Opening, Heading: At most 120 characters."),
        ({"kind": "hero", "title": "A", "button": "B"}, "A button needs both its words and where it leads."),
        ({"kind": "hero", "title": "A", "button": "B", "link": "javascript:alert(1)"}, "Enter a path of your shop"),
        ({"kind": "video", "link": "//evil.example"}, "Video, Link to the video: Enter a path of your shop"),
        ({"kind": "video", "link": "http://["}, "Enter a path of your shop"),
        ({"kind": "products", "rule": "chosen", "products": "jug"}, "There is no product jug."),
        ({"kind": "text", "text": "A", "picture": "999"}, "This picture is no longer stored."),
        ({"kind": "text", "text": "A", "picture": "forged:token"}, "This picture is no longer stored."),
    ],
)
def test_what_is_wrong_is_named_and_kept(other_shop, desk, looks, block, message):
    make_product(other_shop, "Jug", slug="jug")
    answer = put(desk, looks, {"id": "s1"} | block, footer_text="Kept")
    text = answer.content.decode()
    assert message in text
    assert ("Kept" in text, 'data-block="s1"' in text) == (True, True)
    assert Looks.objects.get(pk=looks.pk).home == []


def test_too_many_sections_are_refused(desk, looks):
    many = [{"id": f"s{number}", "kind": "categories"} for number in range(sections.MAX_SECTIONS + 1)]
    assert "at most 20 sections" in put(desk, looks, *many).content.decode()
    lists = [{"id": f"s{number}", "kind": "products"} for number in range(sections.MAX_PRODUCT_SECTIONS + 1)]
    assert "At most 6 sections" in put(desk, looks, *lists).content.decode()


def test_a_flood_of_products_is_refused_before_they_are_looked_up(desk, looks):
    block = {"kind": "products", "rule": "chosen", "products": ",".join(f"{n:x}" for n in range(140_000))}
    assert "Choose at most 12 products." in put(desk, looks, block | {"id": "s1"}).content.decode()
    sent = {f"home-s1-{name}": value for name, value in block.items()}
    assert desk.post(frame(), sent | {"home-order": "s1"}).status_code == 200


def test_products_follow_their_rule(shop, other_shop, desk, looks):
    cups = make_category(shop, "Cups")
    mug = make_product(shop, "Mug", slug="mug", categories=(cups,))
    make_product(shop, "Lamp", slug="lamp", sku="L1", price="5.00", compare_price="9.00")
    make_product(shop, "Draft", slug="draft", status="draft", compare_price="99.00")
    make_product(shop, "Star", slug="star", is_featured=True)
    make_product(other_shop, "Jug", is_featured=True, compare_price="99.00")
    make_order(shop, sale_line(mug), now=clock.now())
    for rule, expected in {
        "newest": {"Mug", "Lamp"},
        "featured": {"Star"},
        "sale": {"Lamp"},
        "best": {"Mug"},
        "category": {"Mug"},
        "chosen": {"Star", "Lamp"},
    }.items():
        home._ids.clear()
        block = {"id": "s1", "kind": "products", "rule": rule, "category": cups.pk, "products": "star, L1, draft"}
        assert put(desk, looks, block).status_code == 302, rule
        text = text_of(shop).partition("<footer")[0]
        assert {name for name in ("Mug", "Lamp", "Draft", "Star", "Jug") if f"{name}</a>" in text} == expected, rule
        looks.refresh_from_db()


def test_another_shops_category_and_products_are_not_named(shop, other_shop, desk, looks):
    theirs = make_category(other_shop, "Secret")
    block = {"id": "s1", "kind": "products", "rule": "category", "category": theirs.pk}
    assert put(desk, looks, block).status_code == 302
    assert Looks.objects.get(pk=looks.pk).home[0]["category"] is None
    assert "Secret" not in desk.page(looks).content.decode()


def test_a_page_of_many_sections_takes_few_queries(shop, looks, django_assert_max_num_queries):
    categories = [make_category(shop, f"Category {number}") for number in range(4)]
    for number in range(24):
        make_product(shop, f"Cup {number}", categories=(categories[number % 4],))
    given = enumerate(categories)
    looks.home = [
        *(new_section("products", f"s{place}", rule="category", category=each.pk) for place, each in given),
        new_section("products", "newest", rule="newest"),
        new_section("categories", "categories"),
    ]
    looks.save()
    with django_assert_max_num_queries(20):
        page = text_of(shop)
    assert page.count('class="product-card"') >= 24


def test_a_picture_is_stored_with_the_form_and_is_the_shops_own(shop, other_shop, desk, looks):
    block = {"id": "s1", "kind": "hero", "title": "Autumn", "alt": "A tree"}
    assert put(desk, looks, block, **{"home-s1-file": picture("maple.png")}).status_code == 302
    stored = LooksPicture.objects.get()
    assert stored.shop == shop
    assert not UploadedPicture.objects.exists()
    text = text_of(shop)
    assert ('alt="A tree"' in text, stored.file.url.rpartition("/")[2].partition(".")[0] in text) == (True, True)
    theirs = make_looks(other_shop, home=[new_section("hero", "s1", title="Theirs", picture=stored.pk)])
    assert "maple" not in text_of(other_shop)
    assert theirs.home[0]["picture"] == stored.pk


def test_a_file_that_is_no_picture_is_refused_and_loses_nothing(desk, looks):
    block = {"id": "s1", "kind": "hero", "title": "Autumn"}
    bad = SimpleUploadedFile("a.svg", b"<svg onload=alert(1)>")
    text = put(desk, looks, block, **{"home-s1-file": bad}).content.decode()
    assert "a.svg" in text
    assert 'value="Autumn"' in text
    assert Looks.objects.get(pk=looks.pk).home == []


def test_without_scripts_buttons_add_sort_and_remove_and_save_nothing(desk, looks):
    blocks = [{"id": "s1", "kind": "categories", "title": "One"}, {"id": "s2", "kind": "quotes", "title": "Two"}]

    def order(**given) -> list[str]:
        text = put(desk, looks, *blocks, **given).content.decode()
        return text.split('name="home-order" value="')[1].split('"')[0].split(",")

    assert order(**{"home-do": "up:s2"}) == ["s2", "s1"]
    assert order(**{"home-do": "down:s1"}) == ["s2", "s1"]
    assert order(**{"home-do": "remove:s1"}) == ["s2"]
    assert len(order(**{"home-do": "add:", "home-new": "video"})) == 3
    assert Looks.objects.get(pk=looks.pk).home == []


def test_texts_of_sections_are_translated(shop, desk, looks):
    shop.further_languages = ["de"]
    shop.save()
    block = {"id": "s1", "kind": "hero", "title": "Autumn", "title-in-de": "Herbst"}
    assert put(desk, looks, block).status_code == 302
    assert "Autumn</h1>" in text_of(shop)
    assert "Herbst</h1>" in text_of(shop, "/de/")
    assert 'value="Herbst"' in desk.page(looks).content.decode()


def test_a_video_loads_nothing_of_another_host(shop, looks):
    link = "https://www.youtube.com/watch?v=abc"
    looks.home = [new_section("video", "s1", title="How", link=link)]
    looks.save()
    answer = Client(headers={"host": shop.domain}).get("/")
    text = answer.content.decode()
    assert f'href="{link}" target="_blank" rel="noopener noreferrer"' in text
    assert text.count("youtube") == 1
    assert "youtube" not in answer["Content-Security-Policy"]
