"""Sweeps and tasks of the worker for payments. Each sweep is safe to run twice, and in two workers at once."""

from datetime import datetime, timedelta

import structlog
from django.db.models import Case, Exists, OuterRef, When
from django_tasks import task

from storefront.kit import clock
from storefront.payments.accounts import identify_account
from storefront.payments.asking import ask, claim
from storefront.payments.models import OrderDraft, Payment, ProviderAccount, Refund
from storefront.payments.placing import end_if_over
from storefront.payments.providers.base import ProviderUnavailable
from storefront.payments.providers.registry import PROVIDERS
from storefront.payments.refunds import carry_out_refund
from storefront.payments.rules import UNDECIDED, State, wait_before_look
from storefront.pods.moves import NOT_MOVING

# How long drafts are kept that have become an order, or ended.
KEPT_FOR = timedelta(days=14)
# How often a provider that does not answer is asked for its account: for two days.
MAX_TRIES = 50

log = structlog.get_logger(__name__)


def ask_providers(*, now: datetime, limit: int) -> int:
    """Make the calls that are due: look at payments without an outcome, capture or release money that is held, and then
    look at paid ones. Returns how many were answered."""
    is_paid = Case(When(state=State.PAID, then=1), default=0)
    due = Payment.objects.filter(NOT_MOVING, due_at__lte=now).order_by(is_paid, "due_at", "pk").select_related("shop")
    return sum(_ask(payment, now) for payment in due[:limit])


def end_expired_drafts(*, now: datetime, limit: int) -> int:
    """End the drafts whose time is over and whose payments have no outcome to wait for: those were cancelled by
    `ask_providers`, or took only part of the total, which goes back. Returns how many were ended."""
    expired = OrderDraft.objects.filter(NOT_MOVING, state=OrderDraft.State.OPEN, expires_at__lte=now).order_by(
        "expires_at", "pk"
    )
    undecided = Payment.objects.filter(draft=OuterRef("pk"), state__in=UNDECIDED, alert="")
    over = list(expired.exclude(Exists(undecided)).select_related("shop")[:limit])
    for draft in over:
        end_if_over(shop=draft.shop, draft=draft, now=now)
    return len(over)


def delete_old_drafts(*, now: datetime, limit: int) -> int:
    """Delete up to `limit` drafts that were placed or ended `KEPT_FOR` ago: they have addresses, and the order has what
    is needed of them. Returns how many were deleted. Their payments stay."""
    over = OrderDraft.objects.exclude(state=OrderDraft.State.OPEN).filter(NOT_MOVING, created_at__lt=now - KEPT_FOR)
    ids = list(over.order_by("created_at").values_list("pk", flat=True)[:limit])
    OrderDraft.objects.filter(pk__in=ids).delete()
    return len(ids)


def pay_back_refunds(*, now: datetime, limit: int) -> int:
    """Have providers carry out the refunds that are due, including those of a worker that was killed. Returns how many
    have an answer. One that the provider has named is there: what becomes of it is asked with its payment."""
    unnamed = Refund.objects.filter(NOT_MOVING, status=Refund.Status.PENDING, reference="", due_at__lte=now)
    due = unnamed.select_related("shop", "order", "payment__draft").order_by("due_at", "pk")[:limit]
    return sum(carry_out_refund(shop=refund.shop, refund=refund, now=now) for refund in due)


@task
def find_account(shop_id: int, account_id: int, tries: int = 0) -> None:
    """Learn which account is behind a provider's changed secrets, so that the methods saved in it are offered again.
    Tried again after growing waits while the provider does not answer."""
    account = ProviderAccount.objects.select_related("shop").filter(shop=shop_id, pk=account_id).first()
    if account is None or account.provider not in PROVIDERS:
        return
    try:
        identify_account(shop=account.shop, name=account.provider)
    except ProviderUnavailable:
        if tries < MAX_TRIES:
            due = clock.now() + wait_before_look(tries)
            find_account.using(run_after=due).enqueue(shop_id, account_id, tries + 1)
    except Exception as error:
        # The secrets are usually wrong, as "Check the connection" shows. The message may quote them, so it is not
        # logged.
        log.warning("account_not_found", account=account_id, provider=account.provider, reason=type(error).__name__)


def _ask(payment: Payment, now: datetime) -> bool:
    # As it is now: while earlier ones were asked about, its order may have been cancelled.
    payment = Payment.objects.select_related("shop", "draft", "order").get(pk=payment.pk)
    if not claim(shop=payment.shop, payment=payment, now=now):
        return False
    return ask(shop=payment.shop, payment=payment, now=now) is not None
