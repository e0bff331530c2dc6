"""Slugs in further languages: which rows have them, whatever writes them, and which are refused."""

import pytest
from django.db import connection

from storefront.catalogue import actions, translated_slugs, verifying
from storefront.catalogue.models import Category, Product, TranslatedSlug
from storefront.kit.refusals import InvalidFields
from storefront.listing.reindexing import reindex
from storefront.product_files.importing import import_products
from storefront.shops.models import Shop
from tests.catalogue.factories import make_category, make_product
from tests.races import run_concurrently
from tests.shops.factories import NOW


@pytest.fixture
def shop(shop) -> Shop:
    shop.further_languages = ["de", "fr"]
    shop.save()
    return shop


def stored(shop: Shop, kind: str = "product") -> dict[tuple[str, str], tuple[str, bool]]:
    rows = TranslatedSlug.objects.filter(shop=shop, **{f"{kind}__isnull": False})
    return {
        (language, slug): (main, current)
        for language, slug, main, current in rows.values_list("language", "slug", f"{kind}__slug", "current")
    }


def german(slug: str, **more: str) -> dict[str, dict[str, str]]:
    return {"de": {"slug": slug, **more}}


@pytest.mark.parametrize(("make", "kind"), [(make_product, "product"), (make_category, "category")])
def test_a_row_has_its_slugs_and_keeps_old_ones(shop, other_shop, make, kind):
    mug = make(shop, "Mug", translations={"de": {"slug": "becher"}, "fr": {"slug": "tasse", "name": "Tasse"}})
    make(other_shop, "Mug", translations=german("becher"))
    assert stored(shop, kind) == {("de", "becher"): ("mug", True), ("fr", "tasse"): ("mug", True)}
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {mug._meta.db_table} SET translations = %s WHERE id = %s", ['{"de": {"slug": "tasse"}}', mug.pk]
        )
    assert stored(shop, kind) == {
        ("de", "becher"): ("mug", False),
        ("de", "tasse"): ("mug", True),
        ("fr", "tasse"): ("mug", False),
    }
    mug.refresh_from_db()
    assert translated_slugs.slugs_of(shop, mug) == {shop.language: "mug", "de": "tasse", "fr": "mug"}
    # Whoever gets an old one has it.
    make(shop, "Cup", translations=german("becher"))
    assert stored(shop, kind)["de", "becher"] == ("cup", True)
    assert list(verifying.deviations(shop)) == []
    mug.delete()
    assert set(stored(shop, kind)) == {("de", "becher")}
    assert set(stored(other_shop, kind)) == {("de", "becher")}


NO_SLUGS = (
    *(None, {}, [], "x", {"de": None}, {"de": ["slug"]}, {"de": {"slug": ""}}),
    *({"longer": {"slug": "x"}}, {"de": {"slug": "x" * 256}}),
)


# What apps could store before slugs had languages.
@pytest.mark.parametrize("language", ['d"e', "d'e", "a.b", "$", ""])
def test_any_name_of_a_language_can_have_one(shop, language):
    make_product(shop, "Mug", translations={language: {"slug": "becher"}})
    assert stored(shop) == {(language, "becher"): ("mug", True)}
    assert list(verifying.deviations(shop)) == []


def test_a_list_has_none(shop):
    Product.objects.filter(pk=make_product(shop, "Mug").pk).update(translations=[{"slug": "becher"}])
    assert stored(shop) == {}
    assert list(verifying.deviations(shop)) == []


@pytest.mark.parametrize("translations", NO_SLUGS)
def test_what_is_no_slug_is_left_out(shop, translations):
    mug = make_product(shop, "Mug")
    Product.objects.filter(pk=mug.pk).update(translations=translations)
    assert stored(shop) == {}


def test_a_deleted_product_has_none_and_gets_it_again_if_it_is_free(shop):
    mug = make_product(shop, "Mug", translations=german("becher", name="Becher"))
    actions.delete_product(shop=shop, product=mug, now=NOW)
    assert stored(shop)["de", "becher"] == ("mug", False)
    actions.restore_product(shop=shop, product=mug, now=NOW)
    assert stored(shop)["de", "becher"] == ("mug", True)
    actions.delete_product(shop=shop, product=mug, now=NOW)
    make_product(shop, "Cup", translations=german("becher"))
    restored = actions.restore_product(shop=shop, product=mug, now=NOW)
    assert restored.translations == {"de": {"name": "Becher"}}
    assert stored(shop)["de", "becher"] == ("cup", True)


@pytest.mark.parametrize("kind", ["product", "category"])
def test_a_slug_of_another_row_is_refused(shop, other_shop, kind):
    create, make = {
        "product": (actions.create_product, make_product),
        "category": (actions.create_category, make_category),
    }[kind]
    update = {"product": actions.update_product, "category": actions.update_category}[kind]
    make(shop, "Mug", translations=german("becher"))
    make(other_shop, "Mug", translations=german("glas"))
    with pytest.raises(InvalidFields) as refused:
        create(shop=shop, now=NOW, name="Cup", translations=german("becher"))
    assert refused.value.errors == {"translations": [f"de: Another {kind} of this shop already has the slug becher."]}
    cup = create(shop=shop, now=NOW, name="Cup", translations=german("glas"))
    # Also one that another row is shown at, since it has none of its own.
    for slug, problem in (("mug", "Another"), ("a/b", "Expected a slug")):
        with pytest.raises(InvalidFields) as refused:
            update(shop=shop, now=NOW, translations=german(slug), **{kind: cup})
        assert problem in refused.value.errors["translations"][0]
    with pytest.raises(InvalidFields, match="invalid"):
        update(shop=shop, now=NOW, slug="becher", **{kind: cup})
    assert create(shop=shop, now=NOW, name="Becher").slug == "becher-2"
    assert update(shop=shop, now=NOW, translations=german("tasse"), **{kind: cup}).translations == german("tasse")


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_of_two_products_that_take_one_slug_at_once_one_is_refused(shop):
    mug, cup = make_product(shop, "Mug"), make_product(shop, "Cup")

    def take(product: Product) -> str:
        try:
            actions.update_product(shop=shop, product=product, now=NOW, translations=german("becher"))
        except InvalidFields as refusal:
            return refusal.errors["translations"][0]
        return ""

    outcomes = run_concurrently(lambda: take(mug), lambda: take(cup))
    assert sorted(outcomes) == ["", "de: Another product of this shop already has the slug becher."]
    assert [current for _, current in stored(shop).values()] == [True]


def test_reindexing_writes_what_is_missing_and_ends_what_is_wrong(shop, other_shop):
    mug = make_product(shop, "Mug", translations=german("becher"))
    cups = make_category(shop, "Cups", translations=german("tassen"))
    make_product(other_shop, "Mug", translations=german("becher"))
    TranslatedSlug.objects.filter(shop=shop).delete()
    missing = [str(each) for each in verifying.deviations(shop)]
    assert len(missing) == 2
    assert "product mug in de" in missing[0]
    assert "category cups in de" in missing[1]
    reindex(shop=shop)
    assert list(verifying.deviations(shop)) == []
    TranslatedSlug.objects.filter(shop=shop).update(slug="falsch")
    assert len([each for each in verifying.deviations(shop) if "falsch" in str(each)]) == 2
    reindex(shop=shop)
    assert stored(shop) == {("de", "falsch"): ("mug", False), ("de", "becher"): ("mug", True)}
    assert stored(shop, "category") == {("de", "falsch"): ("cups", False), ("de", "tassen"): ("cups", True)}
    assert stored(other_shop) == {("de", "becher"): ("mug", True)}
    assert list(verifying.deviations(shop)) == []
    assert (mug.slug, cups.slug) == ("mug", "cups")


@pytest.mark.parametrize("make", [make_product, make_category])
def test_of_rows_that_had_one_slug_before_slugs_had_languages_the_first_gets_it(shop, make):
    kind = "product" if make is make_product else "category"
    mug, cup = make(shop, "Mug", translations=german("becher")), make(shop, "Cup")
    # As in a database of a release without the table: both have it, and a migration fills the table as this does.
    TranslatedSlug.objects.all().delete()
    type(cup)._default_manager.filter(pk=cup.pk).update(translations=german("becher"))
    TranslatedSlug.objects.all().delete()
    reindex(shop=shop)
    assert stored(shop, kind) == {("de", "becher"): ("mug", True)}
    for row in (mug, cup):
        row.refresh_from_db()
        assert row.translations == german("becher")
    (found,) = verifying.deviations(shop)
    assert (f"{kind} cup in de" in str(found), "becher" in str(found)) == (True, True)


def test_a_shop_without_further_languages_asks_for_none(shop, django_assert_num_queries):
    shop.further_languages = []
    with django_assert_num_queries(0):
        assert translated_slugs.taken(shop, Product, exactly=["a"]) == set()
        assert translated_slugs.moved_row(shop, Category, "a", "") is None


@pytest.mark.django_db(transaction=True)
def test_a_file_is_refused_for_a_product_whose_slug_another_one_has(shop, tmp_path):
    make_product(shop, "Mug", translations=german("becher"))
    path = tmp_path / "cups.jsonl"
    cup = '{{"name": "{}", "price": "1.00", "translations": {{"de": {{"slug": "{}"}}}}}}'
    path.write_text("\n".join([cup.format("Cup", "becher"), cup.format("Glass", "glas"), cup.format("Becher", "b")]))
    report = import_products(shop=shop, file=path, now=NOW)
    assert (report.created, report.failed) == (2, 1)
    assert stored(shop)["de", "glas"] == ("glass", True)
    # Nor does a new product get the slug of another language.
    assert not Product.objects.filter(shop=shop, slug="becher").exists()


def test_the_admins_forms_name_the_field(desk, shop):
    mug = make_product(shop, "Mug", translations=german("becher"))
    cup = make_product(shop, "Cup")
    page = desk.fill(cup, slug_in_de="becher")
    assert "Another product of this shop already has the slug becher." in page.content.decode()
    desk.fill(cup, slug_in_de="tasse")
    assert stored(shop)["de", "tasse"] == ("cup", True)
    assert stored(shop)["de", "becher"] == (mug.slug, True)
