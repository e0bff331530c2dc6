"""Products for installed apps: read whatever their status, made, changed and deleted (decisions: Shop data
endpoints)."""

from typing import Annotated

from django.http import HttpResponse
from ninja import Path, Query, Router

from storefront.catalogue import actions, app_queries
from storefront.catalogue import app_schemas as schemas
from storefront.catalogue.models import Product
from storefront.kit.app_pagination import pagination
from storefront.kit.http import json_response
from storefront.kit.ids import as_id
from storefront.kit.refusals import NotFound
from storefront.kit.schemas import answers
from storefront.shops.auth import app_scope
from storefront.shops.request import Request

router = Router(tags=["App"])

KEPT = ("status", "q", "updated_since", "per_page")

ProductId = Annotated[str, Path(description="The product's number.", examples=["12"])]


@router.get(
    "/products",
    auth=app_scope("read_products"),
    response=answers({200: schemas.ProductsOfApp}, 422),
    summary="List products",
)
def list_products_for_app(request: Request, asked: Query[schemas.AppProductQuery]) -> HttpResponse:
    """One page of the shop's products of any status, the newest change first; deleted ones are left out.

    What changes while pages are read comes to the front: who reads all pages asks afterwards with `updated_since` for
    what has changed since the beginning.
    """
    records, total = app_queries.product_page(
        request.shop,
        status=asked.status,
        q=asked.q,
        updated_since=asked.updated_since,
        start=asked.start,
        count=asked.per_page,
    )
    where = pagination(
        page=asked.page,
        per_page=asked.per_page,
        total=total,
        path=f"{request.shop.base_url}/api/apps/products",
        given=[(name, request.GET[name]) for name in KEPT if name in request.GET],
    )
    return json_response({"products": records, "pagination": where})


@router.get(
    "/products/{product_id}",
    auth=app_scope("read_products"),
    response=answers({200: schemas.ProductOfApp}, 404),
    summary="Read one product",
)
def read_product_for_app(request: Request, product_id: ProductId) -> HttpResponse:
    """One product of any status with its categories, variants, options and parts."""
    record = app_queries.product_record(request.shop, as_id(product_id))
    if record is None:
        raise NotFound
    return json_response({"product": record})


@router.post(
    "/products",
    auth=app_scope("write_products"),
    response=answers({201: schemas.ChangedProductOfApp}, 400, 409, 413, 415, 422),
    summary="Make a product",
)
def make_product_for_app(request: Request, body: schemas.ProductGiven) -> HttpResponse:
    """Make a product with its lists, whole or not at all. It is a draft unless `status` says otherwise."""
    product = actions.create_product(shop=request.shop, now=request.now, **body.model_dump(exclude_unset=True))
    return _answer(request, product, status=201)


@router.patch(
    "/products/{product_id}",
    auth=app_scope("write_products"),
    response=answers({200: schemas.ChangedProductOfApp}, 400, 404, 413, 415, 422),
    summary="Change a product",
)
def change_product_for_app(request: Request, product_id: ProductId, body: schemas.ProductChange) -> HttpResponse:
    """Change the members that are sent. Of a list that is sent, entries with an `id` change what stands, entries
    without make something new, and what no entry names is removed."""
    changes = body.model_dump(exclude_unset=True)
    product = actions.update_product(
        shop=request.shop, product=_product(request, product_id), now=request.now, **changes
    )
    return _answer(request, product)


@router.delete(
    "/products/{product_id}",
    auth=app_scope("write_products"),
    response=answers({200: schemas.ProductDeleted}, 404, 422),
    summary="Delete a product",
)
def delete_product_for_app(request: Request, product_id: ProductId) -> HttpResponse:
    """Take a product out of the shop; orders keep what they say of it. A part of a bundle has to be taken out of the
    bundle first."""
    actions.delete_product(shop=request.shop, product=_product(request, product_id), now=request.now)
    return json_response({"message": "Product deleted."})


def _product(request: Request, product_id: str) -> Product:
    product = app_queries.standing_product(request.shop, as_id(product_id))
    if product is None:
        raise NotFound
    return product


def _answer(request: Request, product: Product, status: int = 200) -> HttpResponse:
    record = app_queries.product_record(request.shop, product.pk)
    assert record is not None, "it was written in this very request"
    return json_response({"product": request.caller.told(record, reading="read_products")}, status=status)
