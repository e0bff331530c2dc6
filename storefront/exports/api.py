from typing import Annotated

from django.http import HttpResponse
from ninja import Path, Router

from storefront.exports import actions, schemas
from storefront.exports.kinds import KINDS
from storefront.exports.models import Export
from storefront.kit.api.http import json_response
from storefront.kit.api.schemas import PathId, answers
from storefront.kit.ids import as_id
from storefront.kit.refusals import NotFound
from storefront.shops.auth import InsufficientScope, scope
from storefront.shops.request import Request

router = Router(tags=["Exports"])


@router.post(
    "/exports",
    auth=scope(),
    response=answers({201: schemas.NewExport}, 400, 409, 413, 415, 422),
    summary="Start an export",
)
def start_export(request: Request, body: schemas.ExportGiven) -> HttpResponse:
    """Have everything that a list has written into one file. Needs the scope that reads the list. Ask for the export
    until it is done, get the file from its `url`, and go on with its `next` as `after` of the list."""
    require_scope(request, body.kind)
    request.read_scope = KINDS[body.kind].scope
    export = actions.start_export(shop=request.shop, now=request.now, **body.model_dump())
    return json_response({"data": schemas.export_record(request, export)}, status=201)


@router.get(
    "/exports/{export_id}",
    auth=scope(),
    response=answers({200: schemas.OneExport}, 404),
    summary="Get an export",
)
def get_export(
    request: Request, export_id: Annotated[PathId, Path(description="The export's id.", examples=[12])]
) -> HttpResponse:
    """An export and, once it is done, a link to its file. Needs the scope that reads the list."""
    export = Export.objects.select_related("shop").filter(shop=request.shop, pk=as_id(export_id) or 0).first()
    if export is None:
        raise NotFound
    require_scope(request, export.kind)
    return json_response({"data": schemas.export_record(request, export)})


def require_scope(request: Request, kind: str) -> None:
    """Raises InsufficientScope unless the caller may read records of this kind (R-SYNC-19)."""
    needed = KINDS[kind].scope
    if needed not in request.caller.scopes:
        raise InsufficientScope(required_scopes=[needed], granted_scopes=sorted(request.caller.scopes))
