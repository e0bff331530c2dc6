"""The theme of the merchant's admin (setting UNFOLD). Functions are given by name, since settings are read before any
app is loaded. Colours are in `shops/static/shops/admin.css`."""

from typing import Any

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Storefront",
    "SITE_HEADER": "storefront.staff.admin_site.shop_name",
    "SITE_SUBHEADER": "storefront.staff.admin_site.shop_domain",
    "SITE_URL": "storefront.staff.admin_site.shop_url",
    "SITE_DROPDOWN": "storefront.staff.admin_site.shop_switcher",
    "SITE_SYMBOL": "storefront",
    "SHOW_HISTORY": True,
    "SHOW_BACK_BUTTON": True,
    "DASHBOARD_CALLBACK": "storefront.server.admin_menu.start_page",
    "STYLES": ["storefront.server.admin_menu.stylesheet"],
    "TABS": "storefront.server.admin_menu.tabs",
    "SIDEBAR": {"show_search": True, "navigation": "storefront.server.admin_menu.menu"},
    "SCRIPTS": ["storefront.server.admin_menu.script"],
    "ACCOUNT": {"navigation": "storefront.server.admin_menu.account_links"},
}
