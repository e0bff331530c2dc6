"""The same resource in the App API's form (decisions: Shop data endpoints)."""

from django.http import HttpResponse
from ninja import Query, Router

from storefront.customers import api, queries, schemas
from storefront.customers.api import CustomerId
from storefront.kit.app_pagination import pagination
from storefront.kit.http import json_response
from storefront.kit.schemas import answers
from storefront.shops.auth import app_scope
from storefront.shops.request import Request

router = Router(tags=["App"])


@router.get(
    "/customers",
    auth=app_scope("read_customers"),
    response=answers({200: schemas.CustomersOfApp}, 422),
    summary="List customers",
)
def list_customers_for_app(request: Request, asked: Query[schemas.CustomerQuery]) -> HttpResponse:
    """One page of the shop's customers, newest first."""
    records, total = queries.customer_page(request.shop, email=asked.email, start=asked.start, count=asked.per_page)
    where = pagination(total=total, **api.place(request, asked, "/api/apps/customers"))
    return json_response({"customers": records, "pagination": where})


@router.get(
    "/customers/{customer_id}",
    auth=app_scope("read_customers"),
    response=answers({200: schemas.CustomerOfApp}, 404),
    summary="Read one customer",
)
def read_customer_for_app(request: Request, customer_id: CustomerId) -> HttpResponse:
    """One customer with the address book."""
    return json_response({"customer": api.read(request, customer_id)})


@router.post(
    "/customers",
    auth=app_scope("write_customers"),
    response=answers({201: schemas.ChangedCustomerOfApp}, 400, 409, 413, 415, 422),
    summary="Make a customer",
)
def make_customer_for_app(request: Request, body: schemas.CustomerGiven) -> HttpResponse:
    """Make a customer who can then choose a password by a link that the shop mails."""
    return json_response({"customer": api.make(request, body)}, status=201)


@router.patch(
    "/customers/{customer_id}",
    auth=app_scope("write_customers"),
    response=answers({200: schemas.ChangedCustomerOfApp}, 400, 404, 413, 415, 422),
    summary="Change a customer",
)
def change_customer_for_app(request: Request, customer_id: CustomerId, body: schemas.CustomerChange) -> HttpResponse:
    """Change the members that are sent."""
    return json_response({"customer": api.change(request, customer_id, body)})
