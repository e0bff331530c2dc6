from django.urls import path

from storefront.kit import converters  # noqa: F401, has the number of a path
from storefront.website import (
    account_entry,
    account_pages,
    basket_pages,
    block_pages,
    content_pages,
    door,
    looks,
    pages,
    permalinks,
    script_reports,
    search_engines,
    search_pages,
    stock_alert_pages,
    versions,
)

app_name = "website"

# On both hosts.
looks_page = path("looks/<str:chosen>.css", looks.colours_page, name="colours")
language_page = path("language/decline", versions.decline_language, name="decline_language")
# On the shop's own host, where apps' scripts run. Its pages have no field for an email address, a password, a telephone
# number or free text: what a shopper types is theirs.
open_pages = [
    path("", pages.home, name="home"),
    path("search/suggestions", search_pages.suggestions, name="suggestions"),
    path("products", pages.listing, name="listing"),
    path("products/<str:slug>", pages.product, name="product"),
    path("products/<str:slug>/blocks", block_pages.product_blocks, name="product_blocks"),
    path("categories/<str:slug>", pages.category, name="category"),
    path("pages/<str:slug>", content_pages.page, name="page"),
    looks_page,
    language_page,
    path("buy", permalinks.buy, name="buy"),
    path("buy/<str:items>", permalinks.buy, name="buy_items"),
    path("basket", basket_pages.basket, name="basket"),
    path("basket/add", basket_pages.add, name="basket_add"),
    path("basket/update", basket_pages.update, name="basket_update"),
    path("basket/discount-codes", basket_pages.discount_codes, name="basket_codes"),
    path("basket/delivery", basket_pages.delivery, name="basket_delivery"),
    path("blocked-scripts", script_reports.script_reports_page, name="script_reports"),
    path("robots.txt", search_engines.robots, name="robots"),
    path("sitemap.xml", search_engines.sitemap, name="sitemap"),
    path("sitemap-<number:number>.xml", search_engines.sitemap_part, name="sitemap_part"),
]
# On the secure host.
secure_pages = [
    looks_page,
    language_page,
    path("door", door.door, name="door"),
    path("contact", content_pages.contact, name="contact"),
    path("basket/texts", basket_pages.texts, name="texts"),
    path("stock-alerts", stock_alert_pages.ask, name="stock_alert"),
    path("stock-alerts/confirm", stock_alert_pages.confirm, name="confirm_stock_alert"),
    path("stock-alerts/stop", stock_alert_pages.stop, name="stop_stock_alerts"),
    path("account", account_pages.account, name="account"),
    path("account/sign-in", account_entry.sign_in_page, name="sign_in"),
    path("account/sign-out", account_entry.sign_out_page, name="sign_out"),
    path("account/register", account_entry.register, name="register"),
    path("account/forgot", account_entry.forgot, name="forgot"),
    path("account/mailed", account_entry.mailed, name="mailed"),
    path("account/link", account_entry.follow_link, name="account_link"),
    path("account/password", account_entry.choose_password, name="choose_password"),
    path("account/e-mail", account_entry.confirm_email, name="confirm_email"),
    path("account/details", account_pages.details, name="account_details"),
    path("account/details/e-mail", account_pages.change_email, name="change_email"),
    path("account/details/e-mail/pending", account_pages.pending_email, name="pending_email"),
    path("account/details/password", account_pages.change_password, name="change_password"),
    path("account/orders", account_pages.orders, name="account_orders"),
    path("account/orders/<number:number>", account_pages.order, name="account_order"),
    path(
        "account/payment-methods/<number:method_id>/delete",
        account_pages.forget_payment_method,
        name="forget_payment_method",
    ),
    path("account/addresses", account_pages.addresses, name="addresses"),
    path("account/addresses/new", account_pages.new_address, name="new_address"),
    path("account/addresses/<number:address_id>", account_pages.change_address, name="change_address"),
    path("account/addresses/<number:address_id>/delete", account_pages.delete_address, name="delete_address"),
    path("account/addresses/<number:address_id>/default", account_pages.prefer_address, name="prefer_address"),
]
urlpatterns = [*open_pages, *secure_pages]
