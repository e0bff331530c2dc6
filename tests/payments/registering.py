from django.apps import AppConfig


class Registering(AppConfig):
    name, label = "tests.payments", "tests_payments"

    def ready(self) -> None:
        from storefront.payments.providers.registry import PROVIDERS
        from tests.payments.provider import BankRedirect

        PROVIDERS["bank"] = BankRedirect()
