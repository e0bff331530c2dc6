from typing import Annotated, Any

from django.http import HttpResponse
from ninja import Path, Query, Router

from storefront.customers import actions, queries, schemas
from storefront.customers.models import Customer
from storefront.kit.http import json_response
from storefront.kit.ids import as_id
from storefront.kit.pagination import page_response
from storefront.kit.refusals import NotFound
from storefront.kit.schemas import answers
from storefront.shops.auth import scope
from storefront.shops.request import Request

router = Router(tags=["Customers"])

KEPT = ("email", "per_page")

CustomerId = Annotated[str, Path(description="The customer's number.", examples=["12"])]


@router.get(
    "/customers",
    auth=scope("read_customers"),
    response=answers({200: schemas.CustomerPage}, 422),
    summary="List customers",
)
def list_customers(request: Request, asked: Query[schemas.CustomerQuery]) -> HttpResponse:
    """One page of the shop's customers, newest first."""
    records, total = queries.customer_page(request.shop, email=asked.email, start=asked.start, count=asked.per_page)
    return page_response(records, total=total, **place(request, asked, "/api/v1/customers"))


@router.get(
    "/customers/{customer_id}",
    auth=scope("read_customers"),
    response=answers({200: schemas.OneCustomer}, 404),
    summary="Read one customer",
)
def read_customer(request: Request, customer_id: CustomerId) -> HttpResponse:
    """One customer with the address book."""
    return json_response({"data": read(request, customer_id)})


@router.post(
    "/customers",
    auth=scope("write_customers"),
    response=answers({201: schemas.ChangedCustomer}, 400, 409, 413, 415, 422),
    summary="Make a customer",
)
def make_customer(request: Request, body: schemas.CustomerGiven) -> HttpResponse:
    """Make a customer who can then choose a password by a link that the shop mails."""
    return json_response({"data": make(request, body)}, status=201)


@router.patch(
    "/customers/{customer_id}",
    auth=scope("write_customers"),
    response=answers({200: schemas.ChangedCustomer}, 400, 404, 413, 415, 422),
    summary="Change a customer",
)
def change_customer(request: Request, customer_id: CustomerId, body: schemas.CustomerChange) -> HttpResponse:
    """Change the members that are sent."""
    return json_response({"data": change(request, customer_id, body)})


def place(request: Request, asked: schemas.CustomerQuery, path: str) -> dict[str, Any]:
    """Where a page stands, as both forms of the list need it."""
    given = [(name, request.GET[name]) for name in KEPT if name in request.GET]
    return {"page": asked.page, "per_page": asked.per_page, "path": request.shop.base_url + path, "given": given}


def read(request: Request, customer_id: str) -> dict[str, Any]:
    customer = queries.customer_by_id(request.shop, as_id(customer_id))
    if customer is None:
        raise NotFound
    return queries.customer_record(request.shop, customer)


def make(request: Request, body: schemas.CustomerGiven) -> dict[str, Any]:
    return _told(request, actions.create_customer(shop=request.shop, now=request.now, **body.model_dump()))


def change(request: Request, customer_id: str, body: schemas.CustomerChange) -> dict[str, Any]:
    changes = body.model_dump(exclude_unset=True)
    addresses = changes.pop("addresses", None)
    customer = actions.update_customer(
        shop=request.shop, customer_id=as_id(customer_id) or 0, now=request.now, changes=changes, addresses=addresses
    )
    return _told(request, customer)


def _told(request: Request, customer: Customer) -> dict[str, Any]:
    return request.caller.told(queries.customer_record(request.shop, customer), reading="read_customers")
