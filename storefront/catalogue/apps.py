from django.apps import AppConfig

from storefront.kit.triggers import register_triggers


class CatalogueConfig(AppConfig):
    name = "storefront.catalogue"

    def ready(self) -> None:
        from storefront.catalogue.triggers import TRIGGERS

        register_triggers(self, TRIGGERS)
