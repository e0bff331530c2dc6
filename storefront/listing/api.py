from typing import Annotated, Any
from urllib.parse import quote

from django.http import HttpResponse
from ninja import Path, Query, Router

from storefront.catalogue import schemas
from storefront.kit.api.conditional import revalidated_response
from storefront.kit.api.pagination import envelope
from storefront.kit.api.schemas import answers
from storefront.kit.refusals import NotFound
from storefront.listing import queries, spelling
from storefront.listing.copying import PublicProducts
from storefront.shops.auth import scope
from storefront.shops.locales import Answered, language_asked
from storefront.shops.replica_reads import from_replica
from storefront.shops.request import Request
from storefront.sync.answers import answer_run, deleted_beside

# Four reads, each with the scope `read_products` (R-CAT-5). Apps write under `/api/apps/products` (R-CAT-1).
router = Router(tags=["Catalogue"])

# Query parameters that page URLs repeat, before `page` (R-CAT-18).
PAGE_PARAMETERS = (
    *("q", "category", "featured", "sort", "updated_since", "ids", "fields", "include", "locale", "per_page"),
)

ProductKey = Annotated[
    str,
    Path(description="The product's id or slug, also an old one. Digits only are tried as an id first."),
]
CategoryKey = Annotated[
    str,
    Path(description="The category's id or slug, also an old one. Digits only are tried as an id first."),
]


@router.get(
    "/products",
    response=answers({200: schemas.ProductPage | schemas.ProductRun, 304: None}, 422),
    auth=scope("read_products"),
    summary="List products",
)
@from_replica
def list_products(request: Request, asked: Query[schemas.ProductQuery]) -> HttpResponse:
    """One page of the shop's published products; with `after`, the next part of a copy of the list."""
    answered = language_asked(request, request.shop, asked.locale)
    source = PublicProducts(request.shop, asked.members, language=answered.language)
    if asked.after is not None:
        return answered.name_in(answer_run(request, source, asked))
    filters = queries.ProductFilters(
        q=asked.q,
        category=queries.main_slug(request.shop, asked.category, answered.language),
        featured=asked.is_featured_only(),
        sort=asked.sort,
        updated_since=asked.updated_since,
        ids=asked.ids,
        members=asked.members,
        language=answered.language,
    )
    found = queries.product_page(request.shop, filters, page=asked.page, per_page=asked.per_page, now=request.now)
    more: dict[str, Any] = {}
    if not found.total and asked.q.strip():
        # R-CAT-40.
        more["did_you_mean"] = spelling.nearest_spelling(request.shop, filters, now=request.now)
    body = envelope(
        found.records_json,
        total=found.total,
        page=asked.page,
        per_page=asked.per_page,
        path=f"{request.shop.base_url}/api/v1/products",
        given=[(name, request.GET[name]) for name in PAGE_PARAMETERS if name in request.GET],
        **deleted_beside(source, asked, now=request.now),
        **more,
    )
    return revalidated_response(request, body, until=found.until, headers=answered.headers)


@router.get(
    "/products/{id_or_slug}",
    response=answers({200: schemas.OneProduct, 304: None}, 404, 422),
    auth=scope("read_products"),
    summary="Get a product",
)
@from_replica
def get_product(request: Request, id_or_slug: ProductKey, asked: Query[schemas.SingleQuery]) -> HttpResponse:
    """A published product with its categories, variants and options. If it was found by a slug that it had before, the
    header `Content-Location` is its present address."""
    members = None if asked.fields is None else frozenset(asked.fields)
    answered = language_asked(request, request.shop, asked.locale)
    found = queries.product_json(request.shop, id_or_slug, language=answered.language, now=request.now, members=members)
    return _one(request, found, "products", answered)


@router.get(
    "/categories",
    response=answers({200: schemas.Categories, 304: None}, 422),
    auth=scope("read_products"),
    summary="List categories",
)
@from_replica
def list_categories(request: Request, asked: Query[schemas.CategoryQuery]) -> HttpResponse:
    """All active categories of the shop as one flat list, in tree order, without those below an inactive one."""
    answered = language_asked(request, request.shop, asked.locale)
    found = queries.categories_json(request.shop, language=answered.language, now=request.now)
    return _one(request, found, "categories", answered)


@router.get(
    "/categories/{id_or_slug}",
    response=answers({200: schemas.OneCategory, 304: None}, 404, 422),
    auth=scope("read_products"),
    summary="Get a category",
)
@from_replica
def get_category(request: Request, id_or_slug: CategoryKey, asked: Query[schemas.CategoryQuery]) -> HttpResponse:
    """An active category with its product count. One below an inactive category is not found. If it was found by a slug
    that it had before, the header `Content-Location` is its present address."""
    answered = language_asked(request, request.shop, asked.locale)
    found = queries.category_json(request.shop, id_or_slug, language=answered.language, now=request.now)
    return _one(request, found, "categories", answered)


def _one(request: Request, found: queries.Found | None, kind: str, answered: Answered) -> HttpResponse:
    """The data, with its present address if an old slug led to it (R-CAT-42). What is not public is not found, as if it
    had never existed (R-CAT-4)."""
    if found is None:
        raise NotFound
    response = revalidated_response(request, f'{{"data":{found.json}}}', until=found.until, headers=answered.headers)
    if found.moved_to is not None:
        address = f"{request.shop.base_url}/api/v1/{kind}/{quote(found.moved_to, safe='')}"
        response["Content-Location"] = address
    return response
