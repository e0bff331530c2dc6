"""The menu of the merchant's admin, and its topics: pages that belong together, with tabs between their lists. The
topics of the settings stand together on a page of their own, and those of apps behind one entry of the menu."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront.checkout import dashboard
from storefront.kit.text import Text
from storefront.staff.admin_base import OneRowAdmin

# The models of the menu's pages by group, the most used first. Titles and icons are those of the pages.
MENU = [
    (
        _lazy("Sales"),
        "orders.order customers.customer payments.payment documents.document gift_cards.giftcard carts.cart",
    ),
    (_lazy("Catalogue"), "catalogue.product catalogue.category catalogue.stockadjustment catalogue.productimport"),
    (_lazy("Shop"), "pricing.discount content.looks content.page"),
]


@dataclass(frozen=True)
class Topic:
    """Pages that belong together, by their models; `text` is their purpose in a sentence."""

    title: Text
    icon: str
    text: Text
    models: str


APPS = Topic(
    _lazy("Apps"),
    "extension",
    _lazy("What apps may do, what they add to the shop, and which events they receive."),
    "apps.installation apps.extension apps.scripttag apps.allowedscripthost apps.blockedscript webhooks.registration "
    "webhooks.delivery webhooks.event apps.app",
)
SETTINGS = (
    Topic(
        _lazy("Shop"), "storefront", _lazy("Name, address, currency, language and how orders are placed."), "shops.shop"
    ),
    Topic(
        _lazy("Domains"),
        "language",
        _lazy("Which address the shop has, and which others lead to it."),
        "shops.shopdomain",
    ),
    Topic(_lazy("Payment"), "credit_card", _lazy("Who takes the money."), "payments.provideraccount"),
    Topic(
        _lazy("Delivery"),
        "local_shipping",
        _lazy("Where the shop delivers to, what that costs, and where orders can be collected."),
        "pricing.shippingrate pricing.deliveryzone pricing.pickupplace catalogue.shippingorigin",
    ),
    Topic(
        _lazy("Taxes"),
        "account_balance",
        _lazy("Which tax applies where, and how prices show it."),
        "pricing.taxsettings pricing.taxrate catalogue.taxclass",
    ),
    Topic(
        _lazy("Redirects"),
        "alt_route",
        _lazy("Where old addresses lead, and which missing pages visitors ask for."),
        "content.redirect content.missingpath",
    ),
    Topic(_lazy("Emails"), "mail", _lazy("What the shop's emails say, and who sends them."), "content.mailtext"),
    Topic(_lazy("Invoices"), "description", _lazy("What is printed on invoices."), "documents.invoicesettings"),
    Topic(
        _lazy("Brands, vendors and groups"),
        "label",
        _lazy("What products and customers can be sorted into."),
        "catalogue.brand catalogue.vendor customers.customergroup",
    ),
    Topic(
        _lazy("Staff"),
        "badge",
        _lazy("Who works in this shop, and what each of them may do."),
        "shops.staffmember shops.staffinvitation",
    ),
    Topic(
        _lazy("Programs"),
        "key",
        _lazy("Keys for programs that read the shop, and sites that may call it."),
        "shops.apitoken shops.allowedorigin",
    ),
    Topic(
        _lazy("Data"),
        "folder_shared",
        _lazy("Export or erase what the shop has about a person."),
        "privacy.datarequest",
    ),
    Topic(_lazy("Audit log"), "policy", _lazy("Who changed what, and when."), "shops.auditentry"),
)


# The operator's page, of all shops.
OPERATORS = "deployment.deployedshop"

# What merchants make most often: the text of a link, the model, and which of its pages the link opens.
SHORTCUTS = [
    (_lazy("Add a product"), "catalogue.product", "add"),
    (_lazy("Import products"), "catalogue.productimport", "add"),
    (_lazy("Add a discount"), "pricing.discount", "add"),
    (_lazy("Add a shipping rate"), "pricing.shippingrate", "add"),
    (_lazy("Install an app"), "apps.installation", "changelist"),
]


def start_page(request: Any, context: dict[str, Any]) -> dict[str, Any]:
    """Add to the template context of the admin's start page what this user may see and do."""
    context = dashboard.show(request, context)
    pages = _pages()
    context["shortcuts"] = [
        (text, reverse(f"admin:{model.replace('.', '_')}_{page}"))
        for text, model, page in SHORTCUTS
        if (pages[model].has_add_permission if page == "add" else pages[model].has_module_permission)(request)
    ]
    return context


def menu(request: HttpRequest) -> list[dict[str, Any]]:
    """The menu's groups, with the entries that this user may open."""
    start = {"title": _("Home"), "icon": "home", "link": reverse("admin:index")}
    groups = [
        {"title": title, "items": [_link_to(page) | {"icon": page.icon} for page in _open_to(request, models)]}
        for title, models in MENU
    ]
    end = [
        *(_link_to(page) | {"icon": page.icon} for page in _open_to(request, OPERATORS)),
        _entry_of_topics(_("Apps"), APPS.icon, [APPS], request),
        _entry_of_topics(_("Settings"), "settings", SETTINGS, request),
    ]
    groups.append({"title": "", "items": [entry for entry in end if entry]})
    return [{"items": [start]}, *(group | {"separator": True} for group in groups if group["items"])]


def tabs(request: HttpRequest) -> list[dict[str, Any]]:
    """The topics with the pages that this user may open, as the theme makes tabs of them. `is_setting` marks those that
    the page of settings shows."""
    topics = [_tabs_of(topic, request) | {"is_setting": topic is not APPS} for topic in (APPS, *SETTINGS)]
    return [topic for topic in topics if topic["items"]]


def _tabs_of(topic: Topic, request: HttpRequest) -> dict[str, Any]:
    items = [
        _link_to(page) | {"active": request.path.startswith(_link_to(page)["link"]), "has_permission": True}
        for page in _open_to(request, topic.models)
    ]
    # The theme knows models with tabs above the list by name, and those with tabs above the form by this.
    pages = _pages()
    models = [
        {"name": model, "detail": True} if isinstance(pages[model], OneRowAdmin) else model
        for model in topic.models.split()
    ]
    shown = {"title": topic.title, "icon": topic.icon, "text": topic.text, "items": items}
    return shown | {"models": models if len(items) > 1 else []}


def _entry_of_topics(title: Text, icon: str, topics: Iterable[Topic], request: HttpRequest) -> dict[str, Any]:
    """One entry for all pages of these topics; empty if the user may open none."""
    links = [_link_to(page)["link"] for topic in topics for page in _open_to(request, topic.models)]
    if not links:
        return {}
    link = links[0] if title == APPS.title else reverse("admin:settings")
    is_here = request.path == link or any(request.path.startswith(each) for each in links)
    return {"title": title, "icon": icon, "link": link, "active": lambda _request: is_here}


def _open_to(request: HttpRequest, models: str) -> list[Any]:
    """The pages of these models that the user may open."""
    pages = _pages()
    return [pages[model] for model in models.split() if pages[model].has_module_permission(request)]


def _link_to(page: Any) -> dict[str, Any]:
    link = reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_changelist")
    return {"title": page.menu_title or capfirst(str(page.opts.verbose_name_plural)), "link": link}


def _pages() -> dict[str, Any]:
    return {each._meta.label_lower: page for each, page in admin.site._registry.items()}


def stylesheet(request: HttpRequest) -> str:
    return static("shops/admin.css")


def script(request: HttpRequest) -> str:
    return static("shops/admin.js")


def account_links(request: HttpRequest) -> list[dict[str, Text]]:
    """The links in the signed-in user's menu."""
    return [{"title": _("Security"), "link": reverse("admin:security")}]
