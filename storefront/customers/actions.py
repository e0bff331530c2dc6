from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.views.decorators.debug import sensitive_variables

from storefront.customers import queries
from storefront.customers.links import LinkRefused, Proof, mark_of
from storefront.customers.models import Address, Customer, CustomerGroup
from storefront.kit.ids import LARGEST_ID
from storefront.kit.refusals import InvalidFields, NotFound
from storefront.shops.models import Shop
from storefront.webhooks.actions import record_event

MOST_ADDRESSES = 50
_WRITTEN = (*queries.ADDRESS_FIELDS, "is_default")
TAKEN = "Another customer has this e-mail address."


@transaction.atomic
def create_customer(
    *,
    shop: Shop,
    now: datetime,
    email: str,
    name: str = "",
    phone: str = "",
    note: str = "",
    group_id: int | None = None,
    addresses: Sequence[Mapping[str, Any]] = (),
) -> Customer:
    """A customer who cannot sign in yet: that takes a password, which the mail to their address lets them choose.

    Raises InvalidFields, also where somebody else makes the same customer at the same moment.
    """
    customer = Customer(
        shop=shop,
        email=queries.normal_email(email),
        name=name,
        phone=phone,
        note=note,
        group=_group(shop, group_id),
        created_at=now,
    )
    _save(customer, now)
    if addresses:
        _replace_addresses(shop, customer, addresses)
    record_created(shop=shop, customer=customer, now=now)
    return customer


@transaction.atomic
def update_customer(
    *,
    shop: Shop,
    customer_id: int,
    now: datetime,
    changes: Mapping[str, Any],
    addresses: Sequence[Mapping[str, Any]] | None = None,
) -> Customer:
    """Change what `changes` names: email, name, phone, note, group_id. `addresses`, if given, are all there are then.

    An address with an `id` is the one that stands, changed. Raises NotFound and InvalidFields.
    """
    customer = _locked(shop, customer_id)
    for field, value in changes.items():
        if field == "group_id":
            customer.group = _group(shop, value)
        else:
            setattr(customer, field, queries.normal_email(value) if field == "email" else value)
    _save(customer, now)
    if addresses is not None:
        _replace_addresses(shop, customer, addresses)
    record_updated(shop=shop, customer=customer, now=now)
    return customer


@transaction.atomic
def save_address(
    *, shop: Shop, customer: Customer, address_id: int | None, now: datetime, fields: Mapping[str, Any]
) -> Address:
    """Write an address into the customer's book, or change one of them. The first one is the default one.

    Raises NotFound, and InvalidFields where the book is full.
    """
    customer = _locked(shop, customer.pk)
    book = Address.objects.filter(shop=shop, customer=customer)
    address = book.filter(pk=address_id).first() if address_id else Address(shop=shop, customer=customer)
    if address is None:
        raise NotFound
    if address.pk is None and book.count() >= MOST_ADDRESSES:
        raise InvalidFields(errors={"addresses": [f"An address book holds at most {MOST_ADDRESSES} addresses."]})
    for field in _WRITTEN:
        if field in fields:
            setattr(address, field, fields[field])
    if address.is_default:
        book.exclude(pk=address.pk).update(is_default=False)
    address.save()
    _keep_a_default(shop, customer)
    _touch(shop, customer, now)
    address.refresh_from_db(fields=["is_default"])
    return address


@transaction.atomic
def delete_address(*, shop: Shop, customer: Customer, address_id: int, now: datetime) -> None:
    """Take an address out of the book. Raises NotFound."""
    customer = _locked(shop, customer.pk)
    if not Address.objects.filter(shop=shop, customer=customer, pk=address_id).delete()[0]:
        raise NotFound
    _keep_a_default(shop, customer)
    _touch(shop, customer, now)


@sensitive_variables("password")
def authenticate(*, shop: Shop, email: str, password: str) -> Customer | None:
    """The customer with this e-mail address and password. Takes as long for an address that nobody has."""
    customer = queries.customer_by_email(shop, email)
    # The hasher runs whatever it is given, so that the time taken tells nothing.
    right = check_password(password, customer.password if customer else "", _rehash(shop, customer))
    return customer if right else None


@sensitive_variables("password")
def choose_password(*, shop: Shop, proof: Proof, password: str, name: str = "", now: datetime) -> Customer:
    """Give whoever followed a mailed link this password; who was no customer yet becomes one.

    Ends their sessions and makes every link sent before worthless. `name` is for whom the shop knows none of. Raises
    LinkRefused, and InvalidFields for a password that is too easy.
    """
    check_strength(password, email=proof.email, name=name)
    encoded = make_password(password)
    with transaction.atomic():
        customer = Customer.objects.select_for_update().filter(shop=shop, email=proof.email).first()
        if proof.customer_id is not None or mark_of(customer) != proof.mark or proof.expires < now.timestamp():
            raise LinkRefused
        is_new = customer is None
        customer = customer or Customer(shop=shop, email=proof.email, created_at=now)
        customer.password, customer.session_mark = encoded, uuid4()
        tells_name = bool(name) and not customer.name
        customer.name = customer.name or name
        try:
            _save(customer, now)
        except InvalidFields:
            # Somebody became this customer since it was read.
            raise LinkRefused from None
        if is_new:
            record_created(shop=shop, customer=customer, now=now)
        elif tells_name:
            record_updated(shop=shop, customer=customer, now=now)
    return customer


@sensitive_variables("password")
def change_password(*, shop: Shop, customer: Customer, password: str, now: datetime) -> Customer:
    """A new password, which ends the customer's sessions. Raises InvalidFields for one that is too easy."""
    check_strength(password, email=customer.email, name=customer.name)
    encoded = make_password(password)
    with transaction.atomic():
        customer = _locked(shop, customer.pk)
        customer.password, customer.session_mark = encoded, uuid4()
        _save(customer, now)
    return customer


@transaction.atomic
def change_email(*, shop: Shop, proof: Proof, now: datetime) -> tuple[Customer, str]:
    """Give a customer the e-mail address that they have proven to be theirs; the customer, and the old address.

    Raises LinkRefused, and InvalidFields where somebody else has the address by now.
    """
    customer = Customer.objects.select_for_update().filter(shop=shop, pk=proof.customer_id or 0).first()
    if customer is None or mark_of(customer) != proof.mark or proof.expires < now.timestamp():
        raise LinkRefused
    old, customer.email = customer.email, proof.email
    _save(customer, now)
    record_updated(shop=shop, customer=customer, now=now)
    return customer, old


@sensitive_variables("password")
def check_strength(password: str, *, email: str, name: str = "") -> None:
    """Raises InvalidFields for a password that is short, common, or too much like the customer's own data."""
    try:
        validate_password(password, Customer(email=email, name=name))  # type: ignore[arg-type]
    except ValidationError as error:
        raise InvalidFields(errors={"password": error.messages}) from None


def record_created(*, shop: Shop, customer: Customer, now: datetime) -> None:
    """Tell of a new customer. Call it inside the transaction that makes them."""
    record_event(shop=shop, topic="customer.created", data=queries.customer_record(shop, customer), now=now)


def record_updated(*, shop: Shop, customer: Customer, now: datetime) -> None:
    record_event(shop=shop, topic="customer.updated", data=queries.customer_record(shop, customer), now=now)


def _locked(shop: Shop, customer_id: int) -> Customer:
    customer = Customer.objects.select_for_update(of=("self",)).select_related("group")
    found = customer.filter(shop=shop, pk=customer_id).first()
    if found is None:
        raise NotFound
    return found


def _group(shop: Shop, group_id: int | None) -> CustomerGroup | None:
    if group_id is None:
        return None
    group = CustomerGroup.objects.filter(shop=shop, pk=group_id).first()
    if group is None:
        raise InvalidFields(errors={"group_id": ["There is no such customer group."]})
    return group


def _save(customer: Customer, now: datetime) -> None:
    customer.updated_at = now
    try:
        with transaction.atomic():
            customer.save()
    except IntegrityError:
        raise InvalidFields(errors={"email": [TAKEN]}) from None


def _touch(shop: Shop, customer: Customer, now: datetime) -> None:
    customer.updated_at = now
    customer.save(update_fields=["updated_at"])
    record_updated(shop=shop, customer=customer, now=now)


def _replace_addresses(shop: Shop, customer: Customer, given: Sequence[Mapping[str, Any]]) -> None:
    book = {address.pk: address for address in Address.objects.filter(shop=shop, customer=customer)}
    kept = [fields["id"] for fields in given if fields.get("id") is not None]
    if len(set(kept)) < len(kept) or not book.keys() >= set(kept):
        raise InvalidFields(errors={"addresses": ["An id names no address of this customer, or one of them twice."]})
    if sum(bool(fields.get("is_default")) for fields in given) > 1:
        raise InvalidFields(errors={"addresses": ["Only one address can be the default one."]})
    addresses = [
        _filled(book.get(fields.get("id") or 0) or Address(shop=shop, customer=customer), fields) for fields in given
    ]
    if addresses and not any(address.is_default for address in addresses):
        min(addresses, key=lambda address: address.pk or LARGEST_ID).is_default = True
    rows = Address.objects.filter(shop=shop, customer=customer)
    rows.exclude(pk__in=kept).delete()
    # First none is the default one, since there may never be two of them.
    rows.update(is_default=False)
    Address.objects.bulk_update([address for address in addresses if address.pk], _WRITTEN)
    Address.objects.bulk_create([address for address in addresses if address.pk is None])


def _filled(address: Address, fields: Mapping[str, Any]) -> Address:
    for field in _WRITTEN:
        setattr(address, field, fields.get(field, False if field == "is_default" else ""))
    return address


def _keep_a_default(shop: Shop, customer: Customer) -> None:
    """The oldest address is the default one where no other is."""
    book = Address.objects.filter(shop=shop, customer=customer)
    if not book.filter(is_default=True).exists():
        oldest = book.order_by("pk").first()
        if oldest:
            book.filter(pk=oldest.pk).update(is_default=True)


def _rehash(shop: Shop, customer: Customer | None) -> Any:
    """Keeps the password under today's hasher, where it was kept under an older one; sessions go on."""

    def keep(password: str) -> None:
        if customer is not None:
            Customer.objects.filter(shop=shop, pk=customer.pk).update(password=make_password(password))

    return keep
