"""The payment providers. A new one is a file beside this one, and a row here."""

from storefront.payments.providers.base import Provider
from storefront.payments.providers.demo import Demo
from storefront.payments.providers.gift_card import GiftCards
from storefront.payments.providers.manual import Manual
from storefront.payments.providers.stripe import Stripe

PROVIDERS: dict[str, Provider] = {provider.name: provider for provider in (Manual(), Demo(), Stripe(), GiftCards())}
