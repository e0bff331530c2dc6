from django.apps import AppConfig

from storefront.kit.triggers import register_triggers


class SyncConfig(AppConfig):
    name = "storefront.sync"

    def ready(self) -> None:
        from storefront.sync.triggers import TRIGGERS

        register_triggers(self, TRIGGERS)
