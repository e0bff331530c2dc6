"""Signing in with a password, with a limit on attempts (`shops/throttle.py`)."""

from django.http import HttpResponse
from django.views.decorators.debug import sensitive_variables

from storefront.customers import actions
from storefront.customers.models import Customer
from storefront.customers.queries import normal_email
from storefront.kit.callers import client_network
from storefront.shops import throttle
from storefront.shops.request import Request
from storefront.staff.known_browsers import known_browser, remember_browser


@sensitive_variables("password")
def customer_with_password(request: Request, *, email: str, password: str) -> Customer | None:
    """The customer with this email address and password; None if they do not match.

    Raises TooManyTries without checking the password.
    """
    account = _account(request, email)
    tried = throttle.begin_try(
        "shopper",
        account=account,
        place=client_network(request),
        browser=known_browser(request, account),
        now=request.now,
    )
    customer = actions.authenticate(shop=request.shop, email=email, password=password)
    if customer is not None:
        tried.succeed()
    return customer


def remember_browser_of(request: Request, response: HttpResponse, customer: Customer) -> HttpResponse:
    """Add a cookie to the response that makes this browser known to the account. Call it after a successful sign-in.

    Failed attempts from other browsers then no longer lock the customer out here.
    """
    remember_browser(request, response, _account(request, customer.email))
    return response


def _account(request: Request, email: str) -> str:
    # Named by email address, since attempts for an address that no customer has are counted in the same way.
    return f"shopper:{request.shop.pk}:{normal_email(email)}"
