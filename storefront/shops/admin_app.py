from django.contrib.admin.apps import AdminConfig


class MerchantAdminConfig(AdminConfig):
    """Replaces Django's default admin site by `ShopAdminSite`."""

    default_site = "storefront.shops.admin_site.ShopAdminSite"
