"""The customers of `api.py` in the App API's format (R-APP-30)."""

from django.http import HttpResponse
from ninja import Query, Router

from storefront.customers import api, queries, schemas
from storefront.customers.api import CustomerId
from storefront.kit.app_pagination import pagination
from storefront.kit.conditional import record_response
from storefront.kit.http import json_response
from storefront.kit.schemas import answers
from storefront.shops.auth import app_scope
from storefront.shops.request import Request

router = Router(tags=["App: Customers"])


@router.get(
    "/customers",
    auth=app_scope("read_customers"),
    response=answers({200: schemas.CustomersOfApp}, 422),
    summary="List customers",
)
def list_customers_for_app(request: Request, asked: Query[schemas.CustomerQuery]) -> HttpResponse:
    """One page of the shop's customers, newest first."""
    records, total = queries.customer_page(request.shop, email=asked.email, start=asked.start, count=asked.per_page)
    position = pagination(total=total, **api.page_position(request, asked, "/api/apps/customers"))
    return json_response({"customers": records, "pagination": position})


@router.get(
    "/customers/{customer_id}",
    auth=app_scope("read_customers"),
    response=answers({200: schemas.CustomerOfApp, 304: None}, 404),
    summary="Get a customer",
)
def get_customer_for_app(request: Request, customer_id: CustomerId) -> HttpResponse:
    """A customer with all addresses."""
    return record_response(request, {"customer": api.read_record(request, customer_id)})


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
