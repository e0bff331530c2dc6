"""Actions of staff and commands: opening a request about one person, exporting and erasing their data."""

from datetime import datetime
from functools import partial
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils.translation import gettext_lazy as _lazy

from storefront import audit
from storefront.customers.queries import normal_email
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.privacy import jobs
from storefront.privacy.erasing import erase
from storefront.privacy.models import DataRequest
from storefront.privacy.person import check_not_needed, find_person
from storefront.shops.models import Shop, User

State = DataRequest.State


class RequestAtWork(Refusal):
    code = "data_request_at_work"
    message = _lazy("The export or the erasure of this person is not finished yet. Please wait until it is.")


class PersonErased(Refusal):
    code = "person_erased"
    message = _lazy("This person was erased.")


@transaction.atomic
def open_request(*, shop: Shop, email: str, user: User | None = None, now: datetime) -> DataRequest:
    """Get or create the shop's request about the person with this address. Raises InvalidFields for an invalid
    address."""
    email = normal_email(email)
    try:
        validate_email(email)
        DataRequest._meta.get_field("email").run_validators(email)
    except ValidationError as error:
        raise InvalidFields(errors={"email": error.messages}) from None
    defaults = {"user": user, "created_at": now}
    row, created = DataRequest.objects.exclude(state=State.ERASED).get_or_create(
        shop=shop, email=email, defaults=defaults
    )
    if created:
        audit.record(shop=shop, action="data_request.created", object=row, after={"email": email}, now=now)
    return row


@transaction.atomic
def start_export(*, shop: Shop, request: DataRequest, now: datetime) -> DataRequest:
    """Have the worker write a file of the person's data, which replaces an earlier one. Raises RequestAtWork and
    PersonErased."""
    row = begin(shop, request, State.EXPORTING, now)
    transaction.on_commit(partial(jobs.run_export.enqueue, row.shop_id, row.pk))
    return row


@transaction.atomic
def start_erasure(*, shop: Shop, request: DataRequest, now: datetime) -> DataRequest:
    """Have the worker erase the person. Raises PersonNeeded while something needs their data, RequestAtWork and
    PersonErased."""
    row = begin(shop, request, State.ERASING, now)
    if row.plan is None:
        check_not_needed(find_person(shop, row.email))
    transaction.on_commit(partial(jobs.run_erasure.enqueue, row.shop_id, row.pk))
    return row


def erase_now(*, shop: Shop, email: str, now: datetime) -> DataRequest:
    """Erase the person here, without the worker. Raises what `start_erasure` raises, and ProviderUnavailable. After
    that, or an interruption, another call continues the erasure."""
    request = open_request(shop=shop, email=email, now=now)
    with transaction.atomic():
        row = begin(shop, request, State.ERASING, now)
        if row.plan is None:
            check_not_needed(find_person(shop, row.email))
    row.shop = shop
    try:
        erase(row, now=now, beat=jobs.heartbeat(row))
    except BaseException:
        jobs.stop(row, jobs.BROKE_ERASURE)
        raise
    return row


def begin(shop: Shop, request: DataRequest, state: str, now: datetime) -> DataRequest:
    """Lock the request and set its state. Of two calls at the same time, the second is refused."""
    row = DataRequest.objects.select_for_update(of=("self",)).get(shop=shop, pk=request.pk)
    if row.state == State.ERASED:
        raise PersonErased
    if row.is_at_work:
        raise RequestAtWork
    changed: dict[str, Any] = {"state": state, "begun_at": now, "heartbeat_at": now, "reason": "", "tries": 0}
    for name, value in changed.items():
        setattr(row, name, value)
    row.save(update_fields=list(changed))
    word = "exported" if state == State.EXPORTING else "erasure_started"
    audit.record(shop=shop, action=f"data_request.{word}", object=row, now=now)
    return row
