"""Choices and the variants that they make, in the table of a product's page."""

import pytest

from storefront.catalogue.models import Product, StockAdjustment, Variant
from tests.catalogue.factories import make_category, make_media, make_product, make_variant
from tests.orders.factories import make_order, sale_line
from tests.staff import admin_url, form_values, make_staff, open_desk

pytestmark = pytest.mark.slow

NEW = {"compare_price": "0", "stock_qty": "4", "price": "12.00", "is_active": "on", "name": "", "sku": ""}


def row(number: int, *values: str, **given) -> dict[str, str]:
    """A new row of the table."""
    chosen = {f"option_values-{at}": value for at, value in enumerate(values)}
    return {f"variants-{number}-{name}": value for name, value in {**NEW, **chosen, **given}.items()}


def choices(**given: str) -> dict[str, str]:
    found = {"choices-rows": str(len(given))}
    for at, (name, values) in enumerate(given.items()):
        found |= {f"choices-{at}-name": name, f"choices-{at}-values": values}
    return found


def said(answer) -> str:
    """Everything that the page refuses."""
    found = [str(answer.context_data["adminform"].form.errors)]
    for inline in answer.context_data["inline_admin_formsets"]:
        found += [str(inline.formset.non_form_errors()), *(str(form.errors) for form in inline.formset.forms)]
    return " ".join(found)


def test_choices_make_variants_with_names_pictures_and_stock(desk, shop):
    product = make_product(shop, "Scarf", attributes=[{"name": "Wool", "values": ["Merino"], "visible": True}])
    picture = make_media(product)
    answer = desk.fill(
        product,
        **choices(Colour="Blue, Moss", Size="S | M"),
        variants__TOTAL_FORMS=2,
        **row(0, "Blue", "S", sku="B-S", picture=str(picture.pk)),
        **row(1, "Moss", "1,5 m", stock_qty="0"),
    )
    assert answer.status_code == 302, said(answer)
    product.refresh_from_db()
    blue, moss = product.variants.all()
    assert (product.type, blue.name, moss.name, blue.image, moss.image) == (
        "variable",
        "Blue / S",
        "Moss / 1,5 m",
        picture,
        None,
    )
    assert blue.option_values == {"Colour": "Blue", "Size": "S"}
    assert product.attributes == [
        {"name": "Colour", "values": ["Blue", "Moss"], "variation": True},
        {"name": "Size", "values": ["S", "M", "1,5 m"], "variation": True},
        {"name": "Wool", "values": ["Merino"], "visible": True},
    ]
    assert {(change.delta, change.kind) for change in StockAdjustment.objects.filter(variant=blue)} == {(4, "edited")}
    # The page shows them again as they were typed, and saving it changes nothing.
    shown = form_values(desk.page(product))
    assert shown["choices-1-values"] == "S | M | 1,5 m"
    assert desk.post(admin_url(product, "change"), shown).status_code == 302
    assert [variant.name for variant in product.variants.all()] == ["Blue / S", "Moss / 1,5 m"]


def test_a_renamed_choice_and_value_reach_the_variants_and_their_names(desk, shop):
    product = make_product(shop, "Scarf", attributes=[{"name": "Color", "values": ["Blue"], "variation": True}])
    variant = make_variant(product, "Blue", option_values={"Color": "Blue"})
    given = {**choices(Colour="Navy"), "variants-0-option_values-0": "Navy"}
    assert desk.fill(product, **given).status_code == 302
    variant.refresh_from_db()
    product.refresh_from_db()
    assert (variant.option_values, variant.name) == ({"Colour": "Navy"}, "Navy")
    assert product.attributes == [{"name": "Colour", "values": ["Navy"], "variation": True}]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({**choices(Colour="Blue"), **row(0, "Blue"), **row(1, "Blue")}, "Another variant has the same values."),
        ({**row(0), **row(1)}, "Enter a value, or a name."),
        ({"choices-rows": "1", **row(0, "Blue"), **row(1, name="x")}, "Enter the name of the choice as well"),
        ({**choices(Colour="Blue"), **row(0, "Blue", price="-1"), **row(1, "Moss")}, "greater than or equal to 0"),
        ({**choices(Colour=""), **row(0, "Blue"), **row(1, "Moss")}, "Enter a name and values for each choice"),
        ({**choices(Colour="Blue"), **row(0, "Blue", picture="99"), **row(1, "Moss")}, "one of the product"),
    ],
)
def test_what_is_wrong_is_said_and_all_that_was_typed_stays(desk, shop, given, problem):
    product = make_product(shop, "Scarf")
    answer = desk.fill(product, name="Shawl", variants__TOTAL_FORMS=2, **given)
    assert answer.status_code == 200
    assert problem in said(answer)
    page = answer.content.decode()
    assert 'value="Shawl"' in page
    assert all(f'value="{text}"' in page for text in ("Blue", "Moss") if text in given.values())
    assert not Variant.objects.exists()


def test_a_variant_in_orders_is_not_removed_and_the_last_one_makes_the_product_simple(desk, shop):
    product = make_product(shop, "Scarf", type="variable")
    blue, moss = make_variant(product, "Blue"), make_variant(product, "Moss")
    line = sale_line(product, 1)
    make_order(shop, line)
    type(shop)._meta.get_field("orderline").related_model.objects.update(variant=blue)
    answer = desk.fill(product, name="Shawl", variants__0__DELETE="on")
    assert "Orders contain Blue." in said(answer)
    assert 'value="Shawl"' in answer.content.decode()
    assert desk.fill(product, variants__1__DELETE="on").status_code == 302
    assert list(product.variants.all()) == [blue]
    assert not Variant.objects.filter(pk=moss.pk).exists()
    type(shop)._meta.get_field("orderline").related_model.objects.update(variant=None)
    assert desk.fill(product, variants__0__DELETE="on").status_code == 302
    assert Product.objects.get(pk=product.pk).type == "simple"


def test_names_of_choices_stay_while_other_pages_of_variants_have_them(desk, shop):
    product = make_product(shop, "Scarf", type="variable")
    for number in range(101):
        make_variant(product, f"{number}", option_values={"Colour": str(number)}, sort_order=number)
    answer = desk.fill(product, **choices(Shade="1"))
    assert "more variants than the page shows" in said(answer)


def test_what_the_catalogue_refuses_is_said_on_the_form(desk, shop, monkeypatch):
    from storefront.catalogue import actions
    from storefront.kit.refusals import InvalidFields

    product = make_product(shop, "Scarf")

    def refuse(**_given):
        raise InvalidFields(errors={"variants": ["A product can have at most 2,000 variants."]})

    monkeypatch.setattr(actions, "update_product", refuse)
    answer = desk.fill(product, name="Shawl", price="3.21")
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "at most 2,000 variants" in page
    assert 'value="Shawl"' in page
    assert 'value="3.21"' in page
    product.refresh_from_db()
    assert product.name == "Scarf"


def test_the_page_takes_few_queries_whatever_it_shows(desk, shop, django_assert_max_num_queries):
    product = make_product(shop, "Scarf", type="variable")
    for number in range(20):
        picture = make_media(product)
        make_variant(product, f"{number}", option_values={"Colour": str(number)}, image=picture)
        make_category(shop, f"Category {number}")
    desk.page(product)
    with django_assert_max_num_queries(30):
        page = desk.page(product).content.decode()
    assert page.count("data-variant ") == 21
    reader = open_desk(make_staff(shop, "rita", "read_only")).page(product).content.decode()
    assert reader.count('<img src="https://cdn.example.com/one.jpg"') == 20
    assert "data-choose" not in reader
