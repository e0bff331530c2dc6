from django.apps import AppConfig

from storefront.kit.triggers import register_triggers


class DocumentsConfig(AppConfig):
    name = "storefront.documents"

    def ready(self) -> None:
        from storefront.documents.triggers import TRIGGERS

        register_triggers(self, TRIGGERS)
