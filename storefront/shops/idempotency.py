"""`Idempotency-Key`: a POST sent twice is carried out once (decisions: Idempotency and concurrency).

A key is claimed by inserting its row. The handler then runs in the transaction that also stores its answer, so that
a crash leaves either both or neither: the claim goes stale and whoever comes next runs the handler for the first
time. An attempt that was only slow finds its claim gone when it wants to store, and is rolled back.
"""

import hashlib
import re
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpResponse

from storefront.kit import sealing
from storefront.kit.http import JSON, refusal_response
from storefront.kit.refusals import InvalidFields, Refusal
from storefront.shops.models import IdempotentAnswer
from storefront.shops.request import Request

KEPT_FOR = timedelta(hours=24)
# No request takes this long; whoever held such a claim was killed.
STALE_AFTER = timedelta(seconds=60)

_PURPOSE = "idempotent-answer"
_KEY = re.compile(r"[^\x00-\x1f\x7f]{1,255}\Z")

Handler = Callable[..., HttpResponse]


class InFlight(Refusal):
    status, code = 409, "idempotency_in_flight"
    message = "The first request with this Idempotency-Key is still being carried out."


class Mismatch(Refusal):
    code, message = "idempotency_mismatch", "This Idempotency-Key was used for a different request."
    field = "Idempotency-Key"


class AnswerUnreadable(Refusal):
    """SECRET_KEY was replaced without keeping the old one: carrying the request out again could do it twice."""

    status, code = 409, "idempotency_unreadable"
    message = "The first answer to this Idempotency-Key can no longer be read. Look at what it did, then use a new key."


def idempotent(handler: Handler) -> Handler:
    """Honours `Idempotency-Key` on a POST; runs behind authentication and validation."""

    @wraps(handler)
    def once(request: Request, *args: Any, **given: Any) -> HttpResponse:
        key = request.META.get("HTTP_IDEMPOTENCY_KEY")
        if key is None or request.method != "POST":
            return handler(request, *args, **given)
        if not _KEY.match(key):
            raise InvalidFields(errors={"Idempotency-Key": ["Idempotency-Key must have 1 to 255 characters."]})
        claim = uuid.uuid4()
        row = _claimed(request, key, claim)
        if row.claim != claim:
            return _replayed(row)
        return _carried_out(lambda: handler(request, *args, **given), _held(row, claim))

    return once


def delete_expired_answers(*, now: datetime, limit: int = 1000) -> int:
    """Forget answers that were kept long enough, at most `limit` of them; how many."""
    expired = IdempotentAnswer.objects.filter(expires_at__lte=now).order_by("expires_at").values("pk")[:limit]
    return IdempotentAnswer.objects.filter(pk__in=list(expired.values_list("pk", flat=True))).delete()[0]


def _claimed(request: Request, key: str, claim: uuid.UUID) -> IdempotentAnswer:
    """The key's row: ours if its claim is, else one that holds an answer. Raises Mismatch, InFlight."""
    now, mine = request.now, _attempt(request, claim)
    identity = {"shop": request.shop, "caller": request.caller.counted_as, "key": key}
    IdempotentAnswer.objects.bulk_create([IdempotentAnswer(**identity, **mine)], ignore_conflicts=True)
    row = IdempotentAnswer.objects.filter(**identity).first()
    if row is None:
        # Swept, or given up by its holder, between the two statements.
        raise InFlight
    if row.claim == claim:
        return row
    if row.expires_at > now:
        if row.request_digest != mine["request_digest"]:
            raise Mismatch
        if row.status is not None:
            return row
    abandoned = Q(expires_at__lte=now) | Q(status=None, claimed_at__lte=now - STALE_AFTER)
    if not _held(row, row.claim).filter(abandoned).update(**mine):
        raise InFlight
    row.claim = claim
    return row


def _attempt(request: Request, claim: uuid.UUID) -> dict[str, Any]:
    parts = (request.method, request.path, request.META.get("HTTP_X_CART_TOKEN", ""))
    digest = hashlib.sha256("\n".join(map(str, parts)).encode() + b"\n" + request.body)
    return {
        "request_digest": digest.hexdigest(),
        "claim": claim,
        "claimed_at": request.now,
        "status": None,
        "body": None,
        "expires_at": request.now + KEPT_FOR,
    }


def _held(row: IdempotentAnswer, claim: uuid.UUID) -> QuerySet[IdempotentAnswer]:
    """The row as long as this attempt holds it."""
    return IdempotentAnswer.objects.filter(shop=row.shop_id, pk=row.pk, claim=claim)


def _carried_out(handle: Callable[[], HttpResponse], held: QuerySet[IdempotentAnswer]) -> HttpResponse:
    try:
        with transaction.atomic():
            response = handle()
            if _is_kept(response.status_code):
                _store(response, held)
                return response
            transaction.set_rollback(True)
    except Refusal as refusal:
        response = refusal_response(refusal)
        if not _is_kept(refusal.status):
            held.delete()
            raise
        _store(response, held)
        return response
    except BaseException:
        held.delete()
        raise
    held.delete()
    return response


def _is_kept(status: int) -> bool:
    """Whether the same request would get this answer again; what may pass by itself can be tried again."""
    return status < 500 and status not in (401, 409, 429)


def _store(response: HttpResponse, held: QuerySet[IdempotentAnswer]) -> None:
    """Keep the answer. Raises InFlight where another attempt took the claim over, which undoes what was done."""
    body = sealing.seal(response.content, purpose=_PURPOSE)
    if not held.update(status=response.status_code, body=body):
        raise InFlight


def _replayed(row: IdempotentAnswer) -> HttpResponse:
    try:
        body = sealing.unseal(bytes(row.body or b""), purpose=_PURPOSE)
    except sealing.Unsealable:
        raise AnswerUnreadable from None
    assert row.status is not None
    return HttpResponse(body, status=row.status, content_type=JSON, headers={"Idempotent-Replayed": "true"})
