from typing import Annotated, Literal

from django.http import HttpResponse
from ninja import Field, Path, Router, Schema

from storefront.apps import scripts
from storefront.apps.models import LONGEST_URL
from storefront.kit.http import json_response
from storefront.kit.ids import as_id
from storefront.kit.schemas import Timestamp, answers
from storefront.shops.auth import app_scope
from storefront.shops.request import Request

router = Router(tags=["App"])

Location = Literal["head", "body_start", "body_end"]


class NewScriptTag(Schema):
    """A script to run on the shop's pages."""

    src: Annotated[str, Field(strict=True, max_length=LONGEST_URL)] = Field(
        description="Where browsers load it from: a public https address.",
        examples=["https://app.example.com/badge.js"],
    )
    location: Location = Field(description="Where it stands in a page.")


class ScriptTagRecord(Schema):
    """A script of an app on the shop's pages."""

    id: int = Field(description="Names it in its path.")
    app_installation_id: int = Field(description="Whose it is.")
    src: str = Field(description="Where browsers load it from.")
    location: Location = Field(description="Where it stands in a page.")
    is_active: bool = Field(description="Whether pages carry it.")
    created_at: Timestamp
    updated_at: Timestamp


class ScriptTags(Schema):
    script_tags: list[ScriptTagRecord] = Field(description="Of every app in the shop.")


class ScriptTagRegistered(Schema):
    message: str = Field(description="For people.", examples=["Script tag registered."])
    script_tag: ScriptTagRecord = Field(description="As it stands now.")


class ScriptTagDeleted(Schema):
    message: str = Field(description="For people.", examples=["Script tag deleted."])


@router.get("/script-tags", auth=app_scope(), response=answers({200: ScriptTags}), summary="List script tags")
def list_script_tags(request: Request) -> HttpResponse:
    """The script tags of every app in the shop. Any installed app may read them."""
    return json_response({"script_tags": scripts.script_tag_records(request.shop)})


@router.post(
    "/script-tags",
    auth=app_scope("write_script_tags"),
    response=answers({200: ScriptTagRegistered, 201: ScriptTagRegistered}, 400, 409, 413, 415, 422),
    summary="Register a script tag",
)
def register_script_tag(request: Request, body: NewScriptTag) -> HttpResponse:
    """Put a script of the app on the shop's pages; the checkout never carries one. The same `src` at the same
    `location` again is the tag that stands, with 200. Browsers run it if the merchant allows its host."""
    tag, created = scripts.register_script_tag(
        shop=request.shop,
        installation_id=_caller(request),
        src=body.src,
        location=body.location,
        now=request.now,
    )
    answer = {"message": "Script tag registered.", "script_tag": scripts.script_tag_record(tag)}
    return json_response(answer, status=201 if created else 200)


@router.delete(
    "/script-tags/{id}",
    auth=app_scope("write_script_tags"),
    response=answers({200: ScriptTagDeleted}, 404),
    summary="Delete a script tag",
)
def delete_script_tag(
    request: Request, id: Annotated[str, Path(description="One of the app's own script tags.")]
) -> HttpResponse:
    """Take one of the app's own scripts off the shop's pages."""
    scripts.delete_script_tag(shop=request.shop, installation_id=_caller(request), script_tag_id=as_id(id) or 0)
    return json_response({"message": "Script tag deleted."})


def _caller(request: Request) -> int:
    """The installation that calls; `app_scope` lets nobody else through."""
    assert request.caller.installation_id is not None
    return request.caller.installation_id
