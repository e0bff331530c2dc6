"""The menu of the merchant's admin, and its topics: pages that belong together, with tabs between their lists. The
topics of the settings stand together on a page of their own, and those of apps behind one entry of the menu."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse

from storefront.checkout import dashboard

# A title and a model.
Page = tuple[str, str]
# Models with one row for each shop, and no list.
FORMS = {"pricing.taxsettings"}
# (title, icon, model) by group, the most used first.
MENU: list[tuple[str, list[tuple[str, str, str]]]] = [
    (
        "Sales",
        [
            ("Orders", "receipt_long", "orders.order"),
            ("Customers", "group", "customers.customer"),
            ("Payments", "payments", "payments.payment"),
            ("Invoices", "description", "documents.document"),
            ("Gift cards", "featured_seasonal_and_gifts", "gift_cards.giftcard"),
            ("Carts", "shopping_cart", "carts.cart"),
        ],
    ),
    (
        "Catalogue",
        [
            ("Products", "sell", "catalogue.product"),
            ("Categories", "account_tree", "catalogue.category"),
            ("Stock changes", "inventory_2", "catalogue.stockadjustment"),
            ("Import and export", "upload_file", "catalogue.productimport"),
        ],
    ),
    (
        "Shop",
        [
            ("Discounts", "percent", "pricing.discount"),
            ("Looks", "palette", "content.looks"),
            ("Pages", "article", "content.page"),
        ],
    ),
]


@dataclass(frozen=True)
class Topic:
    """Pages that belong together; `text` describes their purpose."""

    title: str
    icon: str
    text: str
    pages: tuple[Page, ...]


APPS = Topic(
    "Apps",
    "extension",
    "What apps may do, what they add to the shop, and which events they receive.",
    (
        ("Installed", "apps.installation"),
        ("Blocks", "apps.extension"),
        ("Scripts", "apps.scripttag"),
        ("Allowed hosts", "apps.allowedscripthost"),
        ("Blocked scripts", "apps.blockedscript"),
        ("Webhooks", "webhooks.registration"),
        ("Deliveries", "webhooks.delivery"),
        ("Events", "webhooks.event"),
        ("All apps", "apps.app"),
    ),
)
SETTINGS = (
    Topic(
        "Shop", "storefront", "Name, address, currency, language and how orders are placed.", (("Shop", "shops.shop"),)
    ),
    Topic(
        "Domains",
        "language",
        "Which address the shop has, and which others lead to it.",
        (("Domains", "shops.shopdomain"),),
    ),
    Topic("Payment", "credit_card", "Who takes the money.", (("Payment providers", "payments.provideraccount"),)),
    Topic(
        "Delivery",
        "local_shipping",
        "Where the shop delivers to, what that costs, and where orders can be collected.",
        (
            ("Shipping rates", "pricing.shippingrate"),
            ("Delivery zones", "pricing.deliveryzone"),
            ("Pick-up places", "pricing.pickupplace"),
            ("Shipping origins", "catalogue.shippingorigin"),
        ),
    ),
    Topic(
        "Taxes",
        "account_balance",
        "Which tax applies where, and how prices show it.",
        (
            ("Taxes", "pricing.taxsettings"),
            ("Tax rates", "pricing.taxrate"),
            ("Tax classes", "catalogue.taxclass"),
        ),
    ),
    Topic("Emails", "mail", "What the shop's emails say, and who sends them.", (("Emails", "content.mailtext"),)),
    Topic("Invoices", "description", "What is printed on invoices.", (("Invoices", "documents.invoicesettings"),)),
    Topic(
        "Brands, vendors and groups",
        "label",
        "What products and customers can be sorted into.",
        (
            ("Brands", "catalogue.brand"),
            ("Vendors", "catalogue.vendor"),
            ("Customer groups", "customers.customergroup"),
        ),
    ),
    Topic(
        "Staff",
        "badge",
        "Who works in this shop, and what each of them may do.",
        (("Staff", "shops.staffmember"), ("Invitations", "shops.staffinvitation")),
    ),
    Topic(
        "Programs",
        "key",
        "Keys for programs that read the shop, and sites that may call it.",
        (("API tokens", "shops.apitoken"), ("Allowed origins", "shops.allowedorigin")),
    ),
    Topic(
        "Data",
        "folder_shared",
        "What the shop has about one person: exported for them, or erased.",
        (("Data requests", "privacy.datarequest"),),
    ),
    Topic("Audit log", "policy", "Who changed what, and when.", (("Audit log", "shops.auditentry"),)),
)


# What merchants make most often: the text of a link, and the model whose "add" page it opens.
SHORTCUTS = [
    ("Add a product", "catalogue.product"),
    ("Import products", "catalogue.productimport"),
    ("Add a discount", "pricing.discount"),
    ("Add a shipping rate", "pricing.shippingrate"),
]


def start_page(request: Any, context: dict[str, Any]) -> dict[str, Any]:
    """Add to the template context of the admin's start page what this user may see and do."""
    context = dashboard.show(request, context)
    pages = _pages()
    context["shortcuts"] = [
        (text, reverse(f"admin:{model.replace('.', '_')}_add"))
        for text, model in SHORTCUTS
        if pages[model].has_add_permission(request)
    ]
    return context


def menu(request: HttpRequest) -> list[dict[str, Any]]:
    """The menu's groups, with the entries that this user may open."""
    start = {"title": "Home", "icon": "home", "link": reverse("admin:index")}
    groups = [
        {
            "title": title,
            "items": [_entry(title, icon, model) for title, icon, model in entries if _may(request, model)],
        }
        for title, entries in MENU
    ]
    end = [
        _entry_of_topics("Apps", APPS.icon, [APPS], request),
        _entry_of_topics("Settings", "settings", SETTINGS, request),
    ]
    groups.append({"title": "", "items": [entry for entry in end if entry]})
    return [{"items": [start]}, *(group | {"separator": True} for group in groups if group["items"])]


def tabs(request: HttpRequest) -> list[dict[str, Any]]:
    """The topics with the pages that this user may open, as the theme makes tabs of them. `is_setting` marks those that
    the page of settings shows."""
    topics = [_tabs_of(topic, request) | {"is_setting": topic is not APPS} for topic in (APPS, *SETTINGS)]
    return [topic for topic in topics if topic["items"]]


def _tabs_of(topic: Topic, request: HttpRequest) -> dict[str, Any]:
    links = {title: _list_of(model) for title, model in topic.pages if _may(request, model)}
    items = [
        {"title": title, "link": link, "active": request.path.startswith(link), "has_permission": True}
        for title, link in links.items()
    ]
    # The theme knows models with tabs above the list by name, and those with tabs above the form by this.
    models: list[Any] = [{"name": model, "detail": True} if model in FORMS else model for _, model in topic.pages]
    shown = {"title": topic.title, "icon": topic.icon, "text": topic.text, "items": items}
    return shown | {"models": models if len(items) > 1 else []}


def _entry(title: str, icon: str, model: str) -> dict[str, Any]:
    return {"title": title, "icon": icon, "link": _list_of(model)}


def _entry_of_topics(title: str, icon: str, topics: Iterable[Topic], request: HttpRequest) -> dict[str, Any]:
    """One entry for all pages of these topics; empty if the user may open none."""
    links = [_list_of(model) for topic in topics for _, model in topic.pages if _may(request, model)]
    if not links:
        return {}
    link = links[0] if title == APPS.title else reverse("admin:settings")
    is_here = request.path == link or any(request.path.startswith(each) for each in links)
    return {"title": title, "icon": icon, "link": link, "active": lambda _request: is_here}


def _list_of(model: str) -> str:
    return reverse(f"admin:{model.replace('.', '_')}_changelist")


def _may(request: HttpRequest, model: str) -> bool:
    pages = _pages()
    return model in pages and pages[model].has_module_permission(request)


def _pages() -> dict[str, Any]:
    return {each._meta.label_lower: page for each, page in admin.site._registry.items()}


def stylesheet(request: HttpRequest) -> str:
    return static("shops/admin.css")


def script(request: HttpRequest) -> str:
    return static("shops/admin.js")


def account_links(request: HttpRequest) -> list[dict[str, str]]:
    """The links in the signed-in user's menu."""
    return [{"title": "Security", "link": reverse("admin:security")}]
