"""A shop's accounts with its providers: what the merchant filled in, with the secrets sealed."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import orjson
import structlog
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.kit import sealing
from storefront.kit.refusals import Refusal
from storefront.payments.models import Payment, ProviderAccount, ReplacedSettings, SavedMethod
from storefront.payments.providers.base import Charge, Provider, ProviderUnavailable
from storefront.payments.providers.registry import PROVIDERS
from storefront.pods.moves import NOT_MOVING
from storefront.shops.models import Shop
from storefront.shops.places import page_address

PURPOSE = "payments.account"
# How long replaced settings can be restored.
UNDO_FOR = timedelta(hours=24)

log = structlog.get_logger(__name__)


def available_providers(shop: Shop) -> dict[str, Provider]:
    """The payment methods that the shop can choose, by name."""
    return {
        name: provider
        for name, provider in PROVIDERS.items()
        if provider.is_chosen and (shop.is_demo or not provider.is_for_demos)
    }


def offered_providers(shop: Shop) -> list[Provider]:
    """The shop's payment methods, in its order: those that need no account, or have one."""
    available = available_providers(shop)
    chosen = [available[name] for name in shop.payment_methods if name in available]
    if not any(provider.settings_form for provider in chosen):
        return chosen
    saved = ProviderAccount.objects.filter(shop=shop, sealed__isnull=False)
    filled_in = set(saved.values_list("provider", flat=True))
    return [provider for provider in chosen if provider.settings_form is None or provider.name in filled_in]


def settings_of(shop: Shop, name: str) -> dict[str, str]:
    """The settings of the shop's account, secrets opened; empty without an account."""
    account = ProviderAccount.objects.filter(shop=shop, provider=name).first()
    if account is None:
        return {}
    secrets = orjson.loads(sealing.unseal(bytes(account.sealed), purpose=PURPOSE)) if account.sealed else {}
    return account.values | secrets


class NothingToUndo(Refusal):
    code, message = "nothing_to_undo", _lazy("There are no earlier settings of the last 24 hours.")


@transaction.atomic
def save_settings(*, shop: Shop, provider: Provider, given: Mapping[str, Any], now: datetime) -> ProviderAccount:
    """Save what the merchant filled in. A secret that was left empty stays as it was."""
    before = settings_of(shop, provider.name)
    secrets = {name: given.get(name) or before.get(name, "") for name in provider.secrets}
    values = {name: value for name, value in given.items() if name not in provider.secrets}
    changed = sorted(name for name, value in (values | secrets).items() if value != before.get(name))
    columns: dict[str, Any] = {"values": values}
    if changed:
        columns["checked_at"] = None
        keep_replaced(shop=shop, name=provider.name, now=now, renew=not provider.secrets.isdisjoint(changed))
    if not provider.secrets.isdisjoint(changed):
        # Sealed again, even the same would differ.
        columns["sealed"] = sealing.seal(orjson.dumps(secrets), purpose=PURPOSE)
        if before:
            # The new keys may belong to another account.
            columns["account_reference"] = ""
    account, _unused = ProviderAccount.objects.update_or_create(shop=shop, provider=provider.name, defaults=columns)
    if changed:
        # The names of what changed: values may be secret.
        audit.record(shop=shop, action="provider_account.updated", object=account, after={"changed": changed}, now=now)
    return account


def keep_replaced(*, shop: Shop, name: str, now: datetime, renew: bool = True) -> None:
    """Keep the account's settings before they are changed or deleted. Settings that are kept already stay, so that
    changing them twice does not lose those that the shop had; with `renew`, as for new secrets, their day begins again.
    """
    account = ProviderAccount.objects.select_for_update().filter(shop=shop, provider=name, sealed__isnull=False).first()
    kept = ReplacedSettings.objects.filter(shop=shop, provider=name)
    kept.filter(replaced_at__lte=now - UNDO_FOR).delete()
    if kept.exists():
        if renew:
            kept.update(replaced_at=now)
    elif account is not None:
        same = {"values": account.values, "sealed": account.sealed, "account_reference": account.account_reference}
        ReplacedSettings.objects.create(shop=shop, provider=name, replaced_at=now, **same)


def can_undo(*, shop: Shop, name: str, now: datetime) -> bool:
    """Returns True if there are settings to restore."""
    return ReplacedSettings.objects.filter(shop=shop, provider=name, replaced_at__gt=now - UNDO_FOR).exists()


@transaction.atomic
def restore_settings(*, shop: Shop, account: ProviderAccount, now: datetime) -> None:
    """Put the earlier settings in force again. Those that they replace are not kept. Raises NothingToUndo."""
    kept = ReplacedSettings.objects.select_for_update().filter(
        shop=shop, provider=account.provider, replaced_at__gt=now - UNDO_FOR
    )
    row = kept.first()
    if row is None:
        raise NothingToUndo
    same = {"values": row.values, "sealed": row.sealed, "account_reference": row.account_reference, "checked_at": None}
    ProviderAccount.objects.filter(shop=shop, pk=account.pk).update(**same)
    row.delete()
    audit.record(shop=shop, action="provider_account.restored", object=account, now=now)


def delete_replaced(*, now: datetime, limit: int) -> int:
    """Delete settings that can no longer be restored. Returns how many."""
    over = ReplacedSettings.objects.filter(NOT_MOVING, replaced_at__lte=now - UNDO_FOR).order_by("replaced_at")
    return ReplacedSettings.objects.filter(pk__in=list(over.values_list("pk", flat=True)[:limit])).delete()[0]


def check_connection(*, shop: Shop, account: ProviderAccount, now: datetime) -> list[str]:
    """Check the account's settings by asking the provider. Returns the problem in words; empty if there is none."""
    try:
        wrong = PROVIDERS[account.provider].check(settings_of(shop, account.provider))
        if not wrong:
            identify_account(shop=shop, name=account.provider)
    except Exception as error:
        # Not all that comes back is an answer. The message may quote what was sent.
        log.warning("connection_not_checked", provider=account.provider, reason=type(error).__name__)
        return [_("The provider did not answer. Please try again in a few minutes.")]
    if not wrong:
        ProviderAccount.objects.filter(shop=shop, pk=account.pk).update(checked_at=now)
        audit.record(shop=shop, action="provider_account.checked", object=account, now=now)
    return wrong


def identify_account(*, shop: Shop, name: str) -> str:
    """The provider's id of the shop's account, asked for if it is not known; empty if no methods are saved with this
    provider. Call it outside any transaction. Raises ProviderUnavailable or ProviderRefused."""
    provider, account = PROVIDERS[name], ProviderAccount.objects.filter(shop=shop, provider=name).first()
    if account is None or not provider.can_save:
        return ""
    if account.account_reference:
        return account.account_reference
    found = provider.account(settings_of(shop, name))
    with transaction.atomic():
        # Unless the secrets were changed meanwhile: then it may be another account's.
        same = ProviderAccount.objects.filter(shop=shop, pk=account.pk, sealed=account.sealed)
        if not same.update(account_reference=found):
            raise ProviderUnavailable(_("The settings were changed."))
        if account.account_reference is None:
            SavedMethod.objects.filter(shop=shop, provider=name, account_reference="").update(account_reference=found)
    return found


def charge_of(shop: Shop, payment: Payment, *, given: Mapping[str, Any] | None = None) -> Charge:
    """The payment in the form in which providers get it."""
    draft = payment.draft
    language = draft.sale.get("language", "") if draft else ""
    return Charge(
        shop_id=shop.pk,
        key=payment.key,
        amount=payment.amount,
        currency=payment.currency,
        settings=settings_of(shop, payment.gateway),
        reference=payment.reference,
        refunded=payment.refunded,
        return_url=page_address("checkout:payment_return", payment.public_id, shop=shop, language=language),
        description=shop.name,
        email=draft.email if draft else "",
        is_held=payment.is_held,
        given=given or {},
        customer_reference=payment.customer_reference,
        method_reference=payment.method_reference,
        saves_method=payment.saves_method,
    )
