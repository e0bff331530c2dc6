from contextlib import AbstractContextManager
from operator import attrgetter
from typing import Annotated, Any, Literal

from django.http import HttpResponse
from ninja import Field, Path, Router, Schema
from pydantic import WithJsonSchema

from storefront.apps import extensions
from storefront.apps.models import Extension
from storefront.installations.conditional import only_own_if_match
from storefront.installations.schemas import AppUrl
from storefront.kit.api.conditional import record_response
from storefront.kit.api.http import json_response
from storefront.kit.api.records import writer
from storefront.kit.api.schemas import Change, PathId, Timestamp, answers
from storefront.kit.ids import as_id
from storefront.shops.auth import app_scope
from storefront.shops.request import Request, calling_installation

# Any installed app may list; the writes need `write_extensions` (R-APP-12).
router = Router(tags=["App: Extensions"])

ExtensionType = Literal["checkout_block", "product_block", "confirmation_block"]
_WAIT = {"minimum": extensions.MIN_WAIT, "maximum": extensions.MAX_WAIT}
# Null counts as left out. The description keeps to the integer, so that generated clients have a plain type.
Timeout = Annotated[
    Annotated[int, Field(strict=True, ge=_WAIT["minimum"], le=_WAIT["maximum"])] | None,
    WithJsonSchema({"type": "integer", **_WAIT}),
]
TIMEOUT = "How long the shop waits for the block, in milliseconds."
OwnId = Annotated[PathId, Path(description="The id of one of the app's own extensions.")]


class NewExtension(Schema):
    """A block to show."""

    type: ExtensionType = Field(
        description="Where the block appears: in the checkout, on product pages, or on the order confirmation."
    )
    callback_url: AppUrl = Field(
        description="Public https URL that the shop calls for the block.",
        examples=["https://app.example.com/blocks/checkout"],
    )
    timeout_ms: Timeout = Field(None, description=TIMEOUT, json_schema_extra={"default": extensions.USUAL_WAIT})


class ExtensionChange(Change):
    """The members of an extension that its app can change."""

    callback_url: AppUrl = Field(
        "",
        description="Public https URL that the shop calls for the block.",
        examples=["https://app.example.com/blocks"],
    )
    timeout_ms: Timeout = Field(None, description=TIMEOUT)


class ExtensionRecord(Schema):
    """A block of an app on the shop's pages."""

    id: int = Field(description="The extension's id.")
    app_installation_id: int = Field(description="The installation that registered it.")
    type: ExtensionType = Field(description="Where the block appears.")
    callback_url: str = Field(description="URL that the shop calls for the block.")
    is_active: bool = Field(description="Whether the extension is active. The merchant can turn it off.")
    timeout_ms: int = Field(description=TIMEOUT)
    created_at: Timestamp = Field(description="When the extension was registered.")
    updated_at: Timestamp = Field(
        description="When the extension was last changed, for example turned off by the merchant."
    )


# The members of R-APP-16.
extension_record = writer(ExtensionRecord, app_installation_id=attrgetter("installation_id"))


class ExtensionList(Schema):
    extensions: list[ExtensionRecord] = Field(description="The extensions of all apps in the shop.")


class ExtensionRegistered(Schema):
    message: str = Field(description="Human-readable message.", examples=["Extension registered."])
    extension: ExtensionRecord = Field(description="The registered extension.")


class OneExtension(Schema):
    extension: ExtensionRecord = Field(description="The extension.")


class ExtensionDeleted(Schema):
    message: str = Field(description="Human-readable message.", examples=["Extension deleted."])


@router.get("/extensions", auth=app_scope(), response=answers({200: ExtensionList}), summary="List extensions")
def list_extensions(request: Request) -> HttpResponse:
    """The extensions of all apps in the shop. Any installed app can list them."""
    return json_response({"extensions": [extension_record(each) for each in extensions.extensions_of(request.shop)]})


@router.post(
    "/extensions",
    auth=app_scope("write_extensions"),
    response=answers({200: ExtensionRegistered, 201: ExtensionRegistered}, 400, 409, 413, 415, 422),
    summary="Register an extension",
)
def register_extension(request: Request, body: NewExtension) -> HttpResponse:
    """Show a block of the app on the shop's pages. The shop calls `callback_url` each time. If the same `type` is
    registered again with the same `callback_url`, the existing extension is returned unchanged, with status 200."""
    extension, created = extensions.register_extension(
        shop=request.shop,
        installation_id=calling_installation(request),
        type=body.type,
        callback_url=body.callback_url,
        timeout_ms=extensions.USUAL_WAIT if body.timeout_ms is None else body.timeout_ms,
        now=request.now,
    )
    answer = {"message": "Extension registered.", "extension": extension_record(extension)}
    return json_response(answer, status=201 if created else 200)


@router.get(
    "/extensions/{id}",
    auth=app_scope(),
    response=answers({200: OneExtension, 304: None}, 404),
    summary="Get an extension",
)
def get_extension(request: Request, id: OwnId) -> HttpResponse:
    """One of the app's own extensions."""
    return record_response(request, _read(request, id))


@router.patch(
    "/extensions/{id}",
    auth=app_scope("write_extensions"),
    response=answers({200: OneExtension}, 400, 404, 412, 413, 415, 422),
    summary="Update an extension",
)
def update_extension(request: Request, id: OwnId, body: ExtensionChange) -> HttpResponse:
    """Change the members that are sent of one of the app's own extensions."""
    with _only_if_match(request, id):
        extension = extensions.change_extension(
            shop=request.shop,
            installation_id=calling_installation(request),
            extension_id=as_id(id) or 0,
            changes=body.model_dump(exclude_unset=True, exclude_none=True),
            now=request.now,
        )
    return record_response(request, {"extension": extension_record(extension)})


@router.delete(
    "/extensions/{id}",
    auth=app_scope("write_extensions"),
    response=answers({200: ExtensionDeleted}, 404, 412),
    summary="Delete an extension",
)
def delete_extension(request: Request, id: OwnId) -> HttpResponse:
    """Remove one of the app's own extensions from the shop's pages."""
    with _only_if_match(request, id):
        extensions.delete_extension(
            shop=request.shop,
            installation_id=calling_installation(request),
            extension_id=as_id(id) or 0,
            now=request.now,
        )
    return json_response({"message": "Extension deleted."})


def _read(request: Request, id: str) -> dict[str, Any]:
    extension = extensions.own_extension(request.shop, calling_installation(request), as_id(id) or 0)
    return {"extension": extension_record(extension)}


def _only_if_match(request: Request, id: str) -> AbstractContextManager[None]:
    row = Extension.objects.filter(shop=request.shop, installation=calling_installation(request), pk=as_id(id) or 0)
    return only_own_if_match(request, row, lambda: _read(request, id))
