from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from storefront import audit
from storefront.audit.values import column_values, without_empty
from storefront.customers import jobs, queries
from storefront.customers.links import LinkRefused, Proof, is_valid_proof_for
from storefront.customers.models import Address, Customer, CustomerGroup
from storefront.kit.refusals import InvalidFields, NotFound
from storefront.shops.mail import in_language
from storefront.shops.models import Shop
from storefront.shops.spoken import spoken_language
from storefront.webhooks.actions import record_event

MAX_ADDRESSES = 50
_WRITTEN = (*queries.ADDRESS_FIELDS, "is_default")
_REQUIRED = ("name", "line1", "city", "country")
TAKEN = "Another customer already has this email address."


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
    """Create a customer without a password. The customer chooses one with a link that the shop emails.

    Raises InvalidFields, also if another request creates the same customer at the same moment.
    """
    customer = Customer(
        shop=shop,
        email=queries.normal_email(email),
        name=name,
        phone=phone,
        note=note,
        group=_find_group(shop, group_id),
        created_at=now,
    )
    _save(customer, now)
    if addresses:
        _save_addresses(shop, customer, addresses)
    record_created(shop=shop, customer=customer, now=now)
    after = without_empty(_audit_values(shop, customer, with_addresses=bool(addresses)))
    audit.record(shop=shop, action="customer.created", object=customer, after=after, now=now)
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
    """Update the fields in `changes`: email, name, phone, note, group_id. In `addresses`, an entry with an `id`
    updates that address, or removes it with `remove`; one without adds an address.

    If the customer has a password, a new email address is stored as `pending_email`: customers sign in with their
    address, so only the customer can confirm it. Raises NotFound and InvalidFields.
    """
    customer = _lock_customer(shop, customer_id)
    before = _audit_values(shop, customer, with_addresses=addresses is not None)
    for field, value in changes.items():
        if field == "group_id":
            customer.group = _find_group(shop, value)
        elif field == "email":
            _set_or_request_email(shop, customer, queries.normal_email(value))
        else:
            setattr(customer, field, value)
    _save(customer, now)
    if addresses is not None:
        _save_addresses(shop, customer, addresses)
    record_updated(shop=shop, customer=customer, now=now)
    after = _audit_values(shop, customer, with_addresses=addresses is not None)
    audit.record_change(shop=shop, action="customer.updated", object=customer, before=before, after=after, now=now)
    return customer


@transaction.atomic
def set_email(*, shop: Shop, customer_id: int, email: str, now: datetime) -> None:
    """Change only the email address, by the rules of `update_customer`, without an event or an audit entry.

    Raises NotFound and InvalidFields.
    """
    customer = _lock_customer(shop, customer_id)
    _set_or_request_email(shop, customer, queries.normal_email(email))
    _save(customer, now)


@transaction.atomic
def save_address(
    *, shop: Shop, customer: Customer, address_id: int | None, now: datetime, fields: Mapping[str, Any]
) -> Address:
    """Add an address, or update the one with this id. A customer's first address is the default.

    Raises NotFound, and InvalidFields if the customer has too many addresses.
    """
    customer = _lock_customer(shop, customer.pk)
    existing = Address.objects.filter(shop=shop, customer=customer)
    address = existing.filter(pk=address_id).first() if address_id else Address(shop=shop, customer=customer)
    if address is None:
        raise NotFound
    if address.pk is None and existing.count() >= MAX_ADDRESSES:
        message = _("A customer can have at most %(count)s addresses.") % {"count": MAX_ADDRESSES}
        raise InvalidFields(errors={"addresses": [message]})
    for field in _WRITTEN:
        if field in fields:
            setattr(address, field, fields[field])
    if address.is_default:
        existing.exclude(pk=address.pk).update(is_default=False)
    address.save()
    _ensure_default_address(shop, customer)
    _mark_updated(shop, customer, now)
    address.refresh_from_db(fields=["is_default"])
    return address


@transaction.atomic
def delete_address(*, shop: Shop, customer: Customer, address_id: int, now: datetime) -> None:
    """Delete an address of the customer. Raises NotFound."""
    customer = _lock_customer(shop, customer.pk)
    if not Address.objects.filter(shop=shop, customer=customer, pk=address_id).delete()[0]:
        raise NotFound
    _ensure_default_address(shop, customer)
    _mark_updated(shop, customer, now)


@sensitive_variables("password")
def authenticate(*, shop: Shop, email: str, password: str) -> Customer | None:
    """The customer with this email address and password. An unknown address takes as long as a wrong password."""
    customer = queries.customer_by_email(shop, email)
    # The hasher runs for an unknown address, too, so that the time does not show whether the address is known.
    is_correct = check_password(password, customer.password if customer else "", _password_upgrade(shop, customer))
    return customer if is_correct else None


@sensitive_variables("password")
def choose_password(*, shop: Shop, proof: Proof, password: str, name: str = "", now: datetime) -> Customer:
    """Set the password of the customer who followed an emailed link; creates the customer if there is none.

    Ends the customer's sessions and invalidates every link sent before. `name` is used if the customer has none. Raises
    LinkRefused, and InvalidFields for a weak password.
    """
    check_strength(password, email=proof.email, name=name)
    encoded = make_password(password)
    with transaction.atomic():
        customer = Customer.objects.select_for_update().filter(shop=shop, email=proof.email).first()
        if proof.customer_id is not None or not is_valid_proof_for(customer, proof, now):
            raise LinkRefused
        is_new = customer is None
        customer = customer or Customer(shop=shop, email=proof.email, created_at=now)
        customer.password, customer.session_mark = encoded, uuid4()
        emits_update = (bool(name) and not customer.name) or customer.pending_email is not None
        # The new mark invalidates the link to the pending address. The owner of the old mailbox, who resets the
        # password here, may not have asked for the change.
        customer.pending_email = None
        customer.name = customer.name or name
        try:
            _save(customer, now)
        except InvalidFields:
            # Another request has created this customer since the read above.
            raise LinkRefused from None
        action, after = "customer.password_changed", None
        if is_new:
            action, after = "customer.created", {"email": customer.email, "name": customer.name}
        audit.record(shop=shop, action=action, object=customer, after=after, actor=_customer_actor(customer), now=now)
        if is_new:
            record_created(shop=shop, customer=customer, now=now)
        elif emits_update:
            record_updated(shop=shop, customer=customer, now=now)
    return customer


@sensitive_variables("password")
def change_password(*, shop: Shop, customer: Customer, password: str, now: datetime) -> Customer:
    """Set a new password and end the customer's sessions. Raises InvalidFields for a weak password."""
    check_strength(password, email=customer.email, name=customer.name)
    encoded = make_password(password)
    with transaction.atomic():
        customer = _lock_customer(shop, customer.pk)
        emits_update = customer.pending_email is not None
        customer.password, customer.session_mark, customer.pending_email = encoded, uuid4(), None
        _save(customer, now)
        if emits_update:
            record_updated(shop=shop, customer=customer, now=now)
        audit.record(
            shop=shop, action="customer.password_changed", object=customer, actor=_customer_actor(customer), now=now
        )
    return customer


@transaction.atomic
def request_email_change(*, shop: Shop, customer: Customer, email: str, now: datetime) -> None:
    """Store the address as pending and email a confirmation link to it; calling it again sends the email again.

    The customer's current address cancels the pending change. The result does not show whether another customer has the
    address; only the email to it does.
    """
    customer, email = _lock_customer(shop, customer.pk), queries.normal_email(email)
    before = customer.pending_email
    customer.pending_email = None if email == customer.email else email
    if customer.pending_email is not None:
        jobs.send_email_link.enqueue(shop.pk, customer.pk, email, **in_language(spoken_language(shop)))
    if customer.pending_email != before:
        _save(customer, now)
        record_updated(shop=shop, customer=customer, now=now)


@transaction.atomic
def confirm_email_change(*, shop: Shop, customer: Customer, proof: Proof, now: datetime) -> tuple[Customer, str]:
    """Make the pending address the signed-in customer's email address, and end the customer's other sessions.

    Returns the customer and the old address. The link alone is not enough: an app or staff member may have entered the
    address of their own mailbox. Raises LinkRefused, and InvalidFields if another customer has the address by now.
    """
    customer = _lock_customer(shop, customer.pk)
    if proof.customer_id != customer.pk or not is_valid_proof_for(customer, proof, now):
        raise LinkRefused
    old, customer.email = customer.email, proof.email
    customer.pending_email, customer.session_mark = None, uuid4()
    _save(customer, now)
    audit.record(
        shop=shop,
        action="customer.email_changed",
        object=customer,
        before={"email": old},
        after={"email": customer.email},
        actor=_customer_actor(customer),
        now=now,
    )
    record_updated(shop=shop, customer=customer, now=now)
    return customer, old


@sensitive_variables("password")
def check_strength(password: str, *, email: str, name: str = "") -> None:
    """Raises InvalidFields for a password that is short, common, or similar to the customer's own data."""
    try:
        validate_password(password, Customer(email=email, name=name))  # type: ignore[arg-type]
    except ValidationError as error:
        raise InvalidFields(errors={"password": error.messages}) from None


def record_created(*, shop: Shop, customer: Customer, now: datetime) -> None:
    """Record the event `customer.created`. Call it inside the transaction that creates the customer."""
    record_event(shop=shop, topic="customer.created", data=queries.customer_record(shop, customer), now=now)


def record_updated(*, shop: Shop, customer: Customer, now: datetime) -> None:
    """Record the event `customer.updated`. Call it inside the transaction that updates the customer."""
    record_event(shop=shop, topic="customer.updated", data=queries.customer_record(shop, customer), now=now)


def _customer_actor(customer: Customer) -> audit.Actor:
    """The customer as the actor of an audit entry: someone who follows an emailed link is not signed in yet."""
    return audit.Actor(audit.Kind.CUSTOMER, customer.pk)


def _audit_values(shop: Shop, customer: Customer, *, with_addresses: bool) -> dict[str, Any]:
    """The customer's values that the audit log compares, with all addresses if `with_addresses`."""
    values = column_values(customer)
    if with_addresses:
        existing = Address.objects.filter(shop=shop, customer=customer).order_by("pk")
        values["addresses"] = list(existing.values("id", *_WRITTEN))
    return values


def _lock_customer(shop: Shop, customer_id: int) -> Customer:
    rows = Customer.objects.select_for_update(of=("self",)).select_related("group")
    customer = rows.filter(shop=shop, pk=customer_id).first()
    if customer is None:
        raise NotFound
    return customer


def _set_or_request_email(shop: Shop, customer: Customer, email: str) -> None:
    """Change the email address for an app or the staff: at once if the customer has no password, else as pending
    (R-APP-34).

    Does not save the customer. Raises InvalidFields.
    """
    if email == customer.email:
        customer.pending_email = None
    elif not customer.can_sign_in:
        customer.email = email
    elif email != customer.pending_email:
        if queries.customer_by_email(shop, email):
            raise InvalidFields(errors={"email": [TAKEN]})
        customer.pending_email, customer.session_mark = email, uuid4()
        jobs.send_email_link.enqueue(shop.pk, customer.pk, email)
        jobs.send_notice.enqueue(shop.pk, customer.email, "email_change_asked", **in_language(customer.language))


def _find_group(shop: Shop, group_id: int | None) -> CustomerGroup | None:
    if group_id is None:
        return None
    group = CustomerGroup.objects.filter(shop=shop, pk=group_id).first()
    if group is None:
        raise InvalidFields(errors={"group_id": ["The shop has no customer group with this id."]})
    return group


def _save(customer: Customer, now: datetime) -> None:
    customer.updated_at = now
    try:
        with transaction.atomic():
            customer.save()
    except IntegrityError:
        raise InvalidFields(errors={"email": [TAKEN]}) from None


def _mark_updated(shop: Shop, customer: Customer, now: datetime) -> None:
    customer.updated_at = now
    customer.save(update_fields=["updated_at"])
    record_updated(shop=shop, customer=customer, now=now)


def _save_addresses(shop: Shop, customer: Customer, given: Sequence[Mapping[str, Any]]) -> None:
    """Update, add and remove addresses. Those that are not named stay. Raises InvalidFields, before anything is
    written."""
    unnamed = {address.pk: address for address in Address.objects.filter(shop=shop, customer=customer)}
    errors: dict[str, list[str]] = {}
    writes, deletes = [], []
    defaults = sum(bool(fields.get("is_default")) for fields in given if not fields.get("remove"))
    for number, fields in enumerate(given):
        address = Address(shop=shop, customer=customer) if fields.get("id") is None else unnamed.pop(fields["id"], None)
        if address is None:
            errors[f"addresses.{number}.id"] = ["The customer has no address with this id, or another entry names it."]
        elif not fields.get("remove"):
            missing = [] if address.pk else [name for name in _REQUIRED if not fields.get(name)]
            errors |= {f"addresses.{number}.{name}": ["This field is required."] for name in missing}
            # A new default takes the place of the old one.
            writes.append(_with_fields(address, {"is_default": False, **fields} if defaults else fields))
        elif address.pk is None:
            errors[f"addresses.{number}.remove"] = ["Only an entry with an id can be removed."]
        else:
            deletes.append(address)
    if defaults > 1:
        errors["addresses"] = ["Only one address can be the default address."]
    elif len(unnamed) + len(writes) > MAX_ADDRESSES:
        errors["addresses"] = [f"A customer can have at most {MAX_ADDRESSES} addresses."]
    if errors:
        raise InvalidFields(errors=errors)
    rows = Address.objects.filter(shop=shop, customer=customer)
    rows.filter(pk__in=[address.pk for address in deletes]).delete()
    # The default is cleared first, since a constraint allows one default per customer.
    (rows if defaults else rows.filter(pk__in=[address.pk for address in writes])).update(is_default=False)
    Address.objects.bulk_update([address for address in writes if address.pk], _WRITTEN)
    Address.objects.bulk_create([address for address in writes if address.pk is None])
    _ensure_default_address(shop, customer)


def _with_fields(address: Address, fields: Mapping[str, Any]) -> Address:
    for field in _WRITTEN:
        if field in fields:
            setattr(address, field, fields[field])
    return address


def _ensure_default_address(shop: Shop, customer: Customer) -> None:
    """Make the oldest address the default if there is no default."""
    existing = Address.objects.filter(shop=shop, customer=customer)
    if not existing.filter(is_default=True).exists():
        oldest = existing.order_by("pk").first()
        if oldest:
            existing.filter(pk=oldest.pk).update(is_default=True)


def _password_upgrade(shop: Shop, customer: Customer | None) -> Any:
    """A callback for `check_password` that stores the password with the current hasher. Sessions stay valid."""

    def store(password: str) -> None:
        if customer is not None:
            Customer.objects.filter(shop=shop, pk=customer.pk).update(password=make_password(password))

    return store


def remember_language(*, shop: Shop, customer_id: int, language: str) -> None:
    """Remember the language of a customer's visit or order, for mails that no page asks for."""
    rows = Customer.objects.filter(shop=shop, pk=customer_id)
    rows.exclude(language=language).update(language=language)
