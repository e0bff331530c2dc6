from django.contrib.admin.apps import AdminConfig


class MerchantAdminConfig(AdminConfig):
    """Puts `ShopAdminSite` in the place of Django's own admin site."""

    default_site = "storefront.shops.admin_site.ShopAdminSite"
