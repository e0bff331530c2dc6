"""A new shop's first steps, each done or not by the shop's own data, and what it needs before its doors open."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _

from storefront.catalogue.models import Product
from storefront.content.models import Looks, LooksVersion, Page
from storefront.content.sections import shows_demo_pictures
from storefront.documents.models import InvoiceSettings
from storefront.orders.models import Order
from storefront.payments.accounts import offered_providers
from storefront.payments.providers.manual import Manual
from storefront.pricing.eu_vat import MEMBER_STATES
from storefront.pricing.models import PickupPlace, ShippingRate, TaxRate
from storefront.shops.models import Shop
from storefront.staff import doors

# A shop with this many orders is not shown first steps.
ORDERS_OF_A_RUNNING_SHOP = 10
Kind = Page.Kind


@dataclass(frozen=True)
class Step:
    """A step, with the address of the field that it is about; without one, it cannot be taken yet."""

    text: str
    is_done: bool
    url: str


def first_steps(shop: Shop) -> list[Step]:
    """The steps of a new shop; empty once they are hidden or all done, and for a shop that runs."""
    if shop.steps_hidden_at is not None:
        return []
    orders = Order.objects.filter(shop=shop).values_list("pk", flat=True)[:ORDERS_OF_A_RUNNING_SHOP]
    count = len(orders)
    if count == ORDERS_OF_A_RUNNING_SHOP:
        return []
    steps = _steps(shop, has_orders=count > 0)
    return [] if all(step.is_done for step in steps) else steps


def missing(shop: Shop) -> list[Step]:
    """What the shop lacks before its doors should open: imprint, terms, tax, delivery, payment."""
    pages = _pages(shop)
    needed = [_page(pages, Kind.IMPRINT), _page(pages, Kind.TERMS), _tax(shop), _delivery(shop), _payment(shop)]
    return [step for step in needed if not step.is_done]


def before_opening(request: Any, shop: Shop) -> dict[str, Any]:
    """What the page that asks whether to open the doors shows in place of its own sentence, if something is missing."""
    lacking = missing(shop)
    if not lacking:
        return {}
    link = '<a class="text-primary-600 underline dark:text-primary-500" href="{}">{}</a>'
    return {
        "sentences": [_("The shop is not ready for shoppers. It still needs:")],
        "listed": [format_html(link, step.url, step.text) for step in lacking],
        "button": _("Open anyway"),
    }


def has_products(shop: Shop) -> bool:
    return Product.objects.filter(shop=shop, deleted_at=None).exists()


def _steps(shop: Shop, *, has_orders: bool) -> list[Step]:
    pages = _pages(shop)
    texts = [_page(pages, kind) for kind in (Kind.IMPRINT, Kind.TERMS, Kind.PRIVACY)]
    next_text = next((step for step in texts if not step.is_done), texts[0])
    has_address = InvoiceSettings.objects.filter(shop=shop).exclude(address="").exists()
    address = _list("documents_invoicesettings") + "#id_address" if shop.email else _settings(shop, "email")
    has_logo = Looks.objects.filter(shop=shop).exclude(logo="").exists()
    needed = [_delivery(shop), _tax(shop), _payment(shop)]
    is_ready = all(step.is_done for step in [*texts[:2], *needed])
    return [
        Step(_("Name and address"), bool(shop.email) and has_address, address),
        _look(shop),
        Step(_("Logo and colours"), has_logo, _list("content_looks") + "#id_logo"),
        Step(_("Products"), has_products(shop), reverse("admin:catalogue_product_add")),
        *needed,
        Step(_("Imprint, terms and privacy"), all(step.is_done for step in texts), next_text.url),
        Step(_("A test order"), has_orders, shop.base_url),
        Step(_("Open the doors"), not doors.is_closed(shop), open_doors_url(shop) if is_ready else ""),
    ]


def _look(shop: Shop) -> Step:
    """A theme was chosen, or the looks were changed, and no demo picture is left."""
    looks = Looks.objects.filter(shop=shop).first()
    if looks and shows_demo_pictures(looks.sections):
        return Step(_("Your own pictures in place of the demo pictures"), False, _list("content_looks") + "#id_home")
    is_done = bool(looks and looks.logo) or LooksVersion.objects.filter(shop=shop).exists()
    return Step(_("Choose a look"), is_done, reverse("admin:content_looks_themes"))


def open_doors_url(shop: Shop) -> str:
    return reverse("admin:shops_shop_open_doors", args=[shop.pk])


def _delivery(shop: Shop) -> Step:
    has_delivery = any(model.objects.filter(shop=shop).exists() for model in (ShippingRate, PickupPlace))
    url = _list("pricing_shippingrate") if has_delivery else reverse("admin:pricing_shippingrate_add")
    return Step(_("Delivery"), has_delivery, url)


def _tax(shop: Shop) -> Step:
    has_tax = TaxRate.objects.filter(shop=shop).exists()
    first = "load_eu_rates" if shop.country in MEMBER_STATES else "add"
    return Step(_("Tax"), has_tax, reverse(f"admin:pricing_taxrate_{'changelist' if has_tax else first}"))


def _payment(shop: Shop) -> Step:
    """Done if shoppers can pay in earnest: by a provider that was set up, or as the payment instructions say."""
    has_words = bool(shop.manual_payment_instructions)
    is_done = any(
        each.settings_form is not None or (each.name == Manual.name and has_words) for each in offered_providers(shop)
    )
    is_only_without_words = Manual.name in shop.payment_methods and not has_words
    field = "manual_payment_instructions" if is_only_without_words else "payment_methods_0"
    return Step(_("Payment"), is_done, _settings(shop, field))


def _pages(shop: Shop) -> dict[str, tuple[int, bool]]:
    """The ids of the shop's pages by kind, and whether they are published."""
    rows = Page.objects.filter(shop=shop, kind__in=[Kind.IMPRINT, Kind.TERMS, Kind.PRIVACY])
    return {kind: (id, is_published) for kind, id, is_published in rows.values_list("kind", "pk", "is_published")}


def _page(pages: Mapping[str, tuple[int, bool]], kind: Kind) -> Step:
    id, is_published = pages.get(kind, (None, False))
    url = reverse("admin:content_page_change", args=[id]) + "#id_body" if id else _list("content_page")
    return Step(str(kind.label), is_published, url)


def _list(page: str) -> str:
    return reverse(f"admin:{page}_changelist")


def _settings(shop: Shop, field: str) -> str:
    return reverse("admin:shops_shop_change", args=[shop.pk]) + f"#id_{field}"
