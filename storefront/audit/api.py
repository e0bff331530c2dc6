"""The audit log for installed apps (R-APP-36)."""

from typing import Annotated, Any, Literal

from django.http import HttpResponse
from ninja import Field, Query, Router, Schema
from pydantic import AfterValidator, WithJsonSchema

from storefront.audit.known_actions import ACTIONS
from storefront.audit.queries import FILTERS, audit_page
from storefront.kit.api.app_pagination import PageQuery, Pagination, pagination
from storefront.kit.api.http import json_response
from storefront.kit.api.schemas import Moment, Timestamp, answers
from storefront.kit.ids import MAX_ID
from storefront.shops.auth import app_scope
from storefront.shops.request import Request

router = Router(tags=["App: Audit log"])


ActorKind = Literal["staff", "token", "app", "command", "customer", "worker", "system"]


def _word(text: str) -> str:
    if text not in ACTIONS:
        raise ValueError("must be one of the listed actions")
    return text


Word = Annotated[str, AfterValidator(_word), WithJsonSchema({"type": "string", "enum": list(ACTIONS)})]


class AuditQuery(PageQuery):
    """Filters for the audit log."""

    action: Word | None = Field(None, description="Only entries with this action.", examples=["product.updated"])
    object_type: Annotated[str, Field(max_length=40)] | None = Field(
        None, description="Only entries about objects of this type.", examples=["product"]
    )
    object_id: Annotated[int, Field(ge=1, le=MAX_ID)] | None = Field(
        None, description="Only entries about objects with this id. Together with `object_type`: about one object."
    )
    actor_kind: ActorKind | None = Field(None, description="Only entries by actors of this kind.")
    since: Moment | None = Field(None, description="Only entries at or after this time.")
    until: Moment | None = Field(None, description="Only entries before this time.")


class AuditActor(Schema):
    """The actor of an action."""

    kind: ActorKind = Field(
        description=(
            "`staff`: a person in the admin. `token`: an API token of the shop. `app`: an installed app. "
            "`command`: the operator's command line. `customer`: a shopper. `worker`, `system`: the service "
            "itself."
        )
    )
    id: int | None = Field(description="Id of the user, token, installation or customer; null if unknown.")
    name: str | None = Field(description="The name at that time; `[erased]` if it was erased.")


class AuditObject(Schema):
    """The object of an action."""

    type: str | None = Field(
        description="The object's type, such as `product`, `order` or `token`.", examples=["product"]
    )
    id: int | None = Field(description="The object's id, if any.")
    name: str | None = Field(description="The name at that time.")


class AuditRecord(Schema):
    """An entry of the audit log."""

    id: int = Field(description="The entry's id.")
    at: Timestamp = Field(description="When the action happened.")
    actor: AuditActor = Field(description="Who did it.")
    place: str | None = Field(
        description="Where it was done from: an IP address, an IPv6 network, or the machine that ran a command."
    )
    action: str = Field(description="The action, a stable code.", examples=["product.updated"])
    object: AuditObject = Field(description="The object that the action is about.")
    before: dict[str, Any] | None = Field(description="Changed values before the action; null for a new object.")
    after: dict[str, Any] | None = Field(description="Changed values after the action; null for a deleted object.")
    withheld_for: str | None = Field(
        description=(
            "Why `object.name`, `before` and `after` are null: the scope that the app would need; `another_app` "
            "for webhooks, extensions, script tags, script hosts and reports of scripts of other apps; `staff` for "
            "staff invitations, which apps cannot see. Otherwise null."
        )
    )
    erased_at: Timestamp | None = Field(description="When a person was erased from the entry; null if never.")
    request_id: str | None = Field(description="The request's id in the service's log.")


class AuditLog(Schema):
    audit: list[AuditRecord] = Field(description="The entries, newest first.")
    pagination: Pagination = Field(description="Position of this page in the list.")


@router.get(
    "/audit", auth=app_scope("read_audit"), response=answers({200: AuditLog}, 422), summary="Read the audit log"
)
def list_audit_entries(request: Request, asked: Query[AuditQuery]) -> HttpResponse:
    """One page of the audit log, newest first: who did what, from where, and the values before and after.

    Details of a product, order or customer need the scope to read those as well. Details of webhooks, extensions,
    script tags and script hosts are shown only to the app that made the change. New entries come to the front: send
    `until` while you read all pages, so that no entry moves to the next page.
    """
    records, total = audit_page(
        request.shop,
        asked.model_dump(include=set(FILTERS)),
        caller=request.caller,
        start=asked.start,
        count=asked.per_page,
    )
    where = pagination(
        page=asked.page,
        per_page=asked.per_page,
        total=total,
        path=f"{request.shop.base_url}/api/apps/audit",
        given=[(name, request.GET[name]) for name in (*FILTERS, "per_page") if name in request.GET],
    )
    return json_response({"audit": records, "pagination": where})
