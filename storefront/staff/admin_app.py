from typing import Any

from django.apps import apps
from django.contrib.admin import autodiscover
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks


class MerchantAdminConfig(SimpleAdminConfig):
    """Django's admin, with `ShopAdminSite` in place of its default site.

    The admin's pages are imported where they are served or checked: commands and the worker, which have none, start in
    half the time.
    """

    default_site = "storefront.staff.admin_site.ShopAdminSite"

    def ready(self) -> None:
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(check_pages, checks.Tags.admin)
        from storefront.staff.model_names import translate_names

        translate_names(apps.get_models())


def check_pages(app_configs: Any, **_options: Any) -> list[checks.CheckMessage]:
    autodiscover()
    return check_admin_app(app_configs)
