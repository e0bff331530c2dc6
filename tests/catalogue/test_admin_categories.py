"""The category tree in the admin."""

from storefront.catalogue.models import Category
from tests.catalogue.factories import make_category, make_product
from tests.staff import admin_url


def bounds(shop) -> dict[str, tuple[int, int]]:
    return {row.name: (row.lft, row.rgt) for row in Category.objects.filter(shop=shop)}


def test_categories_are_created_under_their_parents(desk, shop):
    assert desk.fill(Category, name="Kitchen").status_code == 302
    kitchen = Category.objects.get()
    assert desk.fill(Category, name="Cups", parent=kitchen.pk, description="To drink from").status_code == 302
    assert bounds(shop) == {"Kitchen": (1, 4), "Cups": (2, 3)}
    cups = Category.objects.get(name="Cups")
    assert (cups.shop, cups.slug, cups.description) == (shop, "cups", "To drink from")


def test_a_move_renumbers_only_this_shop(desk, shop, other_shop):
    make_category(other_shop, "Theirs")
    kitchen, garden = make_category(shop, "Kitchen"), make_category(shop, "Garden")
    cups = make_category(shop, "Cups", kitchen)
    desk.fill(cups, parent=garden.pk)
    assert bounds(shop) == {"Kitchen": (1, 2), "Garden": (3, 6), "Cups": (4, 5)}
    desk.fill(garden, sort_order=-1)
    assert bounds(shop) == {"Garden": (1, 4), "Cups": (2, 3), "Kitchen": (5, 6)}
    desk.fill(cups, parent="")
    assert bounds(shop)["Garden"] == (1, 2)
    assert bounds(other_shop) == {"Theirs": (1, 2)}


def test_refuses_to_move_a_category_under_itself(desk, shop):
    kitchen = make_category(shop, "Kitchen")
    cups = make_category(shop, "Cups", kitchen)
    for below in (kitchen, cups):
        page = desk.fill(kitchen, parent=below.pk)
        assert "parent" in page.context_data["adminform"].form.errors


def test_the_list_is_the_tree_in_order(desk, shop):
    kitchen = make_category(shop, "Kitchen")
    make_category(shop, "Garden")
    make_product(shop, "Mug", categories=(make_category(shop, "Cups", kitchen),))
    rows = desk.get(admin_url(Category, "changelist")).context_data["cl"].result_list
    assert [(row.name, row.depth, row.product_count) for row in rows] == [
        ("Kitchen", 0, 0),
        ("Cups", 1, 1),
        ("Garden", 0, 0),
    ]


def test_a_branch_is_deleted_if_all_of_it_is_selected(desk, shop):
    kitchen = make_category(shop, "Kitchen")
    cups = make_category(shop, "Cups", kitchen)
    page = desk.post(admin_url(kitchen, "delete"), {"post": "yes"}, follow=True)
    assert Category.objects.count() == 2
    assert "Move or delete its subcategories first." in page.content.decode()
    assert page.status_code == 200
    make_category(shop, "Garden")
    desk.choose(Category, "delete_selected", kitchen, cups, post="yes")
    assert bounds(shop) == {"Garden": (1, 2)}


def test_a_slug_that_is_taken_is_a_field_error(desk, shop):
    make_category(shop, "Cups")
    page = desk.fill(Category, name="Other", slug="cups")
    assert "slug" in page.context_data["adminform"].form.errors


def test_choices_show_the_path_to_a_category(desk, shop):
    make_category(shop, "Accessories", make_category(shop, "Bicycles"))
    asked = {"app_label": "catalogue", "model_name": "product", "field_name": "categories", "term": "acc"}
    found = desk.get("/admin/autocomplete/", asked).json()["results"]
    assert [row["text"] for row in found] == ["Bicycles › Accessories"]
