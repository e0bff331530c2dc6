"""Everything saved, deleted or done in the admin is one entry, which names who, where from, and what changed."""

from decimal import Decimal

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from storefront.apps.actions import rotate_token
from storefront.apps.models import AllowedScriptHost, BlockedScript, Extension, ScriptTag
from storefront.catalogue.models import Brand, Category, Product, Variant, Vendor
from storefront.content.models import Looks, MailText, Page, Redirect
from storefront.customers.models import Customer, CustomerGroup
from storefront.documents.models import InvoiceSettings
from storefront.gift_cards.models import GiftCard
from storefront.installations.models import App, Installation
from storefront.kit import clock
from storefront.orders.fulfilling import fulfil_order
from storefront.orders.models import Order
from storefront.payments.actions import mark_paid
from storefront.payments.models import ProviderAccount
from storefront.pictures.models import PictureFetch
from storefront.pricing.models import DeliveryZone, Discount, PickupPlace, ShippingRate, TaxRate, TaxSettings
from storefront.privacy.models import DataRequest
from storefront.product_files.models import ProductImport
from storefront.shops.models import AllowedOrigin, ApiToken, AuditEntry, Shop, ShopDomain, StaffInvitation, StaffMember
from storefront.staff.admin_scope import ScopedToShop
from storefront.staff.doors import close_doors
from storefront.webhooks.dispatch import dispatch
from storefront.webhooks.models import Delivery, Registration
from tests.audit.entries import entries, one_entry
from tests.catalogue.factories import make_category, make_product, make_variant
from tests.customers.factories import add_address, make_customer
from tests.documents.factories import make_settings
from tests.factories.apps import install, make_app
from tests.orders.factories import make_order, sale_line
from tests.pictures.hosts import requested
from tests.pricing.rows import make_zone
from tests.server.test_admin_scope import ROWS
from tests.staff import admin_url, make_staff, open_desk
from tests.webhooks.factories import emit

pytestmark = [pytest.mark.strict, pytest.mark.slow]

# By model: the values to fill in its form for a new row, and the entry's action.
ADDED = {
    ShopDomain: ({"domain": "www.example.org"}, "domain.created"),
    AllowedOrigin: ({"origin": "https://www.example.com"}, "allowed_origin.created"),
    ApiToken: ({"name": "Feed", "scopes": ["read_products"], "requests_per_minute": 60}, "token.created"),
    StaffInvitation: ({"email": "ben@example.com", "role": "manager"}, "staff.invited"),
    Brand: ({"name": "Acme"}, "brand.created"),
    Page: ({"title": "Care", "slug": "care", "body": "Wash cold."}, "page.created"),
    Redirect: ({"path": "/old", "target": "/products"}, "redirect.created"),
    Vendor: ({"name": "Acme"}, "vendor.created"),
    Category: ({"name": "Cups"}, "category.created"),
    Product: ({"name": "Jug", "price": "4.00"}, "product.created"),
    Customer: ({"email": "ada@example.com", "name": "Ada"}, "customer.created"),
    CustomerGroup: ({"name": "Trade", "discount_percent": "5"}, "customer_group.created"),
    Discount: ({"name": "Sale", "value": "5", "needs_code": ""}, "discount.created"),
    GiftCard: ({"value": "5.00", "email": "ada@example.com"}, "gift_card.issued"),
    DataRequest: ({"email": "ada@example.com"}, "data_request.created"),
    TaxRate: ({"name": "VAT", "country": "DE", "percent": "19"}, "tax_rate.created"),
    DeliveryZone: ({"name": "Home", "countries": ["DE"]}, "delivery_zone.created"),
    ShippingRate: ({"name": "Parcel", "price": "4.90", "zone": make_zone}, "shipping_rate.created"),
    PickupPlace: ({"name": "Shop", "line1": "Kai 1", "city": "Kiel", "country": "DE"}, "pickup_place.created"),
    AllowedScriptHost: ({"host": "cdn.example.net"}, "script_host.allowed"),
    ProviderAccount: ({"provider": "stripe"}, "provider_account.created"),
}
# Buttons that look, or are a way to a form, and what belongs to no shop: the operator's secret of an app.
LOOKS = {"preview", "download_report", "download_codes", "packing_slip", "print_page", "pdf", "download", "redirect"}
# By model: the field to change, its new value, and the entry's action.
CHANGED = {
    Shop: ("email", "hello@example.com", "shop.updated"),
    AllowedOrigin: ("origin", "https://changed.example.com", "allowed_origin.updated"),
    ApiToken: ("requests_per_minute", 30, "token.updated"),
    StaffMember: ("role", "owner", "staff.role_changed"),
    Product: ("price", "1.00", "product.updated"),
    Variant: ("cost_price", "2.50", "product.updated"),
    Category: ("name", "Changed", "category.updated"),
    Brand: ("name", "Changed", "brand.updated"),
    Looks: ("footer_text", "Changed", "looks.updated"),
    MailText: ("subject", "Changed", "mail_text.updated"),
    Page: ("title", "Changed", "page.updated"),
    Redirect: ("target", "/basket", "redirect.updated"),
    Vendor: ("name", "Changed", "vendor.updated"),
    Customer: ("name", "Changed", "customer.updated"),
    CustomerGroup: ("discount_percent", "7", "customer_group.updated"),
    Discount: ("value", "7", "discount.updated"),
    TaxRate: ("percent", "7", "tax_rate.updated"),
    DeliveryZone: ("countries", ["AT"], "delivery_zone.updated"),
    ShippingRate: ("price", "7.00", "shipping_rate.updated"),
    PickupPlace: ("city", "Husum", "pickup_place.updated"),
    Extension: ("is_active", "", "extension.updated"),
    ScriptTag: ("is_active", "", "script_tag.updated"),
    Order: ("note", "Call first", "order.updated"),
    TaxSettings: ("tax_rounding", "line", "tax_settings.updated"),
    InvoiceSettings: ("legal_name", "Changed Ltd", "invoice_settings.updated"),
    Installation: ("scopes", ["read_shop"], "app.scopes_changed"),
}
# The same kind of page as another that is walked here, and the operator's of all shops (tests/deployment).
ALIKE = {"shippingorigin", "taxclass", "deployedshop"}


@pytest.fixture
def desk(shop):
    desk = open_desk(make_staff(shop))
    desk.get("/admin/")
    return desk


def actor_of(entry: AuditEntry) -> tuple:
    return entry.actor_kind, entry.actor_name, entry.place, bool(entry.request_id)


ANNA = ("staff", "anna@example.com", "127.0.0.1", True)


def pages(right: str) -> set[type]:
    """The models whose admin lets somebody do this on its pages."""
    return {
        model
        for model, page in admin.site._registry.items()
        if isinstance(page, ScopedToShop) and right in page.rights and model._meta.model_name not in ALIKE
    }


def test_every_form_of_the_admin_is_tested_here():
    # Apps belong to no shop, an import is told by whoever carries it out, and adding staff leads to inviting them.
    assert pages("add") == {*ADDED, App, ProductImport, StaffMember}
    # What a provider's page asks for depends on the provider: `tests/payments/test_admin_accounts.py`.
    assert pages("change") == {*CHANGED, App, ProviderAccount}


@pytest.mark.parametrize("model", ADDED, ids=lambda model: model.__name__)
def test_a_new_row_makes_one_entry(desk, shop, other_shop, model):
    values, action = ADDED[model]
    values = {name: value(shop).pk if callable(value) else value for name, value in values.items()}
    with one_entry(shop) as found:
        # The page after a new token shows it.
        assert desk.fill(model, **values).status_code == (200 if model is ApiToken else 302)
    (entry,) = found
    assert (entry.action, actor_of(entry)) == (action, ANNA)
    assert entry.object_id
    assert entry.after
    assert entry.before is None
    assert not LogEntry.objects.exists()


@pytest.mark.parametrize("model", CHANGED, ids=lambda model: model.__name__)
def test_a_changed_row_makes_one_entry(desk, shop, other_shop, model):
    field, value, action = CHANGED[model]
    row = ROWS[model](shop)
    with one_entry(shop) as found:
        assert desk.fill(row, **{field: value}).status_code == 302
    (entry,) = found
    assert (entry.action, actor_of(entry)) == (action, ANNA)
    assert entry.before is not None
    assert entry.after is not None
    assert entry.before != entry.after
    assert set(entry.before) == set(entry.after) <= {field, "variant_costs"}
    assert entry.object_id == (row.product_id if model is Variant else row.user_id if model is StaffMember else row.pk)
    assert not LogEntry.objects.exists()


@pytest.mark.parametrize("model", CHANGED, ids=lambda model: model.__name__)
def test_saving_an_unchanged_form_makes_no_entry(desk, shop, model):
    row = ROWS[model](shop)
    before = len(entries(shop))
    assert desk.fill(row).status_code == 302
    assert len(entries(shop)) == before


DELETED = sorted(pages("delete") - {App}, key=lambda model: model.__name__)


@pytest.mark.parametrize("model", DELETED, ids=lambda model: model.__name__)
def test_a_deleted_row_makes_one_entry(desk, shop, other_shop, model):
    row = ROWS[model](shop)
    with one_entry(shop) as found:
        assert desk.post(admin_url(row, "delete"), {"post": "yes"}).status_code == 302
    (entry,) = found
    assert actor_of(entry) == ANNA
    assert entry.action.endswith((".deleted", ".removed"))
    assert entry.before
    assert entry.after is None


def test_rows_deleted_together_make_an_entry_each(desk, shop):
    rows = [Brand.objects.create(shop=shop, name=name) for name in ("Acme", "Bolt")]
    desk.choose(Brand, "delete_selected", *rows, post="yes")
    assert [entry.object_name for entry in entries(shop, action="brand.deleted")] == ["Acme", "Bolt"]


# Buttons that answer with a page, which shows a secret once. The others redirect.
SHOWING = {f"apps_{name}" for name in ("installation_rotate_secret", "installation_rotate_token", "app_install")}
SHOWING.add("shops_shop_close_doors")


def act(desk, row, name, **given):
    button = f"{row._meta.app_label}_{row._meta.model_name}_{name}"
    answer = desk.post(reverse(f"admin:{button}", args=[row.pk]), {"_form_submitted": "on"} | given)
    assert answer.status_code == (200 if button in SHOWING else 302), answer.content


def order(shop):
    return make_order(shop, sale_line(make_product(shop, "Mug"), 1))


def partly_sent(shop):
    row = make_order(shop, sale_line(make_product(shop, "Mug"), 2))
    fulfil_order(shop=shop, order=row, pieces=[(row.lines.get().pk, 1)], now=clock.now())
    return row


def paid(shop):
    return mark_paid(shop=shop, order=order(shop), now=clock.now())


def closed(shop):
    close_doors(shop=shop, now=clock.now())
    return shop


def addressed(shop):
    # A name that no DNS has, so that nothing is asked.
    shop.email = "hello@shop.invalid"
    shop.save()
    return shop


def paid_while_off(shop):
    make_settings(shop)
    return paid(shop)


def replaced(shop):
    row = install(shop, app=make_app("gifts")).installation
    rotate_token(shop=shop, installation=row, now=clock.now())
    return row


def paused(shop):
    row = ROWS[Registration](shop)
    Registration.objects.update(is_active=False, paused_at=clock.now(), pause_reason="failing")
    return row


def ended(shop):
    ROWS[Registration](shop)
    emit(shop)
    dispatch(clock.now())
    return Delivery.objects.get(kind="event")


def gone(shop):
    return make_product(shop, "Mug", deleted_at=clock.now())


def disabled_card(shop):
    card = ROWS[GiftCard](shop)
    GiftCard.objects.update(disabled_at=clock.now())
    return card


def import_with_failure(shop):
    row = ROWS[ProductImport](shop)
    (media,) = requested(shop, "https://old.example.com/cup.jpg", product_import=row.pk)
    PictureFetch.objects.filter(pk=media.pk).update(state="failed")
    return row


# Buttons of a row's page: preparation, posted data, and the entry's action.
BUTTONS = {
    "fulfil": (order, {}, "order.fulfilled"),
    "write": (order, {"subject": "Your order", "text": "It is late."}, "order.mail_written"),
    "close": (partly_sent, {}, "order.closed"),
    "mark_paid": (order, {}, "order.marked_paid"),
    "cancel": (order, {"restock": "on"}, "order.cancelled"),
    "refund": (paid, {"amount": "5.00"}, "order.refunded"),
    "issue_invoice": (paid_while_off, {}, "invoice.issued"),
    "open_doors": (closed, {}, "shop.opened"),
    "close_doors": (lambda shop: shop, {}, "shop.closed"),
    "hide_steps": (lambda shop: shop, {}, "shop.updated"),
    "ask_for_proof": (addressed, {}, "sender.asked"),
    "check_sender": (addressed, {}, "sender.checked"),
    "check_domain": (ROWS[ShopDomain], {}, "domain.checked"),
    "revoke": (ROWS[ApiToken], {}, "token.revoked"),
    "rotate_token": (ROWS[Installation], {}, "app.token_rotated"),
    "end_old_tokens": (replaced, {}, "app.old_tokens_ended"),
    "rotate_secret": (ROWS[Installation], {}, "app.secret_rotated"),
    "uninstall": (ROWS[Installation], {}, "app.uninstalled"),
    "allow": (ROWS[BlockedScript], {}, "script_host.allowed"),
    "resume": (paused, {}, "webhook.resumed"),
    "send_test": (ROWS[Registration], {}, "webhook.tested"),
    "replay": (ended, {}, "webhook.replayed"),
    "restore": (gone, {}, "product.restored"),
    "retry_pictures": (import_with_failure, {}, "pictures.retried"),
    "send_password_reset": (lambda shop: make_customer(shop), {}, "customer.password_mail_sent"),
    "personal_data": (lambda shop: make_customer(shop), {}, "data_request.created"),
    "make_export": (ROWS[DataRequest], {}, "data_request.exported"),
    "erase": (ROWS[DataRequest], {"email": "buyer@shop.example.com"}, "data_request.erasure_started"),
    "adjust": (lambda shop: make_product(shop, "Mug"), {"delta": "3", "reason": "Counted"}, "stock.adjusted"),
    "end_sessions": (ROWS[StaffMember], {}, "staff.sessions_ended"),
    "send_again": (ROWS[StaffInvitation], {}, "staff.invited"),
    "withdraw": (ROWS[StaffInvitation], {}, "staff.invitation_withdrawn"),
    "send_sample": (ROWS[MailText], {}, "mail_text.tested"),
    "use_standard": (ROWS[MailText], {}, "mail_text.updated"),
    "generate": (ROWS[Discount], {"count": "2"}, "discount.codes_created"),
    "resend": (ROWS[GiftCard], {"email": "ada@example.com"}, "gift_card.sent_again"),
    "expiry": (ROWS[GiftCard], {"last_day": "2099-12-31"}, "gift_card.expiry_changed"),
    "disable": (ROWS[GiftCard], {}, "gift_card.disabled"),
    "enable": (disabled_card, {}, "gift_card.enabled"),
    "install": (lambda shop: make_app("gifts"), {"scopes": ["read_shop"]}, "app.installed"),
}


@pytest.mark.parametrize("name", BUTTONS)
def test_each_button_makes_one_entry(desk, shop, other_shop, name):
    prepare, sent, action = BUTTONS[name]
    row = prepare(shop)
    with one_entry(shop) as found:
        act(desk, row, name, **sent)
    assert (found[0].action, actor_of(found[0])) == (action, ANNA)


def test_every_button_of_the_admin_is_tested_here():
    offered = {
        name for page in admin.site._registry.values() for name in page.actions_detail or [] if name not in LOOKS
    }
    # The first asks which files, the second which fulfilment, the third asks a provider, the fourth makes several
    # entries, the fifth asks for a file: tests/orders, tests/payments, tests/documents and tests/pricing have them. The
    # sixth is in test_owner_mails.py, the next four in tests/product_files, the last four in tests/deployment.
    others = {"allow_downloads", "cancel_fulfilment", "check_connection", "correct_invoice", "import_codes", "undo"}
    others |= {"confirm", "decline", "map_columns", "undo_import", "enter", "close_shop", "reopen_shop", "move_shop"}
    assert offered == {*BUTTONS, *others}


def test_statuses_set_together_make_an_entry_each_with_their_old_status(desk, shop):
    rows = [make_product(shop, f"Mug {status}", status=status) for status in ("draft", "active", "archived")]
    desk.choose(Product, "publish", *rows)
    told_of = [(entry.object_id, entry.before, entry.after) for entry in entries(shop, action="product.status_changed")]
    after = {"status": "active"}
    assert told_of == [(rows[0].pk, {"status": "draft"}, after), (rows[2].pk, {"status": "archived"}, after)]


def test_a_products_form_with_its_inlines_makes_one_entry(desk, shop):
    scarf = make_product(shop, "Scarf")
    blue = make_variant(scarf, "Blue", cost_price=Decimal("4.00"))
    with one_entry(shop) as found:
        answer = desk.fill(scarf, price="8.00", variants__0__price="13.00", variants__0__stock_qty="3")
        assert answer.status_code == 302
    assert found[0].before == {"price": "9.50", "variants": [{"id": blue.pk, "price": "12.00", "stock_qty": 5}]}
    assert found[0].after == {"price": "8.00", "variants": [{"id": blue.pk, "price": "13.00", "stock_qty": 3}]}


def test_a_customers_form_with_its_addresses_makes_one_entry(desk, shop):
    ada = make_customer(shop, name="Ada")
    home = add_address(ada)
    with one_entry(shop) as found:
        desk.fill(ada, name="Ada King", addresses__0__city="Hamburg")
    assert found[0].before == {"name": "Ada", "addresses": [{"id": home.pk, "city": "Kiel"}]}
    assert found[0].after == {"name": "Ada King", "addresses": [{"id": home.pk, "city": "Hamburg"}]}
    with one_entry(shop) as found:
        desk.fill(ada, addresses__0__DELETE="on")
    assert found[0].before["addresses"][0]["city"] == "Hamburg"
    assert found[0].after is None


def test_an_entry_never_contains_the_value_of_a_secret_column(desk, shop):
    ada = make_customer(shop)
    old = ada.password
    entry_before = len(entries(shop))
    desk.fill(ada, name="Ada")
    told_of = str([(entry.before, entry.after) for entry in entries(shop)])
    assert len(entries(shop)) == entry_before + 1
    assert old not in told_of
    assert str(ada.session_mark) not in told_of


def test_a_refused_deletion_of_a_category_makes_no_entry(desk, shop):
    kitchen = make_category(shop, "Kitchen")
    make_category(shop, "Cups", parent=kitchen)
    before = len(entries(shop))
    desk.post(admin_url(kitchen, "delete"), {"post": "yes"})
    assert len(entries(shop)) == before


def test_opening_pages_makes_no_entry(desk, shop):
    product, before = make_product(shop, "Mug"), len(entries(shop))
    for url in (admin_url(Product, "changelist"), admin_url(product, "change"), admin_url(product, "history")):
        assert desk.get(url).status_code == 200
    assert len(entries(shop)) == before


def test_an_export_of_all_products_makes_one_entry(desk, shop):
    make_product(shop, "Mug")
    with one_entry(shop) as found:
        assert desk.get("/admin/catalogue/productimport/export/native/").status_code == 200
    assert (found[0].action, found[0].after) == ("products.exported", {"format": "native", "products": 1})
