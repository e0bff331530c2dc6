from typing import Annotated, Literal

from django.http import HttpResponse
from ninja import Field, Path, Router, Schema

from storefront.apps import extensions
from storefront.apps.models import LONGEST_URL
from storefront.kit.http import json_response
from storefront.kit.ids import as_id
from storefront.kit.schemas import Timestamp, answers
from storefront.shops.auth import app_scope
from storefront.shops.request import Request

router = Router(tags=["App"])

ExtensionType = Literal["checkout_block", "product_block", "confirmation_block"]


class NewExtension(Schema):
    """A block to show."""

    type: ExtensionType = Field(description="Where it appears: at checkout, on product pages, or under a placed order.")
    callback_url: Annotated[str, Field(strict=True, max_length=LONGEST_URL)] = Field(
        description="Where the shop asks for the block: a public https address.",
        examples=["https://app.example.com/blocks/checkout"],
    )
    timeout_ms: Annotated[int, Field(strict=True, ge=extensions.SHORTEST_WAIT, le=extensions.LONGEST_WAIT)] = Field(
        extensions.USUAL_WAIT, description="Milliseconds until the shop goes on without the block."
    )


class ExtensionRecord(Schema):
    """A block of an app on the shop's pages."""

    id: int = Field(description="Names it for deleting.")
    app_installation_id: int = Field(description="Whose it is.")
    type: ExtensionType = Field(description="Where it appears.")
    callback_url: str = Field(description="Where the shop asks for the block.")
    is_active: bool = Field(description="Whether the shop asks for it.")
    timeout_ms: int = Field(description="Milliseconds until the shop goes on without the block.")
    created_at: Timestamp = Field(description="When it was registered.")
    updated_at: Timestamp = Field(description="When it was last changed, as by a merchant who switched it off.")


class Extensions(Schema):
    extensions: list[ExtensionRecord] = Field(description="Of every app in the shop.")


class ExtensionRegistered(Schema):
    message: str = Field(description="For people.", examples=["Extension registered."])
    extension: ExtensionRecord = Field(description="As it stands now.")


class ExtensionDeleted(Schema):
    message: str = Field(description="For people.", examples=["Extension deleted."])


@router.get("/extensions", auth=app_scope(), response=answers({200: Extensions}), summary="List extensions")
def list_extensions(request: Request) -> HttpResponse:
    """The extensions of every app in the shop. Any installed app may read them."""
    return json_response({"extensions": extensions.extension_records(request.shop)})


@router.post(
    "/extensions",
    auth=app_scope("write_extensions"),
    response=answers({201: ExtensionRegistered}, 400, 409, 413, 415, 422),
    summary="Register an extension",
)
def register_extension(request: Request, body: NewExtension) -> HttpResponse:
    """Show a block of the app on the shop's pages. The shop asks `callback_url` for it each time."""
    extension = extensions.register_extension(
        shop=request.shop,
        installation_id=_caller(request),
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
    request: Request, id: Annotated[str, Path(description="One of the app's own extensions.")]
) -> HttpResponse:
    """Take one of the app's own extensions off the shop's pages."""
    extensions.delete_extension(shop=request.shop, installation_id=_caller(request), extension_id=as_id(id) or 0)
    return json_response({"message": "Extension deleted."})


def _caller(request: Request) -> int:
    """The installation that calls; `app_scope` lets nobody else through."""
    assert request.caller.installation_id is not None
    return request.caller.installation_id
