"""A shop in yen, which have no decimals: fractions are refused wherever they are written, and nothing comes to any."""

import re
from decimal import Decimal

import orjson
import pytest

from storefront.catalogue.bulk_edits import BulkEdit, EditRefused, apply_edit, digest_of, plan_edit
from storefront.catalogue.inventory.ledger import NOBODY
from storefront.catalogue.models import Product
from storefront.customers.models import CustomerGroup
from storefront.gift_cards.models import GiftCard
from storefront.kit.refusals import InvalidFields
from storefront.orders.models import Order
from storefront.payments import actions as payments
from storefront.payments.models import Refund
from storefront.pricing.models import Discount, GroupPrice, PickupPlace, ShippingRate
from storefront.pricing.rate_tables import UnusableTable, import_rates
from storefront.shops.models import User
from tests.carts.factories import add, contents
from tests.catalogue.factories import make_option, make_product, make_variant
from tests.catalogue.test_bulk_edits import edit
from tests.checkout.shopper import Shopper
from tests.client import ApiClient
from tests.factories.apps import install
from tests.orders.test_admin_orders import dialog
from tests.pricing.rows import make_code, make_discount, make_rate, make_zone
from tests.pricing.test_admin_pricing import errors_of
from tests.product_files.files import imported
from tests.shops.factories import NOW, make_shop, make_token
from tests.staff import make_staff, open_desk
from tests.verifying import everything_agrees as everything_agrees

WHOLE = "must be a whole number: JPY has no decimals"


@pytest.fixture
def shop(db):
    return make_shop("yen.example.com", currency="JPY")


@pytest.fixture
def app(shop) -> ApiClient:
    scopes = ("read_products", "write_products", "read_orders", "write_orders")
    return install(shop, *scopes).api


def test_ten_percent_off_is_whole_yen_from_the_cart_to_the_refund(shop, api, app, desk):
    onigiri = make_product(shop, "Onigiri", price=Decimal("105.00"))
    make_code(shop, "TEN", make_discount(shop, needs_code=True))
    shopper = Shopper(shop)
    shopper.post("/basket/add", {"product": onigiri.pk, "qty": "1"})
    shopper.post("/checkout/discount-codes", {"code": "TEN"})
    token = add(api, onigiri).json()["cart_token"]
    totals = api.put("/cart/discount-codes", {"codes": ["TEN"]}, cart=token).json()["data"]["totals"]
    assert (totals["discount"], totals["total"]) == ("11.00", "94.00")
    make_discount(shop, "Half", "50")
    assert contents(api, token)["totals"]["total"] == "41.00"
    shopper.order()
    order = Order.objects.get()
    payments.mark_paid(shop=shop, order=order, now=NOW)
    refused = app.post(f"/orders/{order.pk}/refunds", {"amount": "10.25"})
    assert (refused.status_code, refused.json()["errors"]) == (422, {"amount": [f"amount {WHOLE}."]})
    refused = app.post(f"/orders/{order.pk}/refunds", {"shipping": "0.50"})
    assert refused.json()["errors"] == {"shipping": [f"shipping {WHOLE}."]}
    assert app.post(f"/orders/{order.pk}/refunds", {"amount": "10.00"}).status_code == 201
    page = dialog(desk, order, "refund", amount="10.25").content.decode()
    assert f"amount {WHOLE}." in page
    assert Refund.objects.get().amount == 10


def test_apps_cannot_write_fractions(shop, app, other_shop):
    body = {"name": "Bowl", "price": "105.50", "compare_price": "110.50", "cost_price": "1.01"}
    body |= {"sale_price": "99.50", "min_custom_price": "0.10", "damaged_price": "50.50", "setup_fee": "1.10"}
    body |= {"variants": [{"name": "Blue", "price": "9.99"}]}
    body |= {"options": [{"name": "Lid", "values": [{"label": "Wood", "price": "0.50"}]}]}
    errors = app.post("/products", body).json()["errors"]
    amounts = {"price", "compare_price", "cost_price", "sale_price", "min_custom_price", "damaged_price", "setup_fee"}
    wrong = {name for name, texts in errors.items() if f"M{WHOLE[1:]}." in texts}
    assert wrong == amounts | {"variants.0.price", "options.0.values.0.price"}
    product = make_product(shop, price="105.00")
    blue, lid = make_variant(product, "Blue"), make_option(product, "Lid", {"Wood": "5.00"})
    changes = {"variants": [{"id": blue.pk, "price": "9.99"}]}
    changes["options"] = [{"id": lid.pk, "values": [{"id": lid.values.get().pk, "price": "0.50"}]}]
    errors = app.patch(f"/products/{product.pk}", {"price": "105.50"} | changes).json()["errors"]
    assert set(errors) == {"price", "variants.0.price", "options.0.values.0.price"}
    assert app.post("/products", {"name": "Bowl", "price": "105.00"}).json()["product"]["price"] == "105.00"
    euros = install(other_shop, "read_products", "write_products").api
    assert euros.post("/products", {"name": "Bowl", "price": "105.50"}).status_code == 201


@pytest.mark.parametrize(
    ("model", "fields", "field"),
    [
        (Product, {"name": "Bowl", "price": "105.50"}, "price"),
        (Product, {"name": "Bowl", "price": "105", "compare_price": "110.50"}, "compare_price"),
        (Discount, {"name": "Off", "kind": "amount", "value": "5.50"}, "value"),
        (Discount, {"name": "Off", "kind": "percent", "value": "5.50", "minimum_subtotal": "1.50"}, "minimum_subtotal"),
        (PickupPlace, {"name": "Kiosk", "price": "1.50"}, "price"),
        (GiftCard, {"value": "10.50"}, "value"),
    ],
)
def test_the_admin_names_the_field(desk, model, fields, field):
    page = desk.fill(model, **fields)
    assert page.status_code == 200
    assert any("whole number" in text for text in errors_of(page)[field])
    assert not model.objects.exists()


@pytest.mark.slow
def test_rows_of_the_admins_forms_too(desk, shop):
    zone, product = make_zone(shop), make_product(shop, price="10.00")
    steps = {"steps-TOTAL_FORMS": 1, "steps-0-up_to": "", "steps-0-price": "4.90"}
    page = desk.fill(ShippingRate, zone=zone.pk, name="Parcel", basis="count", free_from="0.50", **steps)
    assert {"price", "free_from"} <= set(errors_of(page))
    row = {"prices__TOTAL_FORMS": 1, "prices__0__price": "7.50", "prices__0__product": product.pk}
    assert "price" in errors_of(desk.fill(CustomerGroup.objects.create(shop=shop, name="Trade"), **row))
    assert not GroupPrice.objects.exists()
    assert desk.fill(Discount, name="Off", kind="percent", value="5.50", needs_code="").status_code == 302


def test_products_changed_together(desk, shop):
    bowl = make_product(shop, "Bowl", price="105.00")
    for how, number in (("set", "99.50"), ("by", "0.50")):
        page = edit(desk, bowl, follow_up="nothing", price_how=how, price=number)
        assert f"The price {WHOLE}." in page.content.decode()
        planned = plan_edit(shop, Product.objects.all(), BulkEdit(price=(how, Decimal(number))))
        with pytest.raises(EditRefused, match="whole number"):
            apply_edit(
                shop=shop,
                products=Product.objects.all(),
                edit=BulkEdit(price=(how, Decimal(number))),
                digest=digest_of(planned),
                author=NOBODY,
                now=NOW,
            )
    edit(desk, bowl, price_how="percent", price="-10")
    bowl.refresh_from_db()
    assert bowl.price == 95


NATIVE = {"name": "Cup", "price": "105.50", "variants": [{"name": "Blue", "option_values": {}, "price": "9.99"}]}


@pytest.mark.parametrize(
    ("content", "problems"),
    [
        (
            "SKU,Name,Regular price,Cost of goods\nA,Mug,105,50\nB,Cup,105.50,0.5\n",
            [f"line 3, Cost of goods: {WHOLE}, found '0.5'", f"line 3, Regular price: {WHOLE}, found '105.50'"],
        ),
        (
            "Handle,Title,Variant SKU,Variant Price\nmug,Mug,A,105.00\ncup,Cup,B,105.5\n",
            [f"line 3, Variant Price: {WHOLE}, found '105.5'"],
        ),
        (
            orjson.dumps({"name": "Mug", "price": "105.00"}) + b"\n" + orjson.dumps(NATIVE),
            [f"line 2, price: {WHOLE}, found '105.50'", f"line 2, variants.0.price: {WHOLE}, found '9.99'"],
        ),
    ],
    ids=["woocommerce", "shopify", "native"],
)
def test_a_file_with_fractions_names_line_and_column(shop, tmp_path, content, problems):
    report = imported(shop, content, tmp_path)
    errors = [problem for problem in report.problems if problem.severity == "error"]
    assert ([str(problem) for problem in errors], report.created) == (problems, 1)
    assert Product.objects.get().price == 105


def test_delivery_prices_of_a_file(shop):
    make_rate(shop, zone=make_zone(shop, "Home"), price="500")
    with pytest.raises(UnusableTable) as refused:
        import_rates(shop=shop, content=b"zone,method,by,up to,price\nHome,Parcel,order,,4.90\n", now=NOW)
    assert refused.value.sentences == [f"Line 2: the price {WHOLE}, not 4.90."]


def test_a_price_of_ones_own(shop, api):
    donation = make_product(shop, allow_custom_price=True, price="100.00")
    refused = add(api, donation, custom_price="10.50")
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_custom_price")
    assert refused.json()["errors"] == {"custom_price": [f"The price {WHOLE}."]}
    page = Shopper(shop).post("/basket/add", {"product": donation.pk, "qty": "1", "custom_price": "10,50"}, follow=True)
    assert WHOLE in page.content.decode()


def test_what_an_earlier_release_stored_is_charged_as_it_is_shown(shop, api):
    """Fractions of a yen, which could be entered once."""
    bowl = make_product(shop, "Bowl", price=Decimal("105.50"), compare_price=Decimal("120.50"))
    make_rate(shop, price="4.50")
    shopper = Shopper(shop)
    page = shopper.read("/products/bowl")
    assert re.findall(r"¥[\d.,]+", page[page.index('id="price"') :])[:2] == ["¥106", "¥121"]
    assert add(api, bowl).json()["data"]["price_snapshot"] == "106.00"
    shopper.post("/basket/add", {"product": bowl.pk, "qty": "1"})
    shopper.order()
    order = Order.objects.get()
    assert (order.subtotal, order.shipping, order.total) == (106, 5, 111)


@pytest.mark.slow
def test_a_shop_with_cents_does_not_become_one_in_yen(other_shop):
    operator = open_desk(User.objects.create_superuser("op", email="op@example.com"), other_shop)
    scarf = make_variant(make_product(other_shop, price="0.00", type="variable"), price="9.50")
    make_discount(other_shop, kind="amount", value="5.50")
    make_discount(other_shop, "Percent", "5.50")
    page = operator.fill(other_shop, currency="JPY")
    text = "2 prices and amounts of the shop have decimals, and JPY has none. Make them whole numbers first."
    assert errors_of(page)["currency"] == [text]
    assert errors_of(operator.fill(other_shop, currency="KWD"))["currency"] == [
        "Amounts in KWD have 3 decimals. Only currencies with at most 2 can be used."
    ]
    scarf.price = 9
    scarf.save()
    Discount.objects.filter(shop=other_shop).delete()
    assert operator.fill(other_shop, currency="jpy").status_code == 302
    other_shop.refresh_from_db()
    assert other_shop.currency == "JPY"


@pytest.mark.parametrize("currency", ["KWD", "BHD", "OMR", "JOD", "TND", "IQD", "LYD", "CLF", "UYW", "XAU", "XXX"])
def test_no_new_shop_has_a_currency_of_more_decimals_or_none(db, currency):
    with pytest.raises(InvalidFields) as refused:
        make_shop("dinar.example.com", currency=currency)
    assert list(refused.value.errors) == ["currency"]


def test_an_existing_shop_with_three_decimals_sells_on(shop):
    shop.currency, shop.payment_methods = "KWD", ["manual"]
    shop.save()
    dates = make_product(shop, "Dates", price=Decimal("1.25"))
    shopper = Shopper(shop)
    assert "KWD1.250" in shopper.read("/products/dates")
    api = ApiClient(make_token(shop))
    assert add(api, dates, 3).status_code == 201
    shopper.post("/basket/add", {"product": dates.pk, "qty": "3"})
    shopper.order()
    assert Order.objects.get().total == Decimal("3.75")
    desk = open_desk(make_staff(shop, "olga"))
    assert desk.fill(shop, name="Dates of Kuwait").status_code == 302
