import pytest

from storefront.catalogue import actions
from storefront.catalogue.models import Category, Product
from storefront.kit.refusals import InvalidFields, NotFound
from tests.catalogue.factories import make_category, make_product
from tests.shops.factories import NOW


def test_refuses_to_move_a_category_under_itself(shop):
    kitchen = make_category(shop, "Kitchen")
    cups = make_category(shop, "Cups", kitchen)
    mugs = make_category(shop, "Mugs", cups)
    for target in (kitchen, cups, mugs):
        with pytest.raises(InvalidFields) as refused:
            actions.update_category(shop=shop, category=kitchen, now=NOW, parent=target)
        assert list(refused.value.errors) == ["parent_id"]
    kitchen.refresh_from_db()
    assert kitchen.parent_id is None


def test_refuses_to_delete_a_category_with_subcategories(shop):
    kitchen = make_category(shop, "Kitchen")
    cups = make_category(shop, "Cups", kitchen)
    with pytest.raises(actions.CategoryHasChildren) as refused:
        actions.delete_category(shop=shop, category=kitchen, now=NOW)
    assert str(refused.value) == "Move or delete its subcategories first."
    actions.delete_category(shop=shop, category=cups, now=NOW)
    actions.delete_category(shop=shop, category=kitchen, now=NOW)
    assert not Category.objects.filter(shop=shop).exists()


def test_deleting_a_category_keeps_its_products(shop):
    cups = make_category(shop, "Cups")
    mug = make_product(shop, "Mug", categories=(cups,))
    actions.delete_category(shop=shop, category=cups, now=NOW)
    assert list(mug.categories.all()) == []
    assert Product.objects.filter(pk=mug.pk).exists()


def test_slugs_are_unique_in_a_shop(shop, other_shop):
    actions.create_category(shop=shop, now=NOW, name="Cups")
    assert actions.create_category(shop=shop, now=NOW, name="Cups").slug == "cups-2"
    assert actions.create_category(shop=other_shop, now=NOW, name="Cups").slug == "cups"
    with pytest.raises(InvalidFields) as refused:
        actions.create_category(shop=shop, now=NOW, name="Other", slug="cups")
    assert refused.value.errors == {"slug": ["Another category of this shop already has this slug."]}


def test_a_new_name_keeps_the_slug(shop):
    cups = make_category(shop, "Cups")
    assert actions.update_category(shop=shop, category=cups, now=NOW, name="Mugs").slug == "cups"


def test_refuses_another_shops_category(shop, other_shop):
    theirs = make_category(other_shop, "Theirs")
    for parent in (theirs, theirs.id, "x", 2**70):
        with pytest.raises(InvalidFields) as refused:
            actions.create_category(shop=shop, now=NOW, name="Cups", parent=parent)
        assert list(refused.value.errors) == ["parent"]
    with pytest.raises(NotFound):
        actions.update_category(shop=shop, category=theirs, now=NOW, name="Mine")
    with pytest.raises(NotFound):
        actions.delete_category(shop=shop, category=theirs, now=NOW)


def test_all_invalid_fields_are_named_together(shop):
    with pytest.raises(InvalidFields) as refused:
        actions.create_category(shop=shop, now=NOW, name="", slug="a/b", sort_order="x", meta_title="\0")
    assert set(refused.value.errors) == {"name", "slug", "sort_order", "meta_title"}
    assert not Category.objects.filter(shop=shop).exists()
