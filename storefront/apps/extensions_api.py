from typing import Annotated, Literal

from django.http import HttpResponse
from ninja import Field, Path, Router, Schema

from storefront.apps import extensions
from storefront.installations.schemas import AppUrl
from storefront.kit.http import json_response
from storefront.kit.ids import as_id
from storefront.kit.schemas import PathId, Timestamp, answers
from storefront.shops.auth import app_scope
from storefront.shops.request import Request, calling_installation

# Any installed app may list; the writes need `write_extensions` (R-APP-12).
router = Router(tags=["App: Extensions"])

ExtensionType = Literal["checkout_block", "product_block", "confirmation_block"]


class NewExtension(Schema):
    """A block to show."""

    type: ExtensionType = Field(
        description="Where the block appears: in the checkout, on product pages, or on the order confirmation."
    )
    callback_url: AppUrl = Field(
        description="Public https URL that the shop calls for the block.",
        examples=["https://app.example.com/blocks/checkout"],
    )
    timeout_ms: Annotated[int, Field(strict=True, ge=extensions.SHORTEST_WAIT, le=extensions.LONGEST_WAIT)] = Field(
        extensions.USUAL_WAIT, description="How long the shop waits for the block, in milliseconds."
    )


class ExtensionRecord(Schema):
    """A block of an app on the shop's pages."""

    id: int = Field(description="The extension's id.")
    app_installation_id: int = Field(description="The installation that registered it.")
    type: ExtensionType = Field(description="Where the block appears.")
    callback_url: str = Field(description="URL that the shop calls for the block.")
    is_active: bool = Field(description="Whether the extension is active. The merchant can turn it off.")
    timeout_ms: int = Field(description="How long the shop waits for the block, in milliseconds.")
    created_at: Timestamp = Field(description="When the extension was registered.")
    updated_at: Timestamp = Field(
        description="When the extension was last changed, for example turned off by the merchant."
    )


class ExtensionList(Schema):
    extensions: list[ExtensionRecord] = Field(description="The extensions of all apps in the shop.")


class ExtensionRegistered(Schema):
    message: str = Field(description="Human-readable message.", examples=["Extension registered."])
    extension: ExtensionRecord = Field(description="The registered extension.")


class ExtensionDeleted(Schema):
    message: str = Field(description="Human-readable message.", examples=["Extension deleted."])


@router.get("/extensions", auth=app_scope(), response=answers({200: ExtensionList}), summary="List extensions")
def list_extensions(request: Request) -> HttpResponse:
    """The extensions of all apps in the shop. Any installed app can list them."""
    return json_response({"extensions": extensions.extension_records(request.shop)})


@router.post(
    "/extensions",
    auth=app_scope("write_extensions"),
    response=answers({201: ExtensionRegistered}, 400, 409, 413, 415, 422),
    summary="Register an extension",
)
def register_extension(request: Request, body: NewExtension) -> HttpResponse:
    """Show a block of the app on the shop's pages. The shop calls `callback_url` each time."""
    extension = extensions.register_extension(
        shop=request.shop,
        installation_id=calling_installation(request),
        type=body.type,
        callback_url=body.callback_url,
        timeout_ms=body.timeout_ms,
        now=request.now,
    )
    answer = {"message": "Extension registered.", "extension": extensions.extension_record(extension)}
    return json_response(answer, status=201)


@router.delete(
    "/extensions/{id}",
    auth=app_scope("write_extensions"),
    response=answers({200: ExtensionDeleted}, 404),
    summary="Delete an extension",
)
def delete_extension(
    request: Request, id: Annotated[PathId, Path(description="The id of one of the app's own extensions.")]
) -> HttpResponse:
    """Remove one of the app's own extensions from the shop's pages."""
    extensions.delete_extension(
        shop=request.shop, installation_id=calling_installation(request), extension_id=as_id(id) or 0, now=request.now
    )
    return json_response({"message": "Extension deleted."})
