import pytest

from storefront.carts.models import Cart, CartLine
from storefront.catalogue.models import Product
from storefront.website import basket_pages
from tests.catalogue.factories import make_option, make_product, make_variant


@pytest.fixture
def add(visitor):
    """`add(product, qty=2)` sends the product page's form."""

    def send(product, status: int = 302, **fields):
        answer = visitor.post("/basket/add", {"product": product.pk, "qty": 1} | fields)
        assert answer.status_code == status, answer.content
        return answer.content.decode()

    return send


def test_adds_a_product_to_the_basket(shop, page, add):
    add(make_product(shop, "Cup"), qty=2)
    basket = page("/basket")
    assert "Cup is in your basket." in basket
    assert "€9.50 each" in basket
    assert "€19.00" in basket
    assert 'data-count="2"' in page("/products")
    assert CartLine.objects.get().qty == 2


def test_a_new_visitor_s_basket_is_empty(page):
    assert "Your basket is empty" in page("/basket")


def test_viewing_pages_creates_no_basket(shop, visitor, page):
    make_product(shop, "Cup")
    for path in ("/", "/products", "/products/cup", "/basket"):
        page(path)
    assert not Cart.objects.exists()
    assert "storefront_session" not in visitor.cookies


def test_adding_twice_adds_up_in_one_line(shop, add):
    cup = make_product(shop, "Cup")
    add(cup)
    add(cup, qty=2)
    assert CartLine.objects.get().qty == 3
    assert Cart.objects.get().token_digest is None


def test_a_basket_belongs_to_one_shop(shop, other_shop, visitor, add):
    add(make_product(shop, "Cup"))
    elsewhere = visitor.get("/basket", headers={"host": other_shop.domain}).content.decode()
    assert "Your basket is empty" in elsewhere


def test_another_shop_s_product_cannot_be_added(shop, other_shop, page, add):
    add(make_product(other_shop, "Secret"))
    assert "This product is no longer available." in page("/basket")
    assert not CartLine.objects.exists()


def test_a_variant_is_chosen_by_its_values(shop, add):
    cup = make_product(shop, "Cup")
    make_variant(cup, "Blue")
    red = make_variant(cup, "Red", price="14.00")
    add(cup, **{"axis-0": "Red"})
    line = CartLine.objects.get()
    assert line.variant == red
    assert line.custom_fields == []


def test_a_choice_that_the_variant_does_not_fix_is_stored(shop, page, add):
    towel = make_product(
        shop, "Towel", attributes=[{"name": name, "values": [], "variation": True} for name in ("Colour", "Pattern")]
    )
    make_variant(towel, "Blue stripe", option_values={"Colour": "Blue", "Pattern": "Stripe"})
    any_red = make_variant(towel, "Red", option_values={"Colour": "Red"})
    add(towel, **{"axis-0": "Red", "axis-1": "Check"})
    line = CartLine.objects.get()
    assert line.variant == any_red
    assert line.custom_fields == [{"name": "Pattern", "value": "Check"}]
    assert "Pattern: Check" in page("/basket")


def test_the_variant_that_fixes_more_values_wins(shop, add):
    towel = make_product(shop, "Towel")
    make_variant(towel, "Red", option_values={"Colour": "Red", "Pattern": ""})
    exact = make_variant(towel, "Red check", option_values={"Colour": "Red", "Pattern": "Check"})
    add(towel, **{"axis-0": "Red", "axis-1": "Check"})
    assert CartLine.objects.get().variant == exact


def test_a_combination_that_does_not_exist_is_refused(shop, add):
    towel = make_product(shop, "Towel")
    make_variant(towel, "Blue stripe", option_values={"Colour": "Blue", "Pattern": "Stripe"})
    make_variant(towel, "Red check", option_values={"Colour": "Red", "Pattern": "Check"})
    text = add(towel, status=422, **{"axis-0": "Red", "axis-1": "Stripe"})
    assert "This combination is not available." in text


def test_a_variant_has_to_be_chosen(shop, add):
    cup = make_product(shop, "Cup")
    make_variant(cup, "Blue")
    assert "Please choose Colour." in add(cup, status=422)


def test_another_product_s_variant_is_refused(shop, other_shop, add):
    cup = make_product(shop, "Cup")
    make_variant(cup, "Blue")
    secret = make_variant(make_product(other_shop, "Secret"), "Red")
    add(cup, status=422, variant=secret.pk)
    assert not CartLine.objects.exists()


def test_refuses_a_missing_required_option_and_keeps_the_input(shop, add):
    cup = make_product(shop, "Cup")
    make_option(cup, "Engraving", required=True)
    name = make_option(cup, "Name", {"Name": "0.00"}, type="text")
    text = add(cup, status=422, qty=3, **{f"option-{name.pk}": "Ada <3"})
    assert "Please choose Engraving." in text
    assert 'value="Ada &lt;3"' in text
    assert 'value="3"' in text


def test_options_are_stored_in_the_line_with_their_price(shop, page, add):
    cup = make_product(shop, "Cup")
    option = make_option(cup, "Engraving", {"Gold": "5.00"}, required=True)
    add(cup, **{f"option-{option.pk}": option.values.get().pk})
    basket = page("/basket")
    assert "Engraving: Gold" in basket
    assert "€14.50" in basket


@pytest.mark.parametrize(("sent", "price"), [("30", "30.00"), ("12,50", "12.50"), ("12.5", "12.50")])
def test_accepts_a_custom_price(shop, add, sent, price):
    card = make_product(shop, "Card", allow_custom_price=True, min_custom_price="10.00")
    add(card, custom_price=sent)
    assert str(CartLine.objects.get().price_snapshot) == price


@pytest.mark.parametrize(("sent", "words"), [("5", "at least"), ("much", "an amount such as"), ("-1", "an amount")])
def test_refuses_an_invalid_custom_price(shop, add, sent, words):
    card = make_product(shop, "Card", allow_custom_price=True, min_custom_price="10.00")
    assert words in add(card, status=422, custom_price=sent)


@pytest.mark.parametrize("qty", ["0", "-1", "1.5", "many", "", "10000", "99999999999"])
def test_refuses_an_invalid_quantity(shop, add, qty):
    text = add(make_product(shop, "Cup", track_inventory=False), status=422, qty=qty)
    assert 'role="alert"' in text


def test_refuses_more_than_stock(shop, add):
    assert "Not enough stock of Cup" in add(make_product(shop, "Cup", stock_qty=2), status=422, qty=3)


def test_changes_a_quantity(shop, visitor, page, add):
    add(make_product(shop, "Cup"))
    key = CartLine.objects.get().key
    visitor.post("/basket/update", {"key": key, "qty": 4})
    assert "€38.00" in page("/basket")
    visitor.post("/basket/update", {"key": key, "qty": 99})
    assert "Only 10 of Cup available." in page("/basket")
    assert CartLine.objects.get().qty == 4


def test_a_line_is_removed_and_removing_it_again_is_no_error(shop, visitor, page, add):
    add(make_product(shop, "Cup"))
    key = CartLine.objects.get().key
    for _ in range(2):
        assert visitor.post("/basket/update", {"key": key, "qty": 0}).status_code == 302
    assert "Your basket is empty" in page("/basket")


def test_shows_that_a_price_has_changed(shop, page, add):
    cup = make_product(shop, "Cup")
    add(cup)
    cup.price = "11.00"
    cup.save()
    basket = page("/basket")
    assert "Price changed from €9.50 to €11.00" in basket
    assert "€11.00 each" in basket


def test_an_unavailable_product_blocks_checkout(shop, page, add):
    cup = make_product(shop, "Cup")
    add(cup)
    cup.status = "draft"
    cup.save()
    basket = page("/basket")
    assert "No longer available" in basket
    assert "Go to checkout" not in basket


@pytest.mark.parametrize("is_htmx", [False, True])
def test_a_short_line_blocks_checkout_and_can_be_reduced(shop, visitor, page, add, is_htmx):
    cup = make_product(shop, "Cup", stock_qty=5)
    add(cup, qty=5)
    Product.objects.update(stock_qty=2)
    basket = page("/basket")
    assert "Only 2 of Cup available." in basket
    assert "Reduce to 2" in basket
    assert "Go to checkout" not in basket
    headers = {"HX-Request": "true"} if is_htmx else {}
    visitor.post("/basket/update", {"key": f"p{cup.pk}", "qty": 2}, headers=headers)
    assert "Go to checkout" in page("/basket")
    Product.objects.update(stock_qty=0)
    basket = page("/basket")
    assert "Cup is sold out. Please remove it." in basket
    assert "Reduce to" not in basket


def test_a_line_that_must_be_chosen_again_leads_to_its_product(shop, page, add):
    cup = make_product(shop, "Cup")
    add(cup)
    make_option(cup, "Engraving", required=True)
    basket = page("/basket")
    assert "No longer available as you chose it." in basket
    assert 'href="/products/cup">choose again</a>' in basket
    assert "Go to checkout" not in basket


def test_what_is_wrong_is_still_said_after_a_change_of_another_line(shop, visitor, add):
    cup, pot = make_product(shop, "Cup"), make_product(shop, "Pot")
    add(cup)
    add(pot)
    Product.objects.filter(pk=cup.pk).update(status="draft")
    change = {"key": f"p{pot.pk}", "qty": 2}
    part = visitor.post("/basket/update", change, headers={"HX-Request": "true"}).content.decode()
    assert "No longer available. Please remove it." in part
    assert "Go to checkout" not in part


def test_another_shop_s_products_block_nothing(shop, other_shop, page, add):
    add(make_product(shop, "Cup"))
    make_product(other_shop, "Cup", status="draft", stock_qty=0)
    assert "Go to checkout" in page("/basket")


def test_htmx_gets_the_changed_part_of_the_page(shop, visitor):
    cup = make_product(shop, "Cup")
    added = visitor.post("/basket/add", {"product": cup.pk, "qty": 1}, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in added
    assert 'hx-swap-oob="true"' in added
    key = CartLine.objects.get().key
    lines = visitor.post("/basket/update", {"key": key, "qty": 3}, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in lines
    assert "€28.50" in lines
    assert 'data-count="3"' in lines


def test_changes_require_a_post_and_the_csrf_token(shop, client):
    from django.test import Client

    strict = Client(enforce_csrf_checks=True, headers={"host": shop.domain})
    cup = make_product(shop, "Cup")
    answer = strict.post("/basket/add", {"product": cup.pk, "qty": 1})
    assert answer.status_code == 403
    assert "This form has expired" in answer.content.decode()
    assert strict.get("/basket/add").status_code == 405
    assert strict.get("/basket/update").status_code == 405


def test_a_basket_is_never_cached(visitor):
    assert "no-store" in visitor.get("/basket").headers["Cache-Control"]


def test_only_htmx_requests_get_a_part_of_the_page(rf):
    assert not basket_pages._is_htmx(rf.get("/", headers={"HX-Request": "yes"}))


def test_takes_few_queries_however_many_lines(shop, visitor, add, django_assert_max_num_queries):
    for number in range(8):
        add(make_product(shop, f"Cup {number}"))
    # Three are for the estimate of the delivery: the parcel, the zones, and the pick-up places.
    with django_assert_max_num_queries(21):
        page = visitor.get("/basket").content.decode()
    assert all(f"Cup {number}" in page for number in range(8))
