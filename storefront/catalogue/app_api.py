"""Products for installed apps: read in any status, created, changed and deleted (R-APP-31, R-APP-32)."""

from contextlib import AbstractContextManager
from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Path, Query, Router

from storefront.catalogue import actions, app_queries
from storefront.catalogue import app_schemas as schemas
from storefront.catalogue.copying import Products
from storefront.catalogue.models import Product, Variant
from storefront.kit.api.app_pagination import pagination
from storefront.kit.api.conditional import only_if_match, record_response
from storefront.kit.api.http import json_response
from storefront.kit.api.schemas import PathId, answers
from storefront.kit.ids import as_id
from storefront.kit.refusals import NotFound
from storefront.shops.auth import app_scope
from storefront.shops.replica_reads import from_replica
from storefront.shops.request import Request, written_response
from storefront.sync.answers import answer_run, deleted_of_app

router = Router(tags=["App: Products"])

PAGE_PARAMETERS = ("status", "q", "updated_since", "ids", "fields", "include", "per_page")

ProductId = Annotated[PathId, Path(description="The product's id.", examples=[12])]


@router.get(
    "/products",
    auth=app_scope("read_products"),
    response=answers({200: schemas.ProductsOfApp | schemas.ProductRunOfApp}, 422),
    summary="List products",
)
@from_replica
def list_products_for_app(request: Request, asked: Query[schemas.AppProductQuery]) -> HttpResponse:
    """One page of the shop's products of any status, most recently changed first, without deleted products.

     Products that change while you read move to the front. After you have read all pages, list again with
     `updated_since` to get what has changed since you started; or send `after`, for the next part of a copy of the list
    .
    """
    source = Products(request.shop, asked.members)
    if asked.after is not None:
        return answer_run(request, source, asked, "products")
    records, total = app_queries.product_page(
        request.shop,
        status=asked.status,
        q=asked.q,
        updated_since=asked.updated_since,
        start=asked.start,
        count=asked.per_page,
        ids=asked.ids,
        members=asked.members,
        now=request.now,
    )
    deleted, deleted_total = deleted_of_app(source, asked, now=request.now)
    where = pagination(
        page=asked.page,
        per_page=asked.per_page,
        total=total,
        path=f"{request.shop.base_url}/api/apps/products",
        given=[(name, request.GET[name]) for name in PAGE_PARAMETERS if name in request.GET],
        deleted_total=deleted_total,
    )
    return json_response({"products": records, "pagination": where} | deleted)


@router.get(
    "/products/{product_id}",
    auth=app_scope("read_products"),
    response=answers({200: schemas.ProductOfApp, 304: None}, 404, 422),
    summary="Get a product",
)
@from_replica
def get_product_for_app(request: Request, product_id: ProductId, asked: Query[schemas.AppSingleQuery]) -> HttpResponse:
    """A product of any status with its categories, variants, options and bundle items."""
    members = None if asked.fields is None else frozenset(asked.fields)
    return record_response(request, _body(request, as_id(product_id), members))


@router.post(
    "/products",
    auth=app_scope("write_products"),
    response=answers({201: schemas.ChangedProductOfApp}, 400, 409, 413, 415, 422),
    summary="Create a product",
)
def create_product_for_app(request: Request, body: schemas.ProductGiven) -> HttpResponse:
    """Create a product with its variants, options, pictures and bundle items, completely or not at all. It is a draft
    unless `status` is sent."""
    product = actions.create_product(shop=request.shop, now=request.now, **body.model_dump(exclude_unset=True))
    return _answer(request, product, status=201)


@router.patch(
    "/products/{product_id}",
    auth=app_scope("write_products"),
    response=answers({200: schemas.ChangedProductOfApp}, 400, 404, 412, 413, 415, 422),
    summary="Update a product",
)
def update_product_for_app(request: Request, product_id: ProductId, body: schemas.ProductChange) -> HttpResponse:
    """Update the members that are sent. In a list of entries, an entry with an `id` updates the existing entry, or
    removes it with `remove: true`; an entry without one is added; entries that are not sent stay."""
    product, changes = _product(request, product_id), body.model_dump(exclude_unset=True)
    with _only_if_match(request, product):
        product = actions.update_product(shop=request.shop, product=product, now=request.now, **changes)
    return _answer(request, product)


@router.delete(
    "/products/{product_id}",
    auth=app_scope("write_products"),
    response=answers({200: schemas.ProductDeleted}, 404, 412, 422),
    summary="Delete a product",
)
def delete_product_for_app(request: Request, product_id: ProductId) -> HttpResponse:
    """Delete a product. Orders keep their data about it. A product that is part of a bundle must be removed from the
    bundle first."""
    product = _product(request, product_id)
    with _only_if_match(request, product):
        actions.delete_product(shop=request.shop, product=product, now=request.now)
    return json_response({"message": "Product deleted."})


def _product(request: Request, product_id: str) -> Product:
    product = Product.objects.filter(shop=request.shop, pk=as_id(product_id) or 0, deleted_at=None).first()
    if product is None:
        raise NotFound
    return product


def _only_if_match(request: Request, product: Product) -> AbstractContextManager[None]:
    row = Product.objects.filter(shop=request.shop, pk=product.pk)
    # A sale of a variant locks the variant alone.
    variants = Variant.objects.filter(shop=request.shop, product=product.pk)
    return only_if_match(request, lambda: _body(request, product.pk), row, variants)


def _body(request: Request, product_id: int | None, members: frozenset[str] | None = None) -> dict[str, Any]:
    record = app_queries.product_record(request.shop, product_id, members, now=request.now)
    if record is None:
        raise NotFound
    return {"product": record}


def _answer(request: Request, product: Product, status: int = 200) -> HttpResponse:
    record = app_queries.product_record(request.shop, product.pk, now=request.now)
    assert record is not None, "it was written in this request"
    return written_response(request, "product", record, reading="read_products", status=status)
