"""Customers in API requests and responses. `queries.py` builds the responses; the schemas here document them."""

import re
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from ninja import Field, Schema
from pydantic import AfterValidator

from storefront.customers.actions import MAX_ADDRESSES
from storefront.customers.queries import normal_email
from storefront.kit.api.app_pagination import Pagination
from storefront.kit.api.members import choice, chosen, names_of
from storefront.kit.api.schemas import Change, Envelope, Id, IdAlone, ListedChange, Money, Timestamp
from storefront.kit.countries import countries
from storefront.kit.names import has_address, has_invisible_characters
from storefront.sync import schemas as sync

_CONTROL_BUT_LINES = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def _one_line(text: str) -> str:
    if has_invisible_characters(text):
        raise ValueError("must not contain line breaks or control characters")
    return text.strip()


def _persons_name(text: str) -> str:
    if has_address(text):
        raise ValueError("must not contain an email or web address; put a space after each full stop")
    return text


def _many_lines(text: str) -> str:
    if _CONTROL_BUT_LINES.search(text):
        raise ValueError("must not contain control characters")
    return text


def _email(text: str) -> str:
    try:
        validate_email(normal_email(text))
    except ValidationError:
        raise ValueError("must be an email address") from None
    return normal_email(text)


def _country(code: str) -> str:
    if code.upper() not in countries():
        raise ValueError("must be an ISO 3166 country code, such as DE")
    return code.upper()


def _text(max_length: int, min_length: int = 0) -> Any:
    return Annotated[str, Field(strict=True, min_length=min_length, max_length=max_length), AfterValidator(_one_line)]


def _name(min_length: int = 0) -> Any:
    return Annotated[_text(200, min_length), AfterValidator(_persons_name)]


Email = Annotated[str, Field(strict=True, max_length=254), AfterValidator(_email)]
Country = Annotated[str, Field(strict=True, max_length=2), AfterValidator(_country)]
Note = Annotated[str, Field(strict=True, max_length=10_000), AfterValidator(_many_lines)]


class AddressGiven(Schema):
    """An address of a new customer."""

    name: _name(1) = Field(description="The recipient's name.")  # type: ignore[valid-type]
    company: _text(200) = Field("", description="Company, if any.")  # type: ignore[valid-type]
    line1: _text(200, 1) = Field(description="Street and house number.")  # type: ignore[valid-type]
    line2: _text(200) = Field("", description="Apartment, floor, etc.")  # type: ignore[valid-type]
    postal_code: _text(20) = Field("", description="Postal code, if the country has postal codes.")  # type: ignore[valid-type]
    city: _text(100, 1) = Field(description="Town or city.")  # type: ignore[valid-type]
    region: _text(100) = Field("", description="State or region, if any.")  # type: ignore[valid-type]
    country: Country = Field(description="ISO 3166 code.", examples=["DE"])
    phone: _text(40) = Field("", description="For questions about a delivery.")  # type: ignore[valid-type]
    is_default: Annotated[bool, Field(strict=True)] = Field(
        False,
        description="Whether it is the default address for checkout. If none is marked, the oldest is the default.",
    )


class AddressChange(AddressGiven, ListedChange):
    """An address to add, update or remove. A new address needs `name`, `line1`, `city` and `country`."""

    name: _name(1) = Field("", description="The recipient's name.")  # type: ignore[valid-type]
    line1: _text(200, 1) = Field("", description="Street and house number.")  # type: ignore[valid-type]
    city: _text(100, 1) = Field("", description="Town or city.")  # type: ignore[valid-type]
    country: Country = Field("", description="ISO 3166 code.", examples=["DE"])


class CustomerGiven(Schema):
    """A new customer, without a password: customers set their own with a link that the shop emails."""

    email: Email = Field(description="Unique in the shop, ignoring case.", examples=["ada@example.com"])
    name: _name() = Field("", description="The customer's full name.")  # type: ignore[valid-type]
    phone: _text(40) = Field("", description="Phone number.")  # type: ignore[valid-type]
    note: Note = Field("", description="Internal note. Customers do not see it.")
    group_id: Id | None = Field(None, description="Id of the customer group; null if none.")
    addresses: list[AddressGiven] = Field([], max_length=MAX_ADDRESSES, description="The addresses.")


class CustomerChange(CustomerGiven, Change):
    """Changes of a customer. Members that are not sent do not change."""

    email: Email = Field(
        "",
        description=(
            "Unique in the shop, ignoring case. If the customer has a password, a new address is stored as "
            "`pending_email` until the customer confirms it. Send the current `email` to cancel the change."
        ),
        examples=["ada@example.com"],
    )
    addresses: list[AddressChange] = Field(  # type: ignore[assignment]
        [],
        max_length=MAX_ADDRESSES,
        description="Addresses to add, update or remove. Addresses that are not sent stay.",
    )


class GroupOfCustomer(Schema):
    """The customer's group, whose prices apply."""

    id: int = Field(description="The group's id.")
    name: str = Field(description="The group's name.")


class AddressRecord(Schema):
    """An address of a customer."""

    id: int = Field(description="The address's id.")
    name: str = Field(description="The recipient's name.")
    company: str = Field(description="Company; may be empty.")
    line1: str = Field(description="Street and house number.")
    line2: str = Field(description="Apartment, floor, etc.; may be empty.")
    postal_code: str = Field(description="Postal code; may be empty.")
    city: str = Field(description="Town or city.")
    region: str = Field(description="State or region; may be empty.")
    country: str = Field(description="ISO 3166 code.", examples=["DE"])
    phone: str = Field(description="Phone number; may be empty.")
    is_default: bool = Field(description="Whether it is the default address for checkout.")


class CustomerRecord(Schema):
    """A customer in a list."""

    id: int = Field(description="The customer's id.")
    email: str = Field(description="The email address, in lowercase.")
    pending_email: str | None = Field(
        description="New email address that the customer has not confirmed yet; null if none."
    )
    name: str = Field(description="The customer's full name; may be empty.")
    phone: str = Field(description="Phone number; may be empty.")
    group: GroupOfCustomer | None = Field(description="The customer group; null if none.")
    note: str = Field(description="Internal note. Customers do not see it.")
    orders_count: int = Field(description="Number of orders that were not cancelled.")
    total_spent: Money = Field(description="Total of paid orders, less refunds.")
    created_at: Timestamp = Field(description="When the customer was created.")
    updated_at: Timestamp = Field(description="When the customer was last changed.")


class WholeCustomer(CustomerRecord):
    """A single customer with all addresses."""

    addresses: list[AddressRecord] = Field(description="The addresses, the default one first.")


LISTED = names_of(CustomerRecord)
# Members that only the single read shows unless they are included.
INCLUDED = ("addresses",)
FIELDS = (*LISTED, *INCLUDED)


class CustomerQuery(sync.CopyQuery):
    """Filters for the list of customers."""

    email: Annotated[str, Field(max_length=254), AfterValidator(_one_line)] | None = Field(
        None, description="Only the customer with this email address, ignoring case."
    )
    fields: choice(FIELDS) | None = Field(None, description=sync.FIELDS)  # type: ignore[valid-type]
    include: choice(INCLUDED) | None = Field(None, description=sync.INCLUDE)  # type: ignore[valid-type]

    @property
    def members(self) -> frozenset[str] | None:
        """The members to show; None: those that lists show."""
        return chosen(LISTED, self.fields, self.include)


class SingleCustomerQuery(Schema):
    """What a single customer shows."""

    fields: choice(FIELDS) | None = Field(None, description=sync.FIELDS)  # type: ignore[valid-type]


class CustomerPage(Envelope):
    """One page of customers."""

    data: list[CustomerRecord] = Field(description="The customers, newest first.")
    deleted: list[sync.Deleted] | None = Field(None, description=sync.DELETED)


class CustomerRun(Schema):
    """An answer to `after`."""

    data: list[CustomerRecord] = Field(description="The customers as they are now.")
    deleted: list[sync.Deleted] = Field(description=sync.DELETED_OF_RUN)
    next: str = Field(description=sync.NEXT)


class OneCustomer(Schema):
    """One customer."""

    data: WholeCustomer = Field(description="The customer.")


class ChangedCustomer(Schema):
    """The customer after the change."""

    data: WholeCustomer | IdAlone = Field(description="The customer. Only the id without the scope `read_customers`.")


class CustomersOfApp(Schema):
    """One page of customers."""

    customers: list[CustomerRecord] = Field(description="The customers, newest first.")
    pagination: Pagination = Field(description="Position of this page in the list.")
    deleted: list[sync.Deleted] | None = Field(None, description=sync.DELETED)


class CustomerRunOfApp(Schema):
    """An answer to `after`."""

    customers: list[CustomerRecord] = Field(description="The customers as they are now.")
    deleted: list[sync.Deleted] = Field(description=sync.DELETED_OF_RUN)
    next: str = Field(description=sync.NEXT)


class CustomerOfApp(Schema):
    """One customer."""

    customer: WholeCustomer = Field(description="The customer.")


class ChangedCustomerOfApp(Schema):
    """The customer after the change."""

    customer: WholeCustomer | IdAlone = Field(
        description="The customer. Only the id without the scope `read_customers`."
    )
