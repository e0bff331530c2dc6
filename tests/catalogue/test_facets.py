"""What filters find and count, compared with a count by hand over random products, before and after random writes."""

from datetime import timedelta
from decimal import Decimal
from random import Random
from threading import Thread

import pytest
from django.db import OperationalError

from storefront.catalogue.models import BundleItem, Product, Variant
from storefront.listing import facet_index, page, queries, warming
from storefront.listing.facets import Chosen, facets_of
from storefront.listing.queries import ProductFilters
from tests.catalogue.factories import make_category, make_option, make_product, make_variant
from tests.orders.files import add_file
from tests.shops.factories import NOW
from tests.webhooks.factories import wait_until

COLOURS, MATERIALS, SIZES = ("Blue", "Red", "Grün"), ("Wool", "Felt"), ("S", "M", "")


def some(random: Random, items, share: float = 0.5):
    return [item for item in items if random.random() < share]


class Cast:
    """Random products of a shop, and what each is by hand."""

    def __init__(self, shop, seed: int) -> None:
        self.shop, self.random = shop, Random(seed)
        self.brands = [shop.brands.create(name=name) for name in ("Acme", "Bolt")]
        top = make_category(shop, "Top")
        self.categories = [top, make_category(shop, "Below", parent=top), make_category(shop, "Other")]
        for category in self.categories:
            category.refresh_from_db()
        for number in range(25):
            self.add(number)

    def add(self, number: int) -> None:
        random = self.random
        given = {
            "price": Decimal(random.randint(1, 9)),
            "compare_price": Decimal(random.choice((0, 5))),
            "stock_qty": random.choice((0, 3)),
            "track_inventory": random.random() < 0.8,
            "allow_backorders": random.random() < 0.1,
            "brand": random.choice([None, *self.brands]),
            "status": random.choice(("active", "active", "active", "draft")),
            "exclude_from_catalog": random.random() < 0.1,
            "publish_at": random.choice((None, None, NOW - timedelta(days=1), NOW + timedelta(days=1))),
            "unpublish_at": random.choice((None, None, NOW - timedelta(hours=1), NOW + timedelta(days=1))),
        }
        attributes = [{"name": random.choice(("Material", "material")), "values": some(random, MATERIALS)}]
        is_variable = random.random() < 0.4
        if is_variable:
            attributes.append({"name": "Colour", "values": list(COLOURS), "variation": True})
            attributes.append({"name": "Size", "values": ["S", "M"], "variation": True})
        categories = tuple(some(random, self.categories, 0.4))
        words = random.choice(("Cup", "Bowl"))
        product = make_product(
            self.shop, f"{words} {number}", attributes=attributes, categories=categories, slug=f"p{number}", **given
        )
        pairs = [(colour, size) for colour in (*COLOURS, "") for size in SIZES]
        for colour, size in some(random, pairs, 0.3) if is_variable else ():
            values = {name: value for name, value in (("Colour", colour), ("Size", size)) if value}
            make_variant(
                product,
                colour or "Any",
                option_values=values,
                price=Decimal(random.randint(1, 9)),
                compare_price=Decimal(random.choice((0, 5))),
                stock_qty=random.choice((0, 2)),
                is_active=random.random() < 0.8,
            )
        if random.random() < 0.2:
            make_option(product, "Wrap", {"Paper": "2.00", "Silk": "4.00"}, required=True)

    def change(self) -> None:
        """Some writes, by all ways: stock, prices, status, links, variants, deletion."""
        random = self.random
        rows = list(Product.objects.filter(shop=self.shop))
        for product in random.sample(rows, 6):
            kind = random.randrange(6)
            if kind == 0:
                Product.objects.filter(pk=product.pk).update(stock_qty=random.choice((0, 4)), price=Decimal(7))
            elif kind == 1:
                Product.objects.filter(pk=product.pk).update(status=random.choice(("active", "draft")))
            elif kind == 2:
                Variant.objects.filter(product=product).update(stock_qty=random.choice((0, 4)), price=Decimal(3))
            elif kind == 3:
                product.category_links.all().delete()
            elif kind == 4:
                Variant.objects.filter(product=product).delete()
            else:
                product.delete()
        self.add(100 + random.randrange(10**6))


def facts(product: Product) -> dict:
    """What filters ask of a product, by hand: of each variant that can be bought, else of the product."""
    variants = [each for each in product.variants.all() if each.is_active]
    added = sum((min(v.price for v in o.values.all()) for o in product.options.all() if o.required), Decimal(0))
    is_variable = product.type == "variable"
    sold = variants if is_variable and variants else [product]
    return {
        "units": [
            {
                "price": int((each.price + added) * 100),
                "stock": each.can_sell(1) and not (is_variable and not variants),
                "sale": each.compare_price > each.price and not (is_variable and not variants),
                "values": {
                    (attribute["name"].casefold(), value.casefold())
                    for attribute in product.attributes
                    for value in attribute["values"]
                    if not (attribute.get("variation") and each is not product)
                    or each.option_values.get(attribute["name"]) in (None, value)
                },
            }
            for each in sold
        ],
        "brand": product.brand and product.brand.name,
        "categories": {each.pk for each in product.categories.all()},
    }


def agrees(fact: dict, chosen: Chosen, without: str = "", **wanted) -> bool:
    """Whether one variant of a product with these facts matches all filters but `without`, and what is wanted besides:
    `pair`, `stock`, `sale`, `price`."""
    if chosen.brands and without != "brand" and fact["brand"] not in chosen.brands:
        return False
    return any(unit_agrees(unit, chosen, without, **wanted) for unit in fact["units"])


def unit_agrees(unit: dict, chosen: Chosen, without: str, pair=None, **wanted) -> bool:
    least, most = chosen.least or 0, chosen.most or 10**9
    tests = {
        "price": not chosen.has_price or least <= unit["price"] <= most,
        "stock": not chosen.in_stock or unit["stock"],
        "sale": not chosen.on_sale or unit["sale"],
    }
    for name, values in chosen.values.items():
        tests[name] = any((name, value) in unit["values"] for value in values)
    matches = all(ok for kind, ok in tests.items() if kind != without)
    return matches and pair in (None, *unit["values"]) and all(unit[key] == value for key, value in wanted.items())


def compare(cast: Cast, chosen: Chosen, **given) -> int:
    """Compare one list with its count by hand; returns how many products it has."""
    filters = ProductFilters(with_subcategories=True, **given)
    found = facets_of(cast.shop, filters, chosen, categories=cast.categories, now=NOW)
    rows = [
        row for row in Product.objects.filter(shop=cast.shop) if row.is_published(NOW) and not row.exclude_from_catalog
    ]
    rows = [row for row in rows if filters.q.lower() in row.name.lower()]
    below = {each.pk: [o.pk for o in cast.categories if each.lft <= o.lft <= each.rgt] for each in cast.categories}
    everywhere = {row.pk: facts(row) for row in rows}
    branch = {pk for each in cast.categories if each.slug == filters.category for pk in below[each.pk]}
    known = {pk: fact for pk, fact in everywhere.items() if not filters.category or fact["categories"] & branch}

    def count(without: str = "", **wanted) -> int:
        return sum(agrees(fact, found.chosen, without, **wanted) for fact in known.values())

    assert set(found.ids) == {pk for pk, fact in known.items() if agrees(fact, found.chosen)}
    assert found.total_without == len(known)
    assert found.in_stock == count("stock", stock=True)
    assert found.on_sale == count("sale", sale=True)
    for brand in found.brands:
        having = [fact for fact in known.values() if fact["brand"] == brand.label]
        assert brand.count == sum(agrees(fact, found.chosen, "brand") for fact in having)
    for attribute in found.attributes:
        for value in attribute.values:
            pair = attribute.key, value.key
            assert value.count == count(attribute.key, pair=pair), pair
    prices = [
        unit["price"]
        for fact in known.values()
        for unit in fact["units"]
        if agrees({**fact, "units": [unit]}, found.chosen, "price")
    ]
    assert found.prices == ((min(prices), max(prices)) if prices else None)
    for pk, inside in below.items():
        counted = [f for f in everywhere.values() if agrees(f, found.chosen) and f["categories"] & {*inside}]
        assert found.categories[pk] == len(counted)
    shown = queries.narrowed_page(cast.shop, filters, found.ids, page=1, per_page=5, now=NOW)
    assert (shown.total, len(shown.rows)) == (found.total, min(5, found.total))
    return found.total


LISTS = ({}, {"category": "top"}, {"category": "other"}, {"q": "cup"}, {"q": "bowl", "category": "top"})


def random_choice(random: Random) -> Chosen:
    values = {
        name: frozenset(some(random, options))
        for name, options in (("colour", ("blue", "red", "grün")), ("material", ("wool", "felt")), ("size", ("s", "m")))
        if random.random() < 0.5
    }
    return Chosen(
        least=random.choice((None, None, 200)),
        most=random.choice((None, None, 700)),
        in_stock=random.random() < 0.4,
        on_sale=random.random() < 0.3,
        brands=frozenset(some(random, ("Acme", "Bolt"), 0.3)),
        values={name: wanted for name, wanted in values.items() if wanted},
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_finds_and_counts_as_by_hand_while_products_change(shop, other_shop, seed):
    cast, theirs = Cast(shop, seed), Cast(other_shop, seed + 100)
    totals = []
    for _ in range(5):
        for given in LISTS:
            totals.append(compare(cast, random_choice(cast.random), **given))
        compare(theirs, random_choice(cast.random))
        cast.change()
    # What is chosen depends on ids, which differ from run to run.
    assert sum(totals) > 5


def test_a_bundle_is_in_stock_as_long_as_its_items_are(shop):
    part = make_product(shop, "Honey", stock_qty=4)
    box = make_product(shop, "Box", type="bundle", stock_qty=0)
    BundleItem.objects.create(shop=shop, bundle=box, product=part, qty=2)
    in_stock = Chosen(in_stock=True)
    assert set(facets_of(shop, ProductFilters(), in_stock, now=NOW).ids) == {part.pk, box.pk}
    Product.objects.filter(pk=part.pk).update(stock_qty=1)
    assert set(facets_of(shop, ProductFilters(), in_stock, now=NOW).ids) == {part.pk}


@pytest.mark.parametrize("name", ["Colour", "colour", " COLOUR "])
def test_an_attribute_is_the_option_of_its_name_in_any_case(shop, name):
    attributes = [{"name": name, "values": ["Blue", "Red"], "variation": True}]
    cup = make_product(shop, "Cup", attributes=attributes)
    for colour, size, stock in (("Blue", "M", 0), ("Red", "S", 5)):
        make_variant(cup, f"{colour} {size}", option_values={"Colour": colour, "Size": size}, stock_qty=stock)
    for colour, wanted in (("blue", set()), ("red", {cup.pk})):
        chosen = Chosen(in_stock=True, values={"colour": frozenset({colour})})
        assert set(facets_of(shop, ProductFilters(), chosen, now=NOW).ids) == wanted


def test_a_download_is_in_stock_as_long_as_it_has_a_file(shop):
    book = make_product(shop, "Book", type="digital")
    box = make_product(shop, "Box", type="bundle")
    BundleItem.objects.create(shop=shop, bundle=box, product=book, qty=1)

    def in_stock() -> set[int]:
        return set(facets_of(shop, ProductFilters(), Chosen(in_stock=True), now=NOW).ids)

    assert in_stock() == set()
    file = add_file(book)
    assert in_stock() == {book.pk, box.pk}
    file.delete()
    assert in_stock() == set()


@pytest.mark.django_db(transaction=True)
def test_downloads_without_a_file_are_not_read_anew_by_each_visitor(shop, django_assert_max_num_queries):
    for number in range(3):
        make_product(shop, f"Book {number}", type="digital")
    index = facet_index.index_of(shop)
    for most in (20, 2):
        with django_assert_max_num_queries(most):
            index.refresh(queries.database_fetch, NOW)
    assert len(index.listed) == 3


@pytest.mark.parametrize("failing", [1, 4])
def test_a_read_that_fails_leaves_nothing_out(shop, failing):
    def fails(statement: str, params: dict, **given):
        fails.left -= 1
        if not fails.left:
            raise OperationalError("canceling statement due to statement timeout")
        return queries.database_fetch(statement, params, **given)

    make_product(shop, "Bowl")
    cup = make_product(shop, "Cup")
    index = facet_index.index_of(shop)
    for in_stock in (2, 1):
        fails.left = failing
        with pytest.raises(OperationalError):
            index.refresh(fails, NOW)
        index.refresh(queries.database_fetch, NOW)
        assert (len(index.listed), len(index.in_stock)) == (2, in_stock)
        Product.objects.filter(pk=cup.pk).update(stock_qty=0)


@pytest.mark.slow
def test_an_attribute_with_too_many_values_is_no_filter(shop, monkeypatch):
    monkeypatch.setattr(facet_index, "MAX_VALUES", 3)

    def filters(chosen: str = "4 cm") -> dict[str, int]:
        found = facets_of(shop, ProductFilters(), Chosen(values={"size": frozenset({chosen})}), now=NOW)
        assert not found.chosen or found.total == 1
        return {attribute.key: len(attribute.values) for attribute in found.attributes}

    cups = [
        make_product(
            shop,
            f"Cup {number}",
            attributes=[
                {"name": "Number", "values": [f"40{number}"]},
                {"name": "Size", "values": [f"{min(number, 2)} cm"]},
            ],
        )
        for number in range(5)
    ]
    assert filters() == {"size": 3}
    # Values that no product has any more do not count.
    Product.objects.filter(pk=cups[0].pk).update(attributes=[{"name": "size", "values": ["4 cm"]}])
    assert filters() == {"size": 3}
    make_variant(cups[1], "Large", option_values={"Size": "5 cm"})
    assert filters() == {}
    assert not any(attribute.values for attribute in facet_index.index_of(shop).attributes.values())


def test_dates_show_and_hide_without_a_write(shop):
    cup = make_product(shop, "Cup", publish_at=NOW + timedelta(hours=1), unpublish_at=NOW + timedelta(hours=2))
    found = [
        set(facets_of(shop, ProductFilters(), Chosen(), now=NOW + timedelta(hours=hours)).ids) for hours in (0, 1, 2)
    ]
    assert found == [set(), {cup.pk}, set()]


def test_many_changes_at_once_are_read_like_few(shop, monkeypatch):
    monkeypatch.setattr(facet_index, "MAX_CHANGED", 2)
    monkeypatch.setattr(facet_index, "BATCH_ROWS", 2)
    make_product(shop, "Cup")
    assert facets_of(shop, ProductFilters(), Chosen(), now=NOW).total == 1
    for number in range(4):
        make_product(shop, f"Mug {number}")
    assert facets_of(shop, ProductFilters(), Chosen(), now=NOW).total == 5


def test_pages_of_a_large_result_are_in_the_lists_order(shop, monkeypatch):
    monkeypatch.setattr(queries.page_sql, "MAX_IDS", 3)
    monkeypatch.setattr(page, "ORDER_STEP_ROWS", 2)
    for number in range(20):
        make_product(shop, f"Cup {number:02}", price=Decimal(number), stock_qty=number % 3)
    filters = ProductFilters(sort="price_desc")
    in_stock = [f"Cup {number:02}" for number in reversed(range(20)) if number % 3]
    for _ in range(2):
        ids = facets_of(shop, filters, Chosen(in_stock=True), now=NOW).ids
        shown = [queries.narrowed_page(shop, filters, ids, page=number, per_page=4, now=NOW) for number in (1, 2, 3, 4)]
        assert [row["name"] for each in shown for row in each.rows] == in_stock
    Product.objects.filter(shop=shop, name="Cup 01").update(price=Decimal(99))
    found = queries.narrowed_page(shop, filters, ids, page=1, per_page=4, now=NOW)
    assert [row["name"] for row in found.rows][:2] == ["Cup 01", "Cup 19"]


@pytest.mark.django_db(transaction=True)
def test_an_index_is_read_with_rests_until_a_page_needs_it(shop, monkeypatch):
    monkeypatch.setattr(warming, "LARGE_SHOP", 2)
    monkeypatch.setattr(facet_index, "BATCH_ROWS", 1)
    monkeypatch.setattr(facet_index, "REST", 1_000_000)
    cups = {make_product(shop, f"Cup {number}").pk for number in range(4)}
    index = facet_index.index_of(shop)
    reading = Thread(target=warming._warm)
    reading.start()
    try:
        wait_until(lambda: index.listed)
        assert len(index.listed) == 1
        assert set(facets_of(shop, ProductFilters(), Chosen(), now=NOW).ids) == cups
    finally:
        index.wanted.set()
        reading.join(30)
    assert not reading.is_alive()


def test_indexes_of_large_shops_are_read_before_the_first_visitor(shop, other_shop, monkeypatch):
    monkeypatch.setattr(warming, "LARGE_SHOP", 2)
    cups = [make_product(shop, f"Cup {number}") for number in range(2)]
    make_product(other_shop, "Mug")
    warming.warm_indexes()
    assert set(facet_index.index_of(shop).listed) == {cup.pk for cup in cups}
    assert not facet_index.index_of(other_shop).listed
