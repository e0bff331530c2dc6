"""One row of each kind that has a page in the admin, by its model."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

from django.core.files.base import ContentFile
from django.db.models import Model

from storefront import audit
from storefront.apps.models import AllowedScriptHost, BlockedScript, Extension, ScriptTag
from storefront.carts.models import Cart
from storefront.catalogue.models import (
    Brand,
    Category,
    Product,
    ShippingOrigin,
    StockAdjustment,
    TaxClass,
    Variant,
    Vendor,
)
from storefront.content.models import Looks, MailText, MissingPath, Page, Redirect
from storefront.customers.models import Customer, CustomerGroup
from storefront.documents.models import Document, InvoiceSettings
from storefront.documents.numbering import Number
from storefront.documents.records import invoice_record
from storefront.gift_cards.issuing import issue_card
from storefront.gift_cards.models import GiftCard
from storefront.installations.models import Installation
from storefront.orders.models import Order
from storefront.payments.models import Payment, ProviderAccount
from storefront.pricing.models import DeliveryZone, Discount, PickupPlace, ShippingRate, TaxRate, TaxSettings
from storefront.privacy.models import DataRequest
from storefront.product_files.models import ProductImport
from storefront.shops.models import AllowedOrigin, ApiToken, AuditEntry, Shop, ShopDomain, StaffInvitation, StaffMember
from storefront.staff.invitations import invite_staff
from storefront.webhooks.models import Delivery, Event, Registration
from tests.catalogue.factories import make_category, make_product, make_variant
from tests.factories.apps import install
from tests.pricing.rows import make_place, make_rate, make_zone
from tests.shops.factories import NOW, make_token
from tests.staff import make_staff
from tests.webhooks.factories import register

TIMES = {"created_at": NOW, "updated_at": NOW}


def make_order(shop: Shop) -> Order:
    return Order.objects.create(
        shop=shop,
        number=1001,
        email="shopper@example.com",
        currency=shop.currency,
        prices_include_tax=True,
        billing_address={"name": f"Buyer of {shop.name}"},
        payment_method="manual",
        placed_at=NOW,
        updated_at=NOW,
    )


def make_payment(shop: Shop) -> Payment:
    order = Order.objects.filter(shop=shop).first() or make_order(shop)
    return Payment.objects.create(shop=shop, order=order, gateway="manual", status="pending", currency="EUR", **TIMES)


def make_document(shop: Shop) -> Document:
    order, number = Order.objects.filter(shop=shop).first() or make_order(shop), Number(f"{shop.name} ", 1)
    buyer, seller = [f"Buyer of {shop.name}"], InvoiceSettings(shop=shop)
    return Document.objects.create(
        shop=shop,
        order=order,
        kind="invoice",
        number=str(number),
        prefix=number.prefix,
        position=number.position,
        amount=Decimal("9.50"),
        currency="EUR",
        record=invoice_record(order=order, number=number, seller=seller, buyer=buyer, now=NOW),
        issued_at=NOW,
    )


def make_api_token(shop: Shop) -> ApiToken:
    make_token(shop)
    return ApiToken.objects.get(shop=shop)


def make_entry(shop: Shop) -> AuditEntry:
    about = audit.Object("product", 5, f"Mug of {shop.name}")
    audit.record(shop=shop, action="product.deleted", object=about, now=NOW)
    return AuditEntry.objects.filter(shop=shop).latest("id")


def make_data_request(shop: Shop) -> DataRequest:
    """With a file to download."""
    row = DataRequest.objects.create(shop=shop, email=f"buyer@{shop.domain}", created_at=NOW, exported_at=NOW)
    row.file.save(f"{shop.pk}.zip", ContentFile(b"PK"))
    return row


# One row of each kind, by the model that has a page.
ROWS: dict[type[Model], Callable[[Shop], Model]] = {
    Shop: lambda shop: shop,
    ShopDomain: lambda shop: ShopDomain.objects.create(shop=shop, domain=f"www-{shop.pk}.invalid", created_at=NOW),
    StaffMember: lambda shop: StaffMember.objects.get(user=make_staff(shop, f"member-{shop.pk}", "manager"), shop=shop),
    StaffInvitation: lambda shop: invite_staff(
        shop=shop, email=f"new@{shop.domain}", role="manager", invited_by=None, now=NOW
    ),
    AllowedOrigin: lambda shop: AllowedOrigin.objects.create(shop=shop, origin=f"https://{shop.domain}"),
    ApiToken: make_api_token,
    Registration: lambda shop: register(install(shop), f"https://{shop.domain}/hook"),
    Delivery: lambda shop: install(shop).installation.deliveries.get(),
    Event: lambda shop: Event.objects.create(shop=shop, topic="order.placed", data={}, created_at=NOW),
    Product: lambda shop: make_product(shop, f"Mug of {shop.name}"),
    Variant: lambda shop: make_variant(make_product(shop, f"Scarf of {shop.name}"), f"Blue of {shop.name}"),
    StockAdjustment: lambda shop: StockAdjustment.objects.create(
        shop=shop,
        product=make_product(shop, f"Jug of {shop.name}"),
        kind="adjusted",
        delta=1,
        stock_after=11,
        reason=f"Found in {shop.name}",
        made_at=NOW,
    ),
    Category: lambda shop: make_category(shop, f"Cups of {shop.name}"),
    Brand: lambda shop: Brand.objects.create(shop=shop, name=f"Brand of {shop.name}"),
    Looks: lambda shop: Looks.objects.create(shop=shop, footer_text=f"Made by {shop.name}", updated_at=NOW),
    MailText: lambda shop: MailText.objects.create(
        shop=shop, kind="order_confirmation", closing=f"Yours, {shop.name}", updated_at=NOW
    ),
    Redirect: lambda shop: Redirect.objects.create(shop=shop, path="/old", target=f"/{shop.pk}", **TIMES),
    MissingPath: lambda shop: MissingPath.objects.create(shop=shop, path="/gone", asked=1, last_asked_at=NOW),
    Page: lambda shop: Page.objects.create(shop=shop, title=f"About {shop.name}", slug="about", **TIMES),
    Vendor: lambda shop: Vendor.objects.create(shop=shop, name=f"Vendor of {shop.name}"),
    ShippingOrigin: lambda shop: ShippingOrigin.objects.create(shop=shop, name=f"Origin of {shop.name}"),
    TaxClass: lambda shop: TaxClass.objects.create(shop=shop, name=f"Class of {shop.name}"),
    ProductImport: lambda shop: ProductImport.objects.create(
        shop=shop, file_name=f"{shop.name}.csv", state="done", created_at=NOW
    ),
    Customer: lambda shop: Customer.objects.create(shop=shop, email=f"buyer@{shop.domain}", **TIMES),
    DataRequest: make_data_request,
    CustomerGroup: lambda shop: CustomerGroup.objects.create(shop=shop, name=f"Trade of {shop.name}"),
    Discount: lambda shop: Discount.objects.create(shop=shop, name=f"Sale of {shop.name}", value=5),
    TaxSettings: lambda shop: TaxSettings.objects.get(pk=shop.pk),
    TaxRate: lambda shop: TaxRate.objects.create(shop=shop, name=f"VAT of {shop.name}", country="DE", percent=19),
    DeliveryZone: lambda shop: make_zone(shop, f"Zone of {shop.name}"),
    ShippingRate: lambda shop: make_rate(shop, f"Parcel of {shop.name}"),
    PickupPlace: lambda shop: make_place(shop, f"Place of {shop.name}"),
    Cart: lambda shop: Cart.objects.create(shop=shop, expires_at=NOW + timedelta(days=7), **TIMES),
    Installation: lambda shop: install(shop).installation,
    Extension: lambda shop: Extension.objects.create(
        shop=shop,
        installation=install(shop).installation,
        type="checkout_block",
        callback_url=f"https://{shop.domain}/blocks",
        **TIMES,
    ),
    ScriptTag: lambda shop: ScriptTag.objects.create(
        shop=shop,
        installation=install(shop).installation,
        src=f"https://{shop.domain}/badge.js",
        location="head",
        **TIMES,
    ),
    AllowedScriptHost: lambda shop: AllowedScriptHost.objects.create(shop=shop, host=f"cdn.{shop.domain}"),
    BlockedScript: lambda shop: BlockedScript.objects.create(
        shop=shop, source=f"https://cdn.{shop.domain}/", directive="script-src", page="/", first_at=NOW, last_at=NOW
    ),
    GiftCard: lambda shop: issue_card(shop=shop, value=Decimal(5), email=f"friend@{shop.domain}", now=NOW),
    Order: make_order,
    Payment: make_payment,
    Document: make_document,
    InvoiceSettings: lambda shop: InvoiceSettings.objects.create(shop=shop, legal_name=f"{shop.name} Ltd"),
    ProviderAccount: lambda shop: ProviderAccount.objects.create(shop=shop, provider="demo"),
    AuditEntry: make_entry,
}
