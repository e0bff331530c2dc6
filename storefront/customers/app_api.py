"""The customers of `api.py` in the App API's format (R-APP-30)."""

from django.http import HttpResponse
from ninja import Query, Router

from storefront.customers import api, schemas
from storefront.customers.api import CustomerId
from storefront.customers.copying import Customers
from storefront.kit.api.app_pagination import pagination
from storefront.kit.api.conditional import record_response
from storefront.kit.api.http import json_response
from storefront.kit.api.schemas import answers
from storefront.shops.auth import app_scope
from storefront.shops.request import Request
from storefront.sync.answers import answer_run, deleted_of_app

router = Router(tags=["App: Customers"])


@router.get(
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
    records, total = api.list_records(request, asked)
    deleted, deleted_total = deleted_of_app(source, asked, now=request.now)
    position = api.page_position(request, asked, "/api/apps/customers")
    where = pagination(total=total, **position, deleted_total=deleted_total)
    return json_response({"customers": records, "pagination": where} | deleted)


@router.get(
    "/customers/{customer_id}",
    auth=app_scope("read_customers"),
    response=answers({200: schemas.CustomerOfApp, 304: None}, 404, 422),
    summary="Get a customer",
)
def get_customer_for_app(
    request: Request, customer_id: CustomerId, asked: Query[schemas.SingleCustomerQuery]
) -> HttpResponse:
    """A customer with all addresses."""
    return record_response(request, {"customer": api.read_record(request, customer_id, asked.fields)})


@router.post(
    "/customers",
    auth=app_scope("write_customers"),
    response=answers({201: schemas.ChangedCustomerOfApp}, 400, 409, 413, 415, 422),
    summary="Create a customer",
)
def create_customer_for_app(request: Request, body: schemas.CustomerGiven) -> HttpResponse:
    """Create a customer. The customer can then set a password with a link that the shop emails."""
    return json_response({"customer": api.create(request, body)}, status=201)


@router.patch(
    "/customers/{customer_id}",
    auth=app_scope("write_customers"),
    response=answers({200: schemas.ChangedCustomerOfApp}, 400, 404, 412, 413, 415, 422),
    summary="Update a customer",
)
def update_customer_for_app(request: Request, customer_id: CustomerId, body: schemas.CustomerChange) -> HttpResponse:
    """Update the members that are sent."""
    return api.update(request, customer_id, body, member="customer")
