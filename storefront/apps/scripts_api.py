from operator import attrgetter
from typing import Annotated, Literal

from django.http import HttpResponse
from ninja import Field, Path, Router, Schema

from storefront.apps import scripts
from storefront.installations.schemas import AppUrl
from storefront.kit.api.http import json_response
from storefront.kit.api.records import writer
from storefront.kit.api.schemas import PathId, Timestamp, answers
from storefront.kit.ids import as_id
from storefront.shops.auth import app_scope
from storefront.shops.request import Request, calling_installation

# Any installed app may list; the writes need `write_script_tags` (R-APP-12).
router = Router(tags=["App: Script tags"])

Location = Literal["head", "body_start", "body_end"]


class NewScriptTag(Schema):
    """A script to run on the shop's pages."""

    src: AppUrl = Field(
        description="Public https URL of the script.",
        examples=["https://app.example.com/badge.js"],
    )
    location: Location = Field(description="Where the tag is placed in the page.")


class ScriptTagRecord(Schema):
    """A script of an app on the shop's pages."""

    id: int = Field(description="The script tag's id.")
    app_installation_id: int = Field(description="The installation that registered it.")
    src: str = Field(description="URL of the script.")
    location: Location = Field(description="Where the tag is placed in the page.")
    is_active: bool = Field(description="Whether the script tag is active. The merchant can turn it off.")
    created_at: Timestamp
    updated_at: Timestamp
    blocked_reason: str | None = Field(description="Why app scripts do not run on this deployment; null if they do.")


# The members of R-APP-25.
script_tag_record = writer(
    ScriptTagRecord,
    app_installation_id=attrgetter("installation_id"),
    blocked_reason=lambda tag: scripts.blocked_reason(),
)


class ScriptTagList(Schema):
    script_tags: list[ScriptTagRecord] = Field(description="The script tags of all apps in the shop.")


class ScriptTagRegistered(Schema):
    message: str = Field(description="Human-readable message.", examples=["Script tag registered."])
    script_tag: ScriptTagRecord = Field(description="The registered script tag.")


class ScriptTagDeleted(Schema):
    message: str = Field(description="Human-readable message.", examples=["Script tag deleted."])


@router.get("/script-tags", auth=app_scope(), response=answers({200: ScriptTagList}), summary="List script tags")
def list_script_tags(request: Request) -> HttpResponse:
    """The script tags of all apps in the shop. Any installed app can list them."""
    return json_response({"script_tags": [script_tag_record(each) for each in scripts.script_tags_of(request.shop)]})


@router.post(
    "/script-tags",
    auth=app_scope("write_script_tags"),
    response=answers({200: ScriptTagRegistered, 201: ScriptTagRegistered}, 400, 409, 413, 415, 422),
    summary="Register a script tag",
)
def register_script_tag(request: Request, body: NewScriptTag) -> HttpResponse:
    """Add a script of the app to the shop's pages, but never to the checkout. If the same `src` is registered again at
    the same `location`, the existing tag is returned with status 200. Browsers run the script if the merchant allows
    its host and `blocked_reason` is null."""
    tag, created = scripts.register_script_tag(
        shop=request.shop,
        installation_id=calling_installation(request),
        src=body.src,
        location=body.location,
        now=request.now,
    )
    answer = {"message": "Script tag registered.", "script_tag": script_tag_record(tag)}
    return json_response(answer, status=201 if created else 200)


@router.delete(
    "/script-tags/{id}",
    auth=app_scope("write_script_tags"),
    response=answers({200: ScriptTagDeleted}, 404),
    summary="Delete a script tag",
)
def delete_script_tag(
    request: Request, id: Annotated[PathId, Path(description="The id of one of the app's own script tags.")]
) -> HttpResponse:
    """Remove one of the app's own scripts from the shop's pages."""
    scripts.delete_script_tag(
        shop=request.shop, installation_id=calling_installation(request), script_tag_id=as_id(id) or 0, now=request.now
    )
    return json_response({"message": "Script tag deleted."})
