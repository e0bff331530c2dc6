"""Fills a migrated, empty database of release 0.1.0 with at least a row of every table, for two shops.

It ran once, with that release's own code, and made the two files beside it; see README.md. It is kept to show what
they hold. Later code neither imports nor runs it.
"""

import os
import sys
from datetime import timedelta
from decimal import Decimal
from io import BytesIO
from pathlib import Path

import django

sys.path.insert(0, str(Path(__file__).parents[3]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.server.settings")
os.environ.setdefault("STOREFRONT_ALLOW_PRIVATE_CALLBACKS", "1")
django.setup()

from django.contrib.admin.models import CHANGE, LogEntry  # noqa: E402
from django.contrib.auth.hashers import make_password  # noqa: E402
from django.contrib.auth.models import Group, Permission  # noqa: E402
from django.contrib.contenttypes.models import ContentType  # noqa: E402
from django.contrib.sessions.backends.db import SessionStore  # noqa: E402
from django.core.files.base import ContentFile  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django_tasks_db.models import DBTaskResult  # noqa: E402
from easy_thumbnails.files import get_thumbnailer  # noqa: E402
from easy_thumbnails.models import ThumbnailDimensions  # noqa: E402
from PIL import Image  # noqa: E402
from storefront.catalogue.schedule_models import ScheduleTold  # noqa: E402

from storefront.apps import extensions, scripts  # noqa: E402
from storefront.apps.actions import install_app, register_app, rotate_secret, uninstall_app  # noqa: E402
from storefront.apps.models import BlockedScript, ExtensionCall  # noqa: E402
from storefront.apps.script_hosts import allow_script_host  # noqa: E402
from storefront.carts import actions as carts  # noqa: E402
from storefront.catalogue import inventory_actions  # noqa: E402
from storefront.catalogue.actions import create_category, create_product  # noqa: E402
from storefront.catalogue.models import Brand, Media, Product, ShippingOrigin, TaxClass, Variant, Vendor  # noqa: E402
from storefront.catalogue.uploads import ProductImport  # noqa: E402
from storefront.checkout.actions import save_details  # noqa: E402
from storefront.customers import actions as customers  # noqa: E402
from storefront.customers.jobs import send_notice  # noqa: E402
from storefront.customers.models import Customer, CustomerGroup  # noqa: E402
from storefront.kit import sealing  # noqa: E402
from storefront.orders import actions as orders  # noqa: E402
from storefront.orders import fulfilling, refunds  # noqa: E402
from storefront.orders.rules import Promise  # noqa: E402
from storefront.pricing.models import Discount, GroupPrice, ShippingRate, TaxRate  # noqa: E402
from storefront.server.models import TaskLease  # noqa: E402
from storefront.shops import actions as shops  # noqa: E402
from storefront.shops.models import AllowedOrigin, ApiToken, IdempotentAnswer, Shop, StaffMember, User  # noqa: E402
from storefront.shops.scopes import SCOPES  # noqa: E402
from storefront.webhooks import actions as webhooks  # noqa: E402
from storefront.webhooks.dispatch import dispatch  # noqa: E402
from storefront.webhooks.models import Attempt, Delivery  # noqa: E402
from tests.carts.factories import make_bundle  # noqa: E402
from tests.catalogue.factories import make_option, make_product, make_variant  # noqa: E402
from tests.orders.factories import ADDRESS, make_order, sale_line  # noqa: E402
from tests.shops.factories import NOW  # noqa: E402

PASSWORD = make_password("harbour light 7")
# A red point.
_png = BytesIO()
Image.new("RGB", (1, 1), "red").save(_png, "PNG")
PIXEL = _png.getvalue()


def fill_shop(domain: str, name: str) -> None:
    shop = shops.create_shop(
        domain=domain,
        name=name,
        base_url=f"https://{domain}",
        email=f"hello@{domain}",
        payment_methods=("manual", "demo"),
        now=NOW,
    )
    owner = fill_staff(shop)
    goods = fill_catalogue(shop, owner)
    shopper = fill_customers(shop, goods)
    fill_pricing(shop)
    fill_carts(shop, shopper, goods)
    # Before there is anything to tell of, so that apps hear of it.
    installation = fill_apps(shop)
    fill_orders(shop, shopper, goods)
    dispatch(NOW)
    fill_deliveries(shop, installation)


def fill_staff(shop: Shop) -> User:
    owner, helper = (
        User.objects.create(
            username=f"{role}@{shop.domain}",
            email=f"{role}@{shop.domain}",
            password=PASSWORD,
            is_staff=True,
            first_name=role.title(),
        )
        for role in ("owner", "staff")
    )
    StaffMember.objects.create(shop=shop, user=owner, role="owner")
    StaffMember.objects.create(shop=shop, user=helper, role="staff")
    LogEntry.objects.create(
        user=owner,
        content_type=ContentType.objects.get_for_model(Shop),
        object_id=str(shop.pk),
        object_repr=shop.name,
        action_flag=CHANGE,
        change_message="Opened.",
    )
    AllowedOrigin.objects.create(shop=shop, origin="https://www.example.com")
    shops.create_api_token(shop=shop, scopes=list(SCOPES), name="Integration", now=NOW)
    old, _ = shops.create_api_token(
        shop=shop, scopes=["read_products"], name="Old", now=NOW, expires_in=timedelta(days=9)
    )
    shops.revoke_api_token(shop=shop, token=old, now=NOW)
    IdempotentAnswer.objects.create(
        shop=shop,
        caller="x" * 64,
        key="order-1",
        request_digest="y" * 64,
        claim="6b1f3f9e-9a0b-4b58-8b0e-5f7f5a9f2a11",
        claimed_at=NOW,
        status=201,
        body=sealing.seal(b'{"id": 1}', purpose="idempotent-answer"),
        expires_at=NOW + timedelta(days=1),
    )
    return owner


def fill_catalogue(shop: Shop, owner: User) -> dict[str, Product | Variant]:
    kitchen = create_category(shop=shop, name="Kitchen", now=NOW)
    mug = create_product(
        shop=shop,
        now=NOW,
        name="Mug",
        categories=[create_category(shop=shop, name="Cups", parent=kitchen, now=NOW)],
        sku="M1",
        price=Decimal("9.50"),
        status="active",
        stock_qty=12,
    )
    Product.objects.filter(pk=mug.pk).update(
        brand=Brand.objects.create(shop=shop, name="Lighthouse"),
        vendor=Vendor.objects.create(shop=shop, name="Harbour Trade"),
        shipping_origin=ShippingOrigin.objects.create(shop=shop, name="Kiel"),
        tax_class=TaxClass.objects.create(shop=shop, name="ceramics"),
        damaged_qty=2,
        damaged_price=Decimal("4.00"),
        description="<p>A mug.</p>" + "<div>" * 400 + "deep" + "</div>" * 400,
    )
    make_option(mug, "Gift wrap", {"Paper": "2.00"}, required=False)
    blue = make_variant(make_product(shop, "Shirt"), "Blue", sku="S-BLUE")
    bundle = make_bundle(shop, "Breakfast", {mug: 2, blue: 1})
    make_product(shop, "Draft", status="draft")
    media = Media(shop=shop, product=mug, alt="A mug", sort_order=0)
    media.file.save("mug.png", ContentFile(PIXEL, name="mug.png"), save=True)
    small = get_thumbnailer(media.file).get_thumbnail({"size": (1, 1)})
    ThumbnailDimensions.objects.get_or_create(
        thumbnail=get_thumbnailer(media.file).get_thumbnail_cache(small.name, create=True),
        defaults={"width": 1, "height": 1},
    )
    inventory_actions.adjust_stock(
        shop=shop,
        product_id=mug.pk,
        change=inventory_actions.By(5),
        reason="Counted",
        author=inventory_actions.Author(user=owner),
        now=NOW,
    )
    ProductImport.objects.create(
        shop=shop, user=owner, file_name="spring.csv", state="done", percent=100, created=3, created_at=NOW
    )
    ScheduleTold.objects.create(shop=shop, until=NOW)
    return {"mug": Product.objects.get(pk=mug.pk), "blue": blue, "bundle": bundle}


def fill_customers(shop: Shop, goods: dict[str, Product | Variant]) -> Customer:
    trade = CustomerGroup.objects.create(shop=shop, name="Trade", discount_percent=Decimal(10))
    GroupPrice.objects.create(shop=shop, group=trade, product=goods["mug"], price=Decimal("8.00"))
    ada = customers.create_customer(
        shop=shop, now=NOW, email="ada@example.com", name="Ada Lovelace", group_id=trade.pk, addresses=[ADDRESS]
    )
    Customer.objects.filter(pk=ada.pk).update(password=PASSWORD)
    customers.create_customer(shop=shop, now=NOW, email="guest@example.com", name="Guest of Old")
    return Customer.objects.get(pk=ada.pk)


def fill_pricing(shop: Shop) -> None:
    ShippingRate.objects.create(shop=shop, name="Parcel", countries=["DE"], price=Decimal("4.90"))
    TaxRate.objects.create(shop=shop, name="VAT", country="DE", percent=Decimal(19))
    Discount.objects.create(shop=shop, name="Spring", kind="percent", value=Decimal(5))


def fill_carts(shop: Shop, shopper: Customer, goods: dict[str, Product | Variant]) -> None:
    mug = goods["mug"].pk
    integration = carts.add_line(shop=shop, now=NOW, product_id=mug, qty=2)
    own = carts.open_customer_cart(shop=shop, customer=shopper, now=NOW)
    carts.add_line(shop=shop, now=NOW, product_id=mug, qty=1, cart=own, with_token=False)
    carts.add_line(shop=shop, now=NOW, product_id=mug, qty=3, with_token=False)
    for cart, email in ((integration.cart, "bert@example.com"), (own, shopper.email)):
        save_details(
            shop=shop,
            cart=cart,
            email=email,
            phone="",
            shipping_address=ADDRESS,
            billing_address=None,
            now=NOW,
        )


def fill_apps(shop: Shop):
    slug = shop.domain.partition(".")[0]
    app, _ = register_app(
        name=f"Notes of {slug}",
        slug=f"notes-{slug}",
        install_url="https://app.example.com/install",
        scopes=list(SCOPES),
        now=NOW,
    )
    gone, _ = install_app(shop=shop, app=app, scopes=["read_shop"], now=NOW)
    uninstall_app(shop=shop, installation=gone, now=NOW)
    installation, _ = install_app(shop=shop, app=app, scopes=list(SCOPES), now=NOW)
    rotate_secret(shop=shop, installation=installation, now=NOW)
    given = {"shop": shop, "installation_id": installation.pk, "now": NOW}
    webhooks.register_webhook(topic="order.placed", address="https://app.example.com/hooks", **given)
    scripts.register_script_tag(src="https://app.example.com/badge.js", location="head", **given)
    block = extensions.register_extension(
        type="checkout_block", callback_url="https://app.example.com/block", timeout_ms=900, **given
    )
    ExtensionCall.objects.create(
        shop=shop, extension=block, called_at=NOW, duration_ms=80, outcome="shown", status=200, request="{}"
    )
    allow_script_host(shop=shop, host="scripts.example.com")
    BlockedScript.objects.create(
        shop=shop,
        source="https://elsewhere.example.com/x.js",
        directive="script-src",
        page="/",
        first_at=NOW,
        last_at=NOW,
    )
    return installation


def fill_orders(shop: Shop, shopper: Customer, goods: dict[str, Product | Variant]) -> None:
    first = make_order(shop, sale_line(goods["mug"], 2), sale_line(goods["blue"]), customer_id=shopper.pk)
    orders.mark_paid(shop=shop, order=first, now=NOW)
    fulfilling.fulfil_order(shop=shop, order=first, now=NOW)
    refunds.request_refund(shop=shop, order=first, amount=Decimal("3.00"), reason="Chipped", now=NOW)
    second = make_order(shop, sale_line(goods["mug"]), promise=Promise("demo", Decimal("9.50"), "auth-1", True))
    orders.cancel_order(shop=shop, order=second, now=NOW)
    make_order(shop, sale_line(goods["mug"]), email="guest@example.com")


def fill_deliveries(shop: Shop, installation) -> None:
    delivery = Delivery.objects.filter(shop=shop, installation=installation).first()
    Attempt.objects.create(shop=shop, delivery=delivery, number=1, started_at=NOW, duration_ms=40, status=500)


def fill_deployment() -> None:
    """What belongs to no shop."""
    group = Group.objects.create(name="Nobody")
    group.permissions.add(Permission.objects.first())
    operator = User.objects.create(
        username="operator", email="operator@example.com", password=PASSWORD, is_staff=True, is_superuser=True
    )
    operator.groups.add(group)
    operator.user_permissions.add(Permission.objects.first())
    session = SessionStore()
    cart = ApiToken.objects.first().shop.carts.filter(customer=None).order_by("pk").first()
    session["baskets"] = {str(cart.shop_id): str(cart.public_id)}
    session.save()
    send_notice.enqueue(Shop.objects.first().pk, "ada@example.com", "password_changed")
    TaskLease.objects.create(task=DBTaskResult.objects.first(), worker="w", ends_at=NOW)


def empty_tables() -> list[str]:
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor)
        return [name for name in sorted(names) if not rows(cursor, name)]


def rows(cursor, table: str) -> int:
    try:
        cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(table)}")
    except Exception:
        return 1
    return cursor.fetchone()[0]


if __name__ == "__main__":
    with transaction.atomic():
        fill_shop("old.example.com", "Old Harbour")
        fill_shop("second.example.com", "Second Quay")
        fill_deployment()
    sys.stdout.write(f"empty: {empty_tables()}\n")
