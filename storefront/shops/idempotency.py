"""`Idempotency-Key`: a write sent twice is carried out once (R-CALL-21 to R-CALL-26).

A request claims a key by inserting its row. The handler then runs in the transaction that also stores the response, so
that a crash leaves either both or neither. While it runs, its process renews the claim (`claims.py`); after a crash the
claim goes stale within seconds, and the next request runs the handler. A request whose claim was taken over
nevertheless notices that when it stores its response, and is rolled back. A refused request releases its claim: nothing
was carried out, and a corrected request may use the key.

A replay needs the scopes that the call needs now. Authentication, which runs before, checks those of the endpoint. A
response that shows a record only to callers with a read scope is stored with that scope; a replay without the scope
shows only the record's id.
"""

import hashlib
import math
import re
import uuid
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from functools import wraps
from typing import Any

import orjson
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.http import HttpResponse

from storefront.kit import sealing
from storefront.kit.api.http import JSON
from storefront.kit.refusals import InvalidFields, Refusal, TryLater
from storefront.pods.moves import NOT_MOVING
from storefront.shops import claims
from storefront.shops.models import IdempotentAnswer
from storefront.shops.request import Request, id_only

KEPT_FOR = timedelta(hours=24)

METHODS = ("POST", "PUT", "PATCH", "DELETE")
PURPOSE = "idempotent-answer"
_KEY = re.compile(r"[^\x00-\x1f\x7f]{1,255}\Z")

Handler = Callable[..., HttpResponse]


class InFlight(TryLater):
    """`retry_after`: seconds after which it is known whether the request's process still lives."""

    status, code = 409, "idempotency_in_flight"
    message = "The first request with this Idempotency-Key is still in progress."


class Mismatch(Refusal):
    code, message = "idempotency_mismatch", "This Idempotency-Key was used for a different request."
    field = "Idempotency-Key"


class AnswerUnreadable(Refusal):
    """SECRET_KEY was replaced without a fallback. Running the request again could carry it out twice."""

    status, code = 409, "idempotency_unreadable"
    message = "The first response to this Idempotency-Key can no longer be read. Use a new key."


def idempotent(handler: Handler) -> Handler:
    """Decorator of API handlers that honours `Idempotency-Key` on writes. Authentication and validation run before."""

    @wraps(handler)
    def once(request: Request, *args: Any, **given: Any) -> HttpResponse:
        key = request.META.get("HTTP_IDEMPOTENCY_KEY")
        if key is None or request.method not in METHODS:
            return handler(request, *args, **given)
        if not _KEY.match(key):
            raise InvalidFields(errors={"Idempotency-Key": ["Idempotency-Key must have 1 to 255 characters."]})
        claim = uuid.uuid4()
        row = _claim_key(request, key, claim)
        if row.claim != claim:
            return _replay(row, request.caller.scopes)
        with claims.held(row.pk, claim):
            return _run_once(request, lambda: handler(request, *args, **given), _claimed_row(row, claim))

    return once


def delete_expired_answers(*, now: datetime, limit: int = 1000) -> int:
    """Delete at most `limit` expired responses; returns the number."""
    expired = (
        IdempotentAnswer.objects.filter(NOT_MOVING, expires_at__lte=now).order_by("expires_at").values("pk")[:limit]
    )
    return IdempotentAnswer.objects.filter(pk__in=list(expired.values_list("pk", flat=True))).delete()[0]


def _claim_key(request: Request, key: str, claim: uuid.UUID) -> IdempotentAnswer:
    """Claim the key; returns its row. If the row has another claim, it has the stored response. Raises Mismatch and
    InFlight."""
    now, mine = request.now, _claim_columns(request, claim)
    identity = {"shop": request.shop, "caller": request.caller.counted_as, "key": key}
    IdempotentAnswer.objects.bulk_create([IdempotentAnswer(**identity, **mine)], ignore_conflicts=True)
    row = IdempotentAnswer.objects.filter(**identity).first()
    if row is None:
        # Deleted between the two statements, by a sweep or by the request that held it.
        raise InFlight
    if row.claim == claim:
        return row
    if row.expires_at > now:
        if row.request_digest != mine["request_digest"]:
            raise Mismatch
        if row.status is not None:
            return row
    abandoned = Q(expires_at__lte=now) | Q(status=None, claimed_at__lte=now - claims.LEASE)
    if not _claimed_row(row, row.claim).filter(abandoned).update(**mine):
        left = min(row.claimed_at - now, timedelta()) + claims.LEASE
        raise InFlight(max(math.ceil(left.total_seconds()), 1))
    row.claim = claim
    return row


def _claim_columns(request: Request, claim: uuid.UUID) -> dict[str, Any]:
    query = request.META.get("QUERY_STRING")
    path = f"{request.path}?{query}" if query else request.path
    parts = (request.method, path, request.META.get("HTTP_X_CART_TOKEN", ""))
    digest = hashlib.sha256("\n".join(map(str, parts)).encode() + b"\n" + request.body)
    return {
        "request_digest": digest.hexdigest(),
        "claim": claim,
        "claimed_at": request.now,
        "status": None,
        "body": None,
        "expires_at": request.now + KEPT_FOR,
    }


def _claimed_row(row: IdempotentAnswer, claim: uuid.UUID) -> QuerySet[IdempotentAnswer]:
    """A queryset with the row, as long as the row has this claim."""
    return IdempotentAnswer.objects.filter(shop=row.shop_id, pk=row.pk, claim=claim)


def _run_once(
    request: Request, handle: Callable[[], HttpResponse], claimed_row: QuerySet[IdempotentAnswer]
) -> HttpResponse:
    try:
        try:
            response = _carry_out(request, handle, claimed_row)
        except IntegrityError:
            # A row that the response refers to was deleted before the commit. The handler runs again, and refuses that.
            response = _carry_out(request, handle, claimed_row)
    except BaseException:
        claimed_row.delete()
        raise
    if response.status_code >= 300:
        claimed_row.delete()
    return response


@transaction.atomic
def _carry_out(
    request: Request, handle: Callable[[], HttpResponse], claimed_row: QuerySet[IdempotentAnswer]
) -> HttpResponse:
    """Run the handler and store its response, in one transaction. A refusal stores nothing and is rolled back."""
    response = handle()
    if response.status_code < 300:
        _store(response, claimed_row, read_scope=getattr(request, "read_scope", ""))
    else:
        transaction.set_rollback(True)
    return response


def _store(response: HttpResponse, claimed_row: QuerySet[IdempotentAnswer], *, read_scope: str) -> None:
    """Store the response: a line with the read scope that it needs, its ETag and its language, as far as there are any,
    then the body. Raises InFlight if another request has taken the claim over, which rolls back this one."""
    line = " ".join([read_scope, response.get("ETag", ""), response.get("Content-Language", "")]).rstrip() + "\n"
    body = sealing.seal(line.encode() + response.content, purpose=PURPOSE)
    if not claimed_row.update(status=response.status_code, body=body):
        raise InFlight


def _replay(row: IdempotentAnswer, scopes: Collection[str]) -> HttpResponse:
    try:
        kept = sealing.unseal(bytes(row.body or b""), purpose=PURPOSE)
    except sealing.Unsealable:
        raise AnswerUnreadable from None
    line, _, body = kept.partition(b"\n")
    read_scope, etag, language = (*line.decode().split(" "), "", "")[:3]
    kept_headers = {"ETag": etag, "Content-Language": language}
    headers = {"Idempotent-Replayed": "true"} | {name: value for name, value in kept_headers.items() if value}
    if read_scope and read_scope not in scopes:
        body = orjson.dumps({name: id_only(record) for name, record in orjson.loads(body).items()})
        headers.pop("ETag", None)
    assert row.status is not None
    return HttpResponse(body, status=row.status, content_type=JSON, headers=headers)
