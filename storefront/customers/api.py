"""Customers in `/api/v1` and, for apps, in the App API (R-APP-30)."""

from collections.abc import Collection
from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Path, Query, Router

from storefront.customers import actions, queries, schemas
from storefront.customers.copying import Customers
from storefront.customers.models import Customer
from storefront.kit.api.app_pagination import pagination
from storefront.kit.api.conditional import only_if_match, record_response
from storefront.kit.api.http import json_response
from storefront.kit.api.members import only
from storefront.kit.api.pagination import page_response
from storefront.kit.api.schemas import PathId, answers
from storefront.kit.ids import as_id
from storefront.kit.refusals import NotFound
from storefront.shops.auth import app_scope, scope
from storefront.shops.request import Request, record_or_id, written_response
from storefront.sync.answers import answer_run, deleted_beside, deleted_of_app

router, app_router = Router(tags=["Customers"]), Router(tags=["App: Customers"])

PAGE_PARAMETERS = ("email", "updated_since", "ids", "fields", "include", "per_page")

CustomerId = Annotated[PathId, Path(description="The customer's id.", examples=[12])]


@router.get(
    "/customers",
    auth=scope("read_customers"),
    response=answers({200: schemas.CustomerPage | schemas.CustomerRun}, 422),
    summary="List customers",
)
def list_customers(request: Request, asked: Query[schemas.CustomerQuery]) -> HttpResponse:
    """One page of the shop's customers, newest first; with `after`, the next part of a copy of the list."""
    source = Customers(request.shop, asked.members)
    if asked.after is not None:
        return answer_run(request, source, asked)
    records, total = list_records(request, asked)
    where = page_position(request, asked, "/api/v1/customers") | deleted_beside(source, asked, now=request.now)
    return page_response(records, total=total, **where)


@router.get(
    "/customers/{customer_id}",
    auth=scope("read_customers"),
    response=answers({200: schemas.OneCustomer, 304: None}, 404, 422),
    summary="Get a customer",
)
def get_customer(request: Request, customer_id: CustomerId, asked: Query[schemas.SingleCustomerQuery]) -> HttpResponse:
    """A customer with all addresses."""
    return record_response(request, {"data": read_record(request, customer_id, asked.fields)})


@router.post(
    "/customers",
    auth=scope("write_customers"),
    response=answers({201: schemas.ChangedCustomer}, 400, 409, 413, 415, 422),
    summary="Create a customer",
)
def create_customer(request: Request, body: schemas.CustomerGiven) -> HttpResponse:
    """Create a customer. The customer can then set a password with a link that the shop emails."""
    return json_response({"data": create(request, body)}, status=201)


@router.patch(
    "/customers/{customer_id}",
    auth=scope("write_customers"),
    response=answers({200: schemas.ChangedCustomer}, 400, 404, 412, 413, 415, 422),
    summary="Update a customer",
)
def update_customer(request: Request, customer_id: CustomerId, body: schemas.CustomerChange) -> HttpResponse:
    """Update the members that are sent."""
    return update(request, customer_id, body, member="data")


@app_router.get(
    "/customers",
    auth=app_scope("read_customers"),
    response=answers({200: schemas.CustomersOfApp | schemas.CustomerRunOfApp}, 422),
    summary="List customers",
)
def list_customers_for_app(request: Request, asked: Query[schemas.CustomerQuery]) -> HttpResponse:
    """One page of the shop's customers, newest first; with `after`, the next part of a copy of the list."""
    source = Customers(request.shop, asked.members)
    if asked.after is not None:
        return answer_run(request, source, asked, "customers")
    records, total = list_records(request, asked)
    deleted, deleted_total = deleted_of_app(source, asked, now=request.now)
    position = page_position(request, asked, "/api/apps/customers")
    where = pagination(total=total, **position, deleted_total=deleted_total)
    return json_response({"customers": records, "pagination": where} | deleted)


@app_router.get(
    "/customers/{customer_id}",
    auth=app_scope("read_customers"),
    response=answers({200: schemas.CustomerOfApp, 304: None}, 404, 422),
    summary="Get a customer",
)
def get_customer_for_app(
    request: Request, customer_id: CustomerId, asked: Query[schemas.SingleCustomerQuery]
) -> HttpResponse:
    """A customer with all addresses."""
    return record_response(request, {"customer": read_record(request, customer_id, asked.fields)})


@app_router.post(
    "/customers",
    auth=app_scope("write_customers"),
    response=answers({201: schemas.ChangedCustomerOfApp}, 400, 409, 413, 415, 422),
    summary="Create a customer",
)
def create_customer_for_app(request: Request, body: schemas.CustomerGiven) -> HttpResponse:
    """Create a customer. The customer can then set a password with a link that the shop emails."""
    return json_response({"customer": create(request, body)}, status=201)


@app_router.patch(
    "/customers/{customer_id}",
    auth=app_scope("write_customers"),
    response=answers({200: schemas.ChangedCustomerOfApp}, 400, 404, 412, 413, 415, 422),
    summary="Update a customer",
)
def update_customer_for_app(request: Request, customer_id: CustomerId, body: schemas.CustomerChange) -> HttpResponse:
    """Update the members that are sent."""
    return update(request, customer_id, body, member="customer")


def list_records(request: Request, asked: schemas.CustomerQuery) -> tuple[list[dict[str, Any]], int]:
    return queries.customer_page(
        request.shop,
        email=asked.email,
        updated_since=asked.updated_since,
        ids=asked.ids,
        members=asked.members,
        start=asked.start,
        count=asked.per_page,
    )


def page_position(request: Request, asked: schemas.CustomerQuery, path: str) -> dict[str, Any]:
    """Arguments for the pagination of both APIs: page, size, URL of the list, and the filters to repeat in links."""
    given = [(name, request.GET[name]) for name in PAGE_PARAMETERS if name in request.GET]
    return {"page": asked.page, "per_page": asked.per_page, "path": request.shop.base_url + path, "given": given}


def read_record(request: Request, customer_id: str, fields: Collection[str] | None = None) -> dict[str, Any]:
    """The record of a customer. Raises NotFound."""
    customer = queries.customer_by_id(request.shop, as_id(customer_id))
    if customer is None:
        raise NotFound
    return only(queries.customer_record(request.shop, customer), fields)


def create(request: Request, body: schemas.CustomerGiven) -> dict[str, Any]:
    customer = actions.create_customer(shop=request.shop, now=request.now, **body.model_dump())
    return record_or_id(request, queries.customer_record(request.shop, customer), reading="read_customers")


def update(request: Request, customer_id: str, body: schemas.CustomerChange, *, member: str) -> HttpResponse:
    id, changes = as_id(customer_id) or 0, body.model_dump(exclude_unset=True)
    addresses = changes.pop("addresses", None)
    row = Customer.objects.filter(shop=request.shop, pk=id)
    with only_if_match(request, lambda: {member: read_record(request, customer_id)}, row):
        customer = actions.update_customer(
            shop=request.shop, customer_id=id, now=request.now, changes=changes, addresses=addresses
        )
    record = queries.customer_record(request.shop, customer)
    return written_response(request, member, record, reading="read_customers")
