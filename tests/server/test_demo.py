"""`storefront demo` creates a complete shop, and changes no other shop."""

import json
import stat
from io import BytesIO
from pathlib import Path
from typing import IO

import pytest
from django.core import mail
from django.core.management import call_command
from django.test import Client

from storefront.carts.gift_card_lines import PLAIN
from storefront.carts.purchasable import load_purchasables
from storefront.catalogue.models import Media, Product, Variant
from storefront.demo import shop as demo
from storefront.kit import clock
from storefront.kit.files import pictures as kit_pictures
from storefront.orders.download_links import download_token
from storefront.payments.actions import mark_paid
from storefront.pricing import queries as pricing
from storefront.shops.models import ApiToken, Shop, User
from tests.client import ApiClient
from tests.gift_cards.factories import send_due
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import make_shop

pytestmark = [pytest.mark.any_database, pytest.mark.proof]

# Encoding takes seconds and is deterministic, so it is done once.
small_versions = kit_pictures.small_versions
encoded: dict[bytes, dict[int, bytes]] = {}


def encode_once(file: IO[bytes], sides: list[int]) -> dict[int, bytes]:
    content = file.read()
    if content not in encoded:
        encoded[content] = small_versions(BytesIO(content), sides)
    return encoded[content]


@pytest.fixture
def demo_data(db, settings, tmp_path, monkeypatch):
    monkeypatch.setattr(kit_pictures, "small_versions", encode_once)
    settings.DATA_DIR = tmp_path
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path


@pytest.fixture
def open_demo(demo_data, capsys):
    def run(*arguments: str) -> dict:
        call_command("demo", *arguments)
        return json.loads(capsys.readouterr().out)

    return run


def test_creates_a_shop_that_sells(open_demo):
    answer = open_demo("--base-url", "http://127.0.0.1:9999")
    assert answer["url"] == "http://127.0.0.1:9999/"
    assert answer["admin_url"] == "http://127.0.0.1:9999/admin/"
    assert answer["secure_url"] == "http://127.0.0.1:9999/checkout"
    api = ApiClient(answer["api_token"])
    products = api.get("/products?per_page=100").json()
    assert products["total"] == len(products["data"]) >= 40
    assert {product["type"] for product in products["data"]} == {"simple", "variable", "bundle", "digital"}
    pictures = [product["media"][0] for product in products["data"]]
    assert all(shown["alt"] and shown["width"] == shown["height"] >= 600 for shown in pictures)
    assert len(api.get("/categories").json()["data"]) >= 8
    board = api.get("/products/bread-board").json()["data"]
    added = api.post("/cart", {"product_id": board["id"], "qty": 1})
    assert added.status_code == 201
    link = api.post("/cart/checkout", cart=added.json()["cart_token"]).json()["checkout_url"]
    assert link.startswith("http://127.0.0.1:9999/cart/resume?")


def test_sells_a_download_that_is_delivered(open_demo):
    open_demo()
    shop = Shop.objects.get()
    pattern = Product.objects.get(sku="PATTERN-CARDIGAN")
    order = make_order(shop, sale_line(pattern), now=clock.now())
    (download,) = mark_paid(shop=shop, order=order, now=clock.now()).downloads.all()
    answer = Client(headers={"host": shop.domain}).get(f"/downloads/{download_token(download)}")
    content = b"".join(answer.streaming_content)
    assert content == demo.CONTENT.joinpath(demo.PATTERN).read_bytes()
    assert content.startswith(b"%PDF-1.4")
    assert answer["Content-Type"] == "application/pdf"
    path = Path(download.file.file.path)
    demo.close_shop(shop)
    assert not path.exists()


def test_the_gift_card_that_it_sells_is_mailed(open_demo):
    open_demo()
    shop = Shop.objects.get()
    product = Product.objects.get(sku="GIFT-CARD")
    order = make_order(shop, sale_line(product, gift_card=dict(PLAIN)), now=clock.now())
    mark_paid(shop=shop, order=order, now=clock.now())
    send_due()
    assert "Your code: " in mail.outbox[-1].body
    assert mail.outbox[-1].to == [order.email]


def test_sells_nothing_that_it_does_not_deliver(open_demo):
    """Every product that a shopper can put into a basket is in stock or made to order, a file or a code that is mailed,
    and what is sent has a delivery method; a pre-order says when."""
    open_demo()
    shop, now = Shop.objects.get(), clock.now()
    zone = pricing.delivery_zones(shop)[0]
    assert zone.countries == ["DE"]
    rates = pricing.shipping_rates(shop, zone)
    assert rates
    variants = Variant.objects.filter(shop=shop).values_list("product_id", "pk")
    products = Product.objects.filter(shop=shop, status="active").exclude(type="variable").values_list("pk", flat=True)
    found = load_purchasables(shop, [*variants, *((pk, None) for pk in products)], now)
    for_sale = [each for each in found.values() if each.is_for_sale(now)]
    assert len(for_sale) > 40
    for each in for_sale:
        product = each.product
        whole = Product.objects.get(pk=product.pk)
        assert (product.type == "digital") is not whole.requires_shipping, product
        is_mailed = product.is_gift_card or whole.digital_files.exists()
        assert product.type != "digital" or is_mailed, product
        is_unlimited = not (each.variant or product).track_inventory
        assert not is_unlimited or product.type in ("digital", "bundle"), product
        assert not product.is_preorder or product.available_from > now, product
        assert not product.damaged_qty or product.damaged_price is not None, product
        assert all(item["product_id"] in products or item["variant_id"] for item in each.bundle_items)


def test_the_password_opens_the_admin(open_demo):
    answer = open_demo()
    user = User.objects.get(username=answer["admin_user"])
    assert user.is_superuser
    assert user.check_password(answer["admin_password"])


def test_a_second_start_changes_nothing_and_prints_what_works(open_demo, django_assert_max_num_queries):
    first = open_demo()
    # Four sets of triggers are looked for, and the migrations and the pod's number each time.
    with django_assert_max_num_queries(19):
        assert open_demo() == first
    assert ApiToken.objects.count() == 1


def test_another_port_moves_the_shop(open_demo):
    open_demo()
    open_demo("--base-url", "http://127.0.0.1:8001/")
    assert Shop.objects.get().base_url == "http://127.0.0.1:8001"


def test_only_the_owner_can_read_its_secrets(open_demo, demo_data):
    open_demo()
    assert stat.S_IMODE((demo_data / "demo.json").stat().st_mode) == 0o600


def test_a_revoked_token_is_replaced_and_a_changed_password_is_not_printed(open_demo):
    first = open_demo()
    ApiToken.objects.update(revoked_at=Shop.objects.get().created_at)
    user = User.objects.get()
    user.set_password("my own")
    user.save()
    second = open_demo()
    assert ApiClient(second["api_token"]).get("/products").status_code == 200
    assert second["api_token"] != first["api_token"]
    assert second["admin_password"] == ""


def test_reset_creates_it_again_and_leaves_other_shops_alone(open_demo, demo_data):
    other = make_shop("other.example.com", name="Elsewhere")
    open_demo()
    Product.objects.filter(shop__domain=demo.DOMAIN).update(name="Spoilt")
    Client(headers={"host": demo.DOMAIN}).get("/products")
    files = set(demo_data.glob("media/**/*.webp"))
    open_demo("--reset")
    assert not Product.objects.filter(name="Spoilt").exists()
    assert Shop.objects.filter(pk=other.pk).exists()
    assert set(demo_data.glob("media/**/*.webp")) == files


def test_a_merchants_shop_at_that_address_is_never_touched(demo_data):
    make_shop(demo.DOMAIN, name="My own", email="me@example.com")
    for arguments in ([], ["--reset"]):
        with pytest.raises(demo.NotTheDemo):
            call_command("demo", *arguments)
    assert Shop.objects.get().name == "My own"


def test_a_failure_half_way_leaves_no_shop(open_demo, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(demo, "_attach_pictures", fail)
    with pytest.raises(OSError, match="disk full"):
        open_demo()
    assert not Shop.objects.exists()


def test_variants_show_their_own_picture(open_demo):
    open_demo()
    moss = Variant.objects.get(sku="MUG-HARBOUR-MOSS")
    assert moss.image.alt == "Harbour mug in moss"
    assert Media.objects.filter(product__sku="MUG-HARBOUR").count() == 4
