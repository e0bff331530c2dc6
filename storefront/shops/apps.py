from typing import Any

from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in

from storefront.kit.triggers import register_triggers
from storefront.pods import registry
from storefront.shops.audit_triggers import TRIGGERS


class ShopsConfig(AppConfig):
    name = "storefront.shops"

    def ready(self) -> None:
        register_triggers(self, TRIGGERS)
        # In place of Django's own, which writes in every pod.
        user_logged_in.disconnect(dispatch_uid="update_last_login")
        user_logged_in.connect(_store_sign_in, dispatch_uid="storefront.last_sign_in")


def _store_sign_in(sender: Any, user: Any, **given: Any) -> None:
    """Store the time, which ends mailed links for a new password, where accounts are written."""
    if registry.is_written_here():
        from django.contrib.auth.models import update_last_login

        update_last_login(sender, user, **given)
