"""The menu of the merchant's admin."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse

# (title, icon, model) by group, the most used first.
MENU: list[tuple[str, list[tuple[str, str, str]]]] = [
    (
        "Sales",
        [
            ("Orders", "receipt_long", "orders.order"),
            ("Payments", "payments", "payments.payment"),
            ("Carts", "shopping_cart", "carts.cart"),
            ("Customers", "group", "customers.customer"),
            ("Customer groups", "groups", "customers.customergroup"),
        ],
    ),
    (
        "Catalogue",
        [
            ("Products", "sell", "catalogue.product"),
            ("Categories", "account_tree", "catalogue.category"),
            ("Stock adjustments", "inventory_2", "catalogue.stockadjustment"),
            ("Import and export", "upload_file", "catalogue.productimport"),
            ("Brands", "verified", "catalogue.brand"),
            ("Vendors", "local_shipping", "catalogue.vendor"),
        ],
    ),
    (
        "Prices and delivery",
        [
            ("Discounts", "percent", "pricing.discount"),
            ("Tax rates", "account_balance", "pricing.taxrate"),
            ("Tax classes", "category", "catalogue.taxclass"),
            ("Shipping rates", "package_2", "pricing.shippingrate"),
            ("Shipping origins", "warehouse", "catalogue.shippingorigin"),
        ],
    ),
    (
        "Apps",
        [
            ("Installed apps", "extension", "apps.installation"),
            ("App blocks", "widgets", "apps.extension"),
            ("App scripts", "code", "apps.scripttag"),
            ("Allowed script hosts", "verified_user", "apps.allowedscripthost"),
            ("Blocked scripts", "gpp_bad", "apps.blockedscript"),
            ("Webhooks", "webhook", "webhooks.registration"),
            ("Deliveries", "outbox", "webhooks.delivery"),
            ("Events", "history", "webhooks.event"),
            ("All apps", "apps", "apps.app"),
        ],
    ),
    (
        "Settings",
        [
            ("Shop", "storefront", "shops.shop"),
            ("Payment providers", "credit_card", "payments.provideraccount"),
            ("Staff", "badge", "shops.staffmember"),
            ("Invitations", "mail", "shops.staffinvitation"),
            ("API tokens", "key", "shops.apitoken"),
            ("Allowed origins", "public", "shops.allowedorigin"),
            ("Audit log", "policy", "shops.auditentry"),
        ],
    ),
]


def menu(request: HttpRequest) -> list[dict[str, Any]]:
    """The menu's groups, with the entries that this user may open."""
    start = {"title": "Home", "icon": "home", "link": reverse("admin:index")}
    groups = [{"title": title, "items": _items(request, entries)} for title, entries in MENU]
    return [{"items": [start]}, *(group | {"separator": True} for group in groups if group["items"])]


def _items(request: HttpRequest, entries: list[tuple[str, str, str]]) -> list[dict[str, Any]]:
    pages = {model._meta.label_lower: page for model, page in admin.site._registry.items()}
    return [
        {"title": title, "icon": icon, "link": reverse(f"admin:{model.replace('.', '_')}_changelist")}
        for title, icon, model in entries
        if model in pages and pages[model].has_module_permission(request)
    ]


def stylesheet(request: HttpRequest) -> str:
    return static("shops/admin.css")


def script(request: HttpRequest) -> str:
    return static("shops/admin.js")


def account_links(request: HttpRequest) -> list[dict[str, str]]:
    """The links in the signed-in user's menu."""
    return [{"title": "Security", "link": reverse("admin:security")}]
