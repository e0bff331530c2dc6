"""Erases a person, step by step. docs/privacy.md lists what goes, what stays, and why.

The first step is one transaction: it makes sure that nothing needs the person's data any more, stores which rows are
theirs (`DataRequest.plan`), and deletes account, baskets and checkouts. From then on the person is a new customer:
later orders are not in the plan and are not erased. The other steps follow the plan, one order at a time. Every step is
safe to repeat, so the work can continue after an interruption, and two workers at once do no harm.
"""

import json
from collections.abc import Callable
from datetime import datetime
from functools import partial, reduce
from operator import or_
from typing import Any

from django.db import transaction
from django.db.models import Q
from django_tasks import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from storefront import audit
from storefront.audit.erasing import erase_person
from storefront.checkout.erasing import delete_baskets, lock_baskets
from storefront.customers.models import Customer
from storefront.documents.issuing import issue_documents
from storefront.documents.models import DueOrder
from storefront.gift_cards.erasing import erase_cards
from storefront.kit.refusals import NotFound
from storefront.orders.actions import lock_order
from storefront.orders.erasing import erase_order, erase_recipient, what_is_open
from storefront.orders.models import Order
from storefront.payments.erasing import delete_drafts, erase_payments, with_open_money
from storefront.payments.models import SavedMethod
from storefront.payments.providers.base import ProviderUnavailable
from storefront.payments.saved_methods import remove_method
from storefront.pricing.models import Redemption
from storefront.privacy.kinds import KINDS
from storefront.privacy.models import DataRequest
from storefront.privacy.person import Person, check_not_needed, find_person
from storefront.shops.models import Shop
from storefront.staff.saved_views import delete_views_naming
from storefront.stock_alerts.actions import stop_alerts
from storefront.webhooks.actions import record_event
from storefront.webhooks.erasing import erase_events

State = DataRequest.State
# After this many calls without an answer, a saved method is left to the merchant.
MAX_TRIES = 10
# Tasks that have a shop and an address as arguments.
_MAILING = ("storefront.customers.", "storefront.stock_alerts.", "storefront.content.")

Beat = Callable[[], None]


def erase(request: DataRequest, *, now: datetime, beat: Beat = lambda: None) -> None:
    """Carry out an erasure that was begun, or continue it.

    Raises PersonNeeded if something needs the person's data after all, and then nothing is erased; ProviderUnavailable
    if a payment provider does not answer, and then a later call continues the work.
    """
    shop = request.shop
    if request.plan is None:
        counts = _forget_methods(request)
        _close_account(request, counts, now)
    plan = request.plan
    if plan is None:
        # Another worker has finished it meanwhile.
        return
    for order_id in plan["orders"]:
        _erase_order(shop, order_id, plan, now)
        beat()
    _erase_rest(request, now)
    beat()
    _finish(request, now)


def _forget_methods(request: DataRequest) -> dict[str, int]:
    """Delete the saved payment methods at their providers. This makes calls, so it runs outside any transaction.
    Returns the number of rows of each kind."""
    person = find_person(request.shop, request.email)
    check_not_needed(person)
    counts = {kind.name: count for kind in KINDS if (count := kind.count(person)) is not None}
    customer = person.customer
    for method in person.saved_methods() if customer else ():
        try:
            remove_method(shop=request.shop, customer=customer, method_id=method.pk)  # type: ignore[arg-type]
        except NotFound:
            # Another worker, or the customer, has deleted it meanwhile.
            continue
        except ProviderUnavailable:
            if request.tries < MAX_TRIES:
                raise
    return counts


@transaction.atomic
def _close_account(request: DataRequest, counts: dict[str, int], now: datetime) -> None:
    shop, email = request.shop, request.email
    row = DataRequest.objects.select_for_update(of=("self",)).get(shop=shop, pk=request.pk)
    if row.plan is not None or row.state == State.ERASED:
        # Another worker has closed the account meanwhile.
        request.plan = row.plan
        return
    customer = Customer.objects.filter(shop=shop, email=email).first()
    checkouts, baskets = lock_baskets(shop, email, customer)
    # Locked after the baskets, as when an order is placed.
    customer = Customer.objects.select_for_update(of=("self",)).filter(shop=shop, email=email).first()
    person = find_person(shop, email)
    check_not_needed(person)
    request.plan = _plan(person, counts, now)
    delete_baskets(checkouts, baskets)
    stop_alerts(shop=shop, email=email)
    if customer is not None:
        customer.delete()
    Customer.objects.filter(shop=shop, pending_email=email).update(pending_email=None)
    DataRequest.objects.filter(pk=request.pk).update(plan=request.plan, file="", size=0)
    _delete_tasks(shop, email)
    _delete_file(row)


def _delete_file(row: DataRequest) -> None:
    """Delete the export that was made for this row, once the transaction ends."""
    if name := row.file.name:
        transaction.on_commit(partial(row.file.storage.delete, name), robust=True)


def _plan(person: Person, counts: dict[str, int], now: datetime) -> dict[str, Any]:
    """The plan: ids of the rows that are the person's now. Once the account is deleted, they could not be found any
    more."""
    left = SavedMethod.objects.filter(shop=person.shop, customer=person.customer) if person.customer else []
    return {
        "at": now.isoformat(),
        "customer": person.customer.pk if person.customer else None,
        "orders": list(person.order_ids),
        "drafts": list(person.drafts().values_list("pk", flat=True)),
        "cards": list(person.gift_cards().values_list("pk", flat=True)),
        "redemptions": list(person.redemptions().values_list("pk", flat=True)),
        "counts": counts,
        # The merchant has to delete these at the provider.
        "methods_left": [f"{each.provider} {each.customer_reference}" for each in left],
    }


def _erase_order(shop: Shop, order_id: int, plan: dict[str, Any], now: datetime) -> None:
    """Issue the invoices that the order lacks, then erase the person from it."""
    found = Order.objects.filter(shop=shop, pk=order_id)
    order = found.first()
    if order is not None and order.erased_at is None and DueOrder.objects.filter(shop=shop, order=order).exists():
        issue_documents(shop=shop, order=order, now=now)
    with transaction.atomic():
        if order is None or not found.exists():
            return
        order = lock_order(shop, order)
        if order.erased_at is not None:
            return
        if what_is_open(order) or with_open_money(found):
            # The order needs attention again, for example because a refund failed. It is not erased, but counted.
            return
        erase_payments(shop=shop, order=order)
        erase_order(shop=shop, order=order, now=now)


def _erase_rest(request: DataRequest, now: datetime) -> None:
    """Erase everything that does not belong to an order. Orders that could not be erased keep their cards' messages and
    their log."""
    shop, email, plan = request.shop, request.email, request.plan
    erased = _erased_orders(shop, plan)
    began = datetime.fromisoformat(plan["at"])
    with transaction.atomic():
        erase_recipient(shop=shop, lines=erase_cards(shop=shop, email=email, cards=plan["cards"], orders=erased))
        delete_drafts(shop=shop, drafts=plan["drafts"])
        Redemption.objects.filter(shop=shop, pk__in=plan["redemptions"]).update(email_digest="", customer=None)
        delete_views_naming(shop=shop, email=email)
    # Deletes tasks that were running when the others were deleted.
    _delete_tasks(shop, email, before=began)
    about: dict[str, Any] = {"shop": shop, "email": email, "orders": erased}
    with transaction.atomic():
        erase_events(customer_id=plan["customer"], before=began, **about)
    customers = [plan["customer"]] if plan["customer"] else []
    erase_person(customers=customers, now=now, **about)


def _erased_orders(shop: Shop, plan: dict[str, Any]) -> list[int]:
    found = Order.objects.filter(shop=shop, pk__in=plan["orders"], erased_at__isnull=False)
    return list(found.order_by("pk").values_list("pk", flat=True))


def _delete_tasks(shop: Shop, email: str, before: datetime | None = None) -> None:
    """Delete waiting mails and the results of sent ones, since their arguments contain the address."""
    # The address in JSON; SQLite's JSON is ASCII only.
    texts = {json.dumps(email), json.dumps(email, ensure_ascii=False)}
    named = reduce(or_, [Q(args_kwargs__icontains=text[1:-1]) for text in sorted(texts)])
    rows = DBTaskResult.objects.filter(named).exclude(status=TaskResultStatus.RUNNING)
    if before is not None:
        rows = rows.filter(enqueued_at__lt=before)
    found = [
        row.pk
        for row in rows
        if row.task_path.startswith(_MAILING)
        and row.args_kwargs["args"][:1] == [shop.pk]
        and email in [str(each).lower() for each in row.args_kwargs["args"]]
    ]
    DBTaskResult.objects.filter(pk__in=found).delete()


@transaction.atomic
def _finish(request: DataRequest, now: datetime) -> None:
    """Store what was erased, without the person, and notify apps, which have copies (R-HOOK-29)."""
    shop, plan = request.shop, request.plan
    orders = _erased_orders(shop, plan)
    kept = len(plan["orders"]) - len(orders)
    erased = plan["counts"] | {"orders": len(orders)} | ({"orders_left": kept} if kept else {})
    # Any state will do, since another worker may have given up meanwhile.
    row = DataRequest.objects.select_for_update(of=("self",)).filter(pk=request.pk).exclude(state=State.ERASED)
    # Deletes a file that was exported after the account was closed, while the erasure was interrupted.
    for late in row:
        _delete_file(late)
    reason = _left_to_do(kept, plan["methods_left"])
    done: dict[str, Any] = {"state": State.ERASED, "email": "", "plan": None, "file": "", "size": 0}
    done |= {"erased": erased, "erased_at": now, "reason": reason}
    if not row.update(**done):
        # Another worker has finished it.
        return
    request.refresh_from_db()
    counts = {name: count for name, count in erased.items() if count}
    audit.record(shop=shop, action="data_request.erased", object=request, after=counts, now=now)
    record_event(
        shop=shop,
        topic="customer.erased",
        data={"id": request.pk, "customer_id": plan["customer"], "order_ids": orders},
        now=now,
    )


def _left_to_do(kept: int, methods: list[str]) -> str:
    """Instructions for the merchant, of what could not be erased here; usually empty."""
    texts = []
    if kept:
        orders = "1 order" if kept == 1 else f"{kept} orders"
        texts.append(f"{orders} could not be erased, since something came up meanwhile. Look up the address again.")
    if methods:
        texts.append(f"The payment provider did not answer. Delete there yourself: {', '.join(methods)}.")
    return " ".join(texts)[:1000]
