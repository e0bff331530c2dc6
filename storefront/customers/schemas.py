"""Customers as they go over the wire, both ways. Answers are written by `queries.py`; these document them."""

import re
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from ninja import Field, Schema
from pydantic import AfterValidator

from storefront.customers.actions import MOST_ADDRESSES
from storefront.customers.queries import normal_email
from storefront.kit.app_pagination import PageQuery, Pagination
from storefront.kit.countries import countries
from storefront.kit.ids import LARGEST_ID
from storefront.kit.schemas import Envelope, IdAlone, Money, Timestamp

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_CONTROL_BUT_LINES = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def _one_line(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("must not hold line breaks or control characters")
    return text.strip()


def _lines(text: str) -> str:
    if _CONTROL_BUT_LINES.search(text):
        raise ValueError("must not hold control characters")
    return text


def _email(text: str) -> str:
    try:
        validate_email(normal_email(text))
    except ValidationError:
        raise ValueError("must be an e-mail address") from None
    return normal_email(text)


def _country(code: str) -> str:
    if code.upper() not in countries():
        raise ValueError("must be the ISO 3166 code of a country, such as DE")
    return code.upper()


def _text(longest: int, shortest: int = 0) -> Any:
    return Annotated[str, Field(strict=True, min_length=shortest, max_length=longest), AfterValidator(_one_line)]


Id = Annotated[int, Field(strict=True, ge=1, le=LARGEST_ID)]
Email = Annotated[str, Field(strict=True, max_length=254), AfterValidator(_email)]
Country = Annotated[str, Field(strict=True, max_length=2), AfterValidator(_country)]
Note = Annotated[str, Field(strict=True, max_length=10_000), AfterValidator(_lines)]


class CustomerQuery(PageQuery):
    """What a list of customers can be asked for."""

    email: Annotated[str, Field(max_length=254), AfterValidator(_one_line)] | None = Field(
        None, description="Only the customer with exactly this e-mail address, in any case."
    )


class AddressGiven(Schema):
    """An address to write into a customer's book."""

    id: Id | None = Field(None, description="The address that this one replaces; without it, it is a new one.")
    name: _text(200, 1) = Field(description="Who receives what is sent there.")  # type: ignore[valid-type]
    company: _text(200) = Field("", description="Company, if any.")  # type: ignore[valid-type]
    line1: _text(200, 1) = Field(description="Street and number.")  # type: ignore[valid-type]
    line2: _text(200) = Field("", description="Apartment, floor and the like.")  # type: ignore[valid-type]
    postal_code: _text(20) = Field("", description="Postal code, where the country has them.")  # type: ignore[valid-type]
    city: _text(100, 1) = Field(description="Town or city.")  # type: ignore[valid-type]
    region: _text(100) = Field("", description="State or region, if any.")  # type: ignore[valid-type]
    country: Country = Field(description="ISO 3166 code.", examples=["DE"])
    phone: _text(40) = Field("", description="For questions about a delivery.")  # type: ignore[valid-type]
    is_default: Annotated[bool, Field(strict=True)] = Field(
        False, description="Whether checkout begins with it. One of them is; the oldest where none is named."
    )


class CustomerGiven(Schema):
    """A new customer. A password is never sent here: customers choose their own, by a link that the shop mails."""

    email: Email = Field(description="Unique in the shop, ignoring case.", examples=["ada@example.com"])
    name: _text(200) = Field("", description="The whole name.")  # type: ignore[valid-type]
    phone: _text(40) = Field("", description="Phone number as it was given.")  # type: ignore[valid-type]
    note: Note = Field("", description="The merchant's own note; customers never see it.")
    group_id: Id | None = Field(None, description="The group whose prices apply; null for list prices.")
    addresses: list[AddressGiven] = Field([], max_length=MOST_ADDRESSES, description="The address book.")


class CustomerChange(Schema):
    """What to change of a customer. Members that are not sent stay as they are."""

    email: Email = Field("", description="Unique in the shop, ignoring case.", examples=["ada@example.com"])
    name: _text(200) = Field("", description="The whole name.")  # type: ignore[valid-type]
    phone: _text(40) = Field("", description="Phone number as it was given.")  # type: ignore[valid-type]
    note: Note = Field("", description="The merchant's own note; customers never see it.")
    group_id: Id | None = Field(None, description="The group whose prices apply; null for list prices.")
    addresses: list[AddressGiven] = Field(
        [], max_length=MOST_ADDRESSES, description="The whole address book: what is not in it is deleted."
    )


class GroupOfCustomer(Schema):
    """The group whose prices the customer pays."""

    id: int = Field(description="The group's number.")
    name: str = Field(description="The group's name.")


class AddressRecord(Schema):
    """An address of a customer."""

    id: int = Field(description="The address's number.")
    name: str = Field(description="Who receives what is sent there.")
    company: str = Field(description="Company; may be empty.")
    line1: str = Field(description="Street and number.")
    line2: str = Field(description="Apartment, floor and the like; may be empty.")
    postal_code: str = Field(description="Postal code; may be empty.")
    city: str = Field(description="Town or city.")
    region: str = Field(description="State or region; may be empty.")
    country: str = Field(description="ISO 3166 code.", examples=["DE"])
    phone: str = Field(description="Phone number; may be empty.")
    is_default: bool = Field(description="Whether checkout begins with it.")


class CustomerRecord(Schema):
    """A customer as the list shows it."""

    id: int = Field(description="The customer's number.")
    email: str = Field(description="The e-mail address, in lower case.")
    name: str = Field(description="The whole name; may be empty.")
    phone: str = Field(description="Phone number; may be empty.")
    group: GroupOfCustomer | None = Field(description="The group whose prices apply.")
    note: str = Field(description="The merchant's own note.")
    orders_count: int = Field(description="Orders that were not cancelled.")
    total_spent: Money = Field(description="The sum of those of them that are paid, less refunds.")
    created_at: Timestamp = Field(description="When the shop came to know them.")
    updated_at: Timestamp = Field(description="When something about them last changed.")


class WholeCustomer(CustomerRecord):
    """A customer as the single read shows it."""

    addresses: list[AddressRecord] = Field(description="The address book, the default one first.")


class CustomerPage(Envelope):
    """One page of customers."""

    data: list[CustomerRecord] = Field(description="The customers, newest first.")


class OneCustomer(Schema):
    """One customer."""

    data: WholeCustomer = Field(description="The customer.")


class ChangedCustomer(Schema):
    """The customer as it is now."""

    data: WholeCustomer | IdAlone = Field(description="The customer; its id alone without `read_customers`.")


class CustomersOfApp(Schema):
    """One page of customers."""

    customers: list[CustomerRecord] = Field(description="The customers, newest first.")
    pagination: Pagination = Field(description="Where this page stands.")


class CustomerOfApp(Schema):
    """One customer."""

    customer: WholeCustomer = Field(description="The customer.")


class ChangedCustomerOfApp(Schema):
    """The customer as it is now."""

    customer: WholeCustomer | IdAlone = Field(description="The customer; its id alone without `read_customers`.")
