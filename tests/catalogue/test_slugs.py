import pytest

from storefront.catalogue import actions, rules
from storefront.catalogue.models import Product
from storefront.kit.refusals import InvalidFields
from tests.races import run_concurrently
from tests.shops.factories import NOW


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Blue Mug!", "blue-mug"),
        ("Éclair", "eclair"),
        ("Große STRAẞE", "grosse-strasse"),
        ("日本茶", "日本茶"),
        ("2026", "product-2026"),
        ("***", "product"),
        ("x" * 500, "x" * 200),
        ("a/b?c#d%e", "abcde"),
    ],
)
def test_a_slug_is_made_from_the_name(shop, name, slug):
    assert actions.unique_slug(shop, name) == slug
    assert rules.is_slug(slug)


def test_a_used_slug_gets_the_next_free_number(shop, other_shop):
    slugs = [actions.create_product(shop=shop, now=NOW, name="Mug").slug for _ in range(3)]
    assert slugs == ["mug", "mug-2", "mug-3"]
    assert actions.create_product(shop=shop, now=NOW, name="Muggle").slug == "muggle"
    assert actions.create_product(shop=other_shop, now=NOW, name="Mug").slug == "mug"


def test_refuses_a_slug_in_use(shop):
    actions.create_product(shop=shop, now=NOW, name="Mug")
    with pytest.raises(InvalidFields) as refused:
        actions.create_product(shop=shop, now=NOW, name="Cup", slug="mug")
    assert refused.value.errors == {"slug": ["Another product of this shop already has this slug."]}


@pytest.mark.django_db(transaction=True)
def test_concurrent_products_with_one_name_get_different_slugs(shop):
    slugs = run_concurrently(*[lambda: actions.create_product(shop=shop, now=NOW, name="Mug").slug] * 4)
    assert sorted(slugs) == ["mug", "mug-2", "mug-3", "mug-4"]
    assert Product.objects.count() == 4
