# ruff: noqa: S608, the statements consist of column lists and conditions of this package.
"""Slugs of products and categories in the shop's further languages: which row has one, and which are free.

A slug stands in the column `translations`, such as {"de": {"slug": "becher"}}. Triggers keep a row of `TranslatedSlug`
for each, so that two rows cannot have the same one. Among the rows that have no slug of their own in a language, the
slug of the main language counts. So a slug of a language is none that another row has in the main language.
"""

from collections.abc import Collection, Iterator
from typing import Any

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from storefront.catalogue import rules
from storefront.catalogue.dialect import dialect
from storefront.catalogue.models import Category, Product, TranslatedSlug
from storefront.catalogue.translating import Texts
from storefront.catalogue.validation import Errors
from storefront.kit.translations import Translations
from storefront.shops.models import Shop

Model = type[Product] | type[Category]


def slug_in(record: Any, language: str) -> str:
    """The slug of a product or category, a row or a stored record, in this language."""
    of = record if isinstance(record, dict) else vars(record)
    return own_slug((of["translations"] or {}).get(language)) or of["slug"]


def own_slug(texts: Texts | None) -> str:
    """The slug among a row's texts in one language; empty if there is none. Translations that were stored before slugs
    had languages can have any text there, and no address is made of what can be none."""
    slug = (texts or {}).get("slug") or ""
    return slug if rules.is_slug(slug) else ""


def slugs_of(shop: Shop, record: Any) -> dict[str, str]:
    """The row's slug in each of the shop's languages, the main one first."""
    main = record["slug"] if isinstance(record, dict) else record.slug
    return {shop.language: main} | {language: slug_in(record, language) for language in shop.further_languages}


def found_row(shop: Shop, model: Model, slug: str, language: str, *, is_current: bool = True) -> tuple[int, str] | None:
    """Id and main slug of the product (or category) that has this slug in this language, or had it before; whether or
    not shoppers can see it."""
    key = key_of(model)
    rows = TranslatedSlug.objects.filter(
        shop=shop, language=language, slug=slug, current=is_current, **{f"{key}__isnull": False}
    )
    return rows.values_list(f"{key}_id", f"{key}__slug").first()


def moved_row(shop: Shop, model: Model, slug: str, language: str) -> tuple[int, str] | None:
    """Id and main slug of the row that had this slug in this language before, or else has or had it in another one of
    the shop's: a page's address that was made for another language leads on. No query in a shop without any."""
    if not shop.further_languages or "\0" in slug or len(slug) > rules.MAX_SLUG_LENGTH:
        return None
    key = key_of(model)
    rows = TranslatedSlug.objects.filter(
        shop=shop, language__in=shop.further_languages, slug=slug, **{f"{key}__isnull": False}
    )
    found = rows.values_list("language", "current", f"{key}_id", f"{key}__slug")
    best = min(found, key=lambda row: (row[0] != language, not row[1], row[2]), default=None)
    return best and (best[2], best[3])


def key_of(model: Model) -> str:
    return "product" if model is Product else "category"


def taken(
    shop: Shop, model: Model, *, exactly: Collection[str] = (), beginning: str = "", but: int | None = None
) -> set[str]:
    """The slugs that a row has in one of the shop's further languages, among these or with this beginning. No query in
    a shop without any."""
    if not shop.further_languages:
        return set()
    wanted = Q(slug__startswith=beginning) if beginning else Q(slug__in=exactly)
    return set(current(shop.pk, model).filter(wanted).exclude(**{key_of(model): but}).values_list("slug", flat=True))


def conflicts(row: Product | Category) -> dict[str, str]:
    """The slugs of a row in further languages that are another row's, by language."""
    given = _given(row)
    if not given:
        return {}
    model = type(row)
    of_others = current(row.shop_id, model).filter(slug__in=given.values()).exclude(**{key_of(model): row.pk})
    known = set(of_others.values_list("language", "slug"))
    others: QuerySet[Any] = model._default_manager.filter(shop=row.shop_id, slug__in=given.values()).exclude(pk=row.pk)
    if model is Product:
        others = others.filter(deleted_at=None)
    main = set(others.values_list("slug", flat=True))
    return {language: slug for language, slug in given.items() if (language, slug) in known or slug in main}


def check(row: Product | Category, given: Collection[str], errors: Errors) -> None:
    """Add the problems of the row's slugs in further languages, if its translations are among what is `given`."""
    if "translations" in given and "translations" not in errors and (found := problems(row)):
        errors["translations"] = [f"{language}: {problem}" for language, problem in found.items()]


def problems(row: Product | Category) -> dict[str, str]:
    """Returns the problems of the row's slugs in further languages, by language."""
    given = _given(row)
    form = _("Expected a slug of 1 to %(most)s characters without spaces or any of / \\ ? # %%.") % {
        "most": rules.MAX_SLUG_LENGTH
    }
    found = {language: form for language, slug in given.items() if not rules.is_slug(slug)}
    if found:
        return found
    return {language: taken_problem(type(row), slug) for language, slug in conflicts(row).items()}


def taken_problem(model: Model, slug: str) -> str:
    return f"Another {model._meta.verbose_name} of this shop already has the slug {slug}."


def _given(row: Product | Category) -> dict[str, str]:
    return given_in(row.translations)


def given_in(translations: Translations | None) -> dict[str, str]:
    """The slugs of a row with these translations, by language."""
    return {language: slug for language, texts in (translations or {}).items() if (slug := texts.get("slug"))}


def current(shop: int, model: Model) -> QuerySet[TranslatedSlug]:
    """The slugs that the shop's products (or categories) have now, in all languages."""
    return TranslatedSlug.objects.filter(shop=shop, current=True, **{f"{key_of(model)}__isnull": False})


def without_conflicts(row: Product | Category) -> Any:
    """The row's translations without the slugs that are another row's."""
    wrong = conflicts(row)
    return row.translations and {
        language: {name: text for name, text in texts.items() if name != "slug" or language not in wrong}
        for language, texts in row.translations.items()
    }


def refill(shop: int | None = None) -> Iterator[str]:
    """Statements that write the slugs of all rows again, or of those of one shop. Of several rows with one slug, the
    first one has it. Slugs that rows had before stay."""
    of_shop = "" if shop is None else f" AND r.shop_id = {shop}"
    for key, live in (("product", " AND r.deleted_at IS NULL"), ("category", "")):
        given = f"catalogue_{key} r, {dialect.SLUGS_OF} WHERE r.translations IS NOT NULL{live}"
        yield (
            f"UPDATE catalogue_translatedslug AS r SET current = false WHERE current AND {key}_id IS NOT NULL{of_shop}"
            f" AND ({key}_id, language, slug) NOT IN (SELECT r.id, e.key, {dialect.SLUG} FROM {given}"
            f" AND {dialect.SLUG} IS NOT NULL)"
        )
        yield (
            f"INSERT INTO catalogue_translatedslug (shop_id, {key}_id, language, slug, current)"
            f" SELECT r.shop_id, min(r.id), e.key, {dialect.SLUG}, true FROM {given}{of_shop}"
            f" AND length(e.key) <= 5 AND length({dialect.SLUG}) BETWEEN 1 AND 255 GROUP BY 1, 3, 4"
            f" ON CONFLICT (shop_id, language, slug) WHERE {key}_id IS NOT NULL"
            f" DO UPDATE SET {key}_id = excluded.{key}_id, current = true WHERE NOT catalogue_translatedslug.current"
        )


def rewrite(shop: Shop) -> None:
    """Write the slugs of the shop's rows again."""
    with connection.cursor() as cursor:
        for statement in refill(shop.pk):
            cursor.execute(statement)
