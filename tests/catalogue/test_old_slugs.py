"""Old slugs: which ones the triggers keep, whatever changes a slug."""

import pytest
from django.db import connection, transaction

from storefront.catalogue import actions, verifying
from storefront.catalogue.models import Category, OldSlug, Product
from storefront.catalogue.triggers import MAX_OLD_SLUGS
from storefront.kit.refusals import InvalidFields
from storefront.shops.models import Shop
from tests.catalogue.factories import make_category, make_product
from tests.races import run_concurrently
from tests.shops.factories import NOW, make_shop


def old(shop: Shop) -> dict[str, str]:
    """The shop's old slugs of products, with the present slug of each product."""
    return dict(OldSlug.objects.filter(shop=shop, category=None).values_list("slug", "product__slug"))


def old_of_categories(shop: Shop) -> dict[str, str]:
    return dict(OldSlug.objects.filter(shop=shop, product=None).values_list("slug", "category__slug"))


def rename(row: Product | Category, slug: str) -> None:
    """As an operator's SQL, by which no action of ours learns of it."""
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {row._meta.db_table} SET slug = %s WHERE id = %s", [slug, row.pk])


def test_every_earlier_slug_leads_to_the_row_not_to_another_slug(shop, other_shop):
    mug, theirs = make_product(shop, "a"), make_product(other_shop, "a")
    for slug in ("b", "c"):
        actions.update_product(shop=shop, product=mug, now=NOW, slug=slug)
    assert old(shop) == {"a": "c", "b": "c"}
    assert old(other_shop) == {}
    rename(theirs, "z")
    assert old(other_shop) == {"a": "z"}


def test_categories_have_their_own(shop):
    cups, product = make_category(shop, "cups"), make_product(shop, "cups")
    actions.update_category(shop=shop, category=cups, now=NOW, slug="mugs")
    assert (old(shop), old_of_categories(shop)) == ({}, {"cups": "mugs"})
    rename(product, "mugs")
    assert (old(shop), old_of_categories(shop)) == ({"cups": "mugs"}, {"cups": "mugs"})


@pytest.mark.parametrize("make", [make_product, make_category])
def test_a_slug_in_use_is_no_old_one(shop, other_shop, make):
    kept = {"make_product": old, "make_category": old_of_categories}[make.__name__]
    first, theirs = make(shop, "a"), make(other_shop, "a")
    rename(theirs, "b")
    rename(first, "b")
    rename(first, "a")
    assert kept(shop) == {"b": "a"}
    # Whoever gets the slug next has it.
    second = make(shop, "b")
    assert kept(shop) == {}
    rename(first, "c")
    rename(second, "a")
    assert kept(shop) == {"b": "a"}
    assert kept(other_shop) == {"a": "b"}
    assert list(verifying.deviations(shop)) == []


def test_two_products_swap_their_slugs(shop):
    first, second = make_product(shop, "a"), make_product(shop, "b")
    rename(first, "between")
    rename(second, "a")
    rename(first, "b")
    assert old(shop) == {"between": "b"}


def test_the_slug_of_a_deleted_product_is_free_and_comes_back_with_it(shop):
    first = make_product(shop, "a")
    rename(first, "b")
    actions.delete_product(shop=shop, product=first, now=NOW)
    second = make_product(shop, "b")
    rename(second, "c")
    assert old(shop) == {"a": "b", "b": "c"}
    actions.restore_product(shop=shop, product=first, now=NOW)
    assert old(shop) == {"a": "b"}
    assert list(verifying.deviations(shop)) == []


def test_only_the_latest_are_kept(shop):
    mug, other = make_product(shop, "mug"), make_product(shop, "other")
    rename(other, "another")
    for number in range(MAX_OLD_SLUGS + 1):
        rename(mug, f"mug-{number}")
    kept = old(shop)
    assert len(kept) == MAX_OLD_SLUGS + 1
    assert "mug" not in kept
    assert kept["mug-0"] == f"mug-{MAX_OLD_SLUGS}"
    assert kept["other"] == "another"


def test_they_go_with_their_row_also_by_sql(shop):
    cups, mug = make_category(shop, "cups"), make_product(shop, "mug")
    rename(cups, "a")
    rename(mug, "b")
    with connection.cursor() as cursor:
        for table in ("catalogue_productsearch", "catalogue_product", "catalogue_category"):
            cursor.execute(f"DELETE FROM {table}")
    assert not OldSlug.objects.exists()


@pytest.mark.disagrees
def test_verify_names_an_old_slug_that_is_in_use(shop, other_shop):
    mug, cup = make_product(shop, "mug"), make_product(shop, "cup")
    make_product(other_shop, "mug")
    OldSlug.objects.create(shop=shop, product=cup, slug="mug")
    assert [(each.check, each.object) for each in verifying.deviations(shop)] == [("old slug", "product mug")]
    assert list(verifying.deviations(other_shop)) == []
    assert mug.slug == "mug"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_renames_and_new_products_race_for_a_slug():
    shop = make_shop()
    first, second = make_product(shop, "a"), make_product(shop, "b")

    def swap(product: Product, *slugs: str) -> None:
        for _ in range(5):
            for slug in slugs:
                with transaction.atomic():
                    own = Shop.objects.get(pk=shop.pk)
                    actions.update_product(shop=own, product=product, now=NOW, slug=slug)

    def create() -> None:
        for _ in range(10):
            own = Shop.objects.get(pk=shop.pk)
            made = actions.create_product(shop=own, now=NOW, name="New", slug="a")
            actions.delete_product(shop=own, product=made, now=NOW)

    calls = (lambda: swap(first, "c", "a"), lambda: swap(second, "a", "c"), create)
    run_concurrently(*calls, refusal=InvalidFields)
    assert list(verifying.deviations(shop)) == []
