from django.apps import AppConfig

from storefront.kit.triggers import register_triggers
from storefront.shops.audit_triggers import TRIGGERS


class ShopsConfig(AppConfig):
    name = "storefront.shops"

    def ready(self) -> None:
        register_triggers(self, TRIGGERS)
