"""How the merchant's admin looks (setting UNFOLD). Names of functions, since settings are read before any app is."""

from typing import Any

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Storefront",
    "SITE_HEADER": "storefront.shops.admin_site.shop_name",
    "SITE_SUBHEADER": "storefront.shops.admin_site.shop_domain",
    "SITE_URL": "storefront.shops.admin_site.shop_url",
    "SITE_DROPDOWN": "storefront.shops.admin_site.shop_switcher",
    "SITE_SYMBOL": "storefront",
    "SHOW_HISTORY": True,
    "SHOW_BACK_BUTTON": True,
    "DASHBOARD_CALLBACK": "storefront.orders.dashboard.show",
    "STYLES": ["storefront.server.admin_menu.stylesheet"],
    "SIDEBAR": {"navigation": "storefront.server.admin_menu.menu"},
    "BORDER_RADIUS": "6px",
    "COLORS": {
        "primary": {
            "50": "oklch(97.5% .013 236.6)",
            "100": "oklch(94.6% .03 236.8)",
            "200": "oklch(90.1% .058 230.9)",
            "300": "oklch(82.8% .111 230.3)",
            "400": "oklch(74.6% .16 232.7)",
            "500": "oklch(62% .149 237.3)",
            "600": "oklch(52% .134 242.7)",
            "700": "oklch(46% .12 242.7)",
            "800": "oklch(41% .1 242)",
            "900": "oklch(36% .08 242)",
            "950": "oklch(27% .06 243)",
        },
    },
}
