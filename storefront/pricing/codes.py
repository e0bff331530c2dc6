"""Creates, normalises, imports and exports discount codes."""

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from storefront import audit
from storefront.kit.codes import typed_code
from storefront.kit.files.spreadsheets import escape_formula
from storefront.kit.files.tables import UnusableTable, WrongLine, read_each, read_table
from storefront.kit.refusals import InvalidFields
from storefront.pricing.models import Discount, DiscountCode
from storefront.shops.models import Shop

MAX_LENGTH = 40
MAX_PREFIX = 20
MAX_AT_ONCE = 10_000
MAX_LIMIT = 1_000_000
COLUMNS = ("code", "uses", "limit")
# Characters that are not mistaken for each other; ten of them are 49 random bits.
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_LENGTH = 10
_FORM = re.compile(r"[A-Z0-9][A-Z0-9_-]*\Z")


@dataclass(frozen=True)
class ImportedCodes:
    """How many codes a file has added, given another limit, and left as they were."""

    added: int
    changed: int
    same: int


def normal_code(text: str) -> str:
    """The code as it is stored and compared."""
    return typed_code(text)


def is_well_formed(code: str) -> bool:
    """Returns False if the normalised text cannot be a code."""
    return len(code) <= MAX_LENGTH and _FORM.match(code) is not None


@transaction.atomic
def create_codes(
    *, shop: Shop, discount: Discount, count: int, prefix: str = "", use_limit: int | None = 1, now: datetime
) -> list[str]:
    """Create random codes for the discount, each for `use_limit` orders; None for any number. Returns the codes.

    Raises InvalidFields for a prefix that cannot begin a code, and for a count that is not from 1 to MAX_AT_ONCE.
    """
    prefix = normal_code(prefix)
    if prefix and (len(prefix) > MAX_PREFIX or not is_well_formed(prefix)):
        message = _("Use at most %(most)s letters, digits, hyphens and underscores; begin with a letter or digit.") % {
            "most": MAX_PREFIX
        }
        raise InvalidFields(errors={"prefix": [message]})
    if not 1 <= count <= MAX_AT_ONCE:
        raise InvalidFields(errors={"count": [_("Enter a number from 1 to %(most)s.") % {"most": MAX_AT_ONCE}]})
    made: set[str] = set()
    while len(made) < count:
        wanted = {prefix + _random_text() for _unused in range(count - len(made))} - made
        wanted -= set(DiscountCode.objects.filter(shop=shop, code__in=wanted).values_list("code", flat=True))
        made |= wanted
    given = {"shop": shop, "discount": discount, "use_limit": use_limit, "created_at": now}
    DiscountCode.objects.bulk_create([DiscountCode(code=code, **given) for code in sorted(made)], batch_size=500)
    # Without the codes themselves, which readers of the log could use.
    after = {"count": count, "prefix": prefix, "use_limit": use_limit}
    audit.record(shop=shop, action="discount.codes_created", object=discount, after=after, now=now)
    return sorted(made)


def export_codes(shop: Shop, discount: Discount) -> Iterator[list[Any]]:
    """The lines of the discount's file, the header first."""
    yield list(COLUMNS)
    rows = DiscountCode.objects.filter(shop=shop, discount=discount).order_by("pk")
    for code, uses, limit in rows.values_list("code", "uses", "use_limit").iterator():
        yield [escape_formula(code), uses, "" if limit is None else limit]


@transaction.atomic
def import_codes(*, shop: Shop, discount: Discount, content: bytes, now: datetime) -> ImportedCodes:
    """Add the codes in this file to the discount, and set the limits of existing codes if the file has a column of
    limits. Other codes stay; uses never change. Raises UnusableTable for any problem; then nothing changed.

    Locks the discount, as orders that use it do, so that no limit is below the uses.
    """
    Discount.objects.select_for_update(no_key=True).get(shop=shop, pk=discount.pk)
    limits = _read(shop, discount, content)
    states_limits = b"limit" in content.partition(b"\n")[0].lower()
    existing = DiscountCode.objects.filter(shop=shop, discount=discount, code__in=list(limits))
    changed = []
    for row in existing:
        limit = limits.pop(row.code)
        if states_limits and limit != row.use_limit:
            row.use_limit = limit
            changed.append(row)
    given = {"shop": shop, "discount": discount, "created_at": now}
    try:
        with transaction.atomic():
            DiscountCode.objects.bulk_update(changed, ["use_limit"], batch_size=500)
            new = [DiscountCode(code=code, use_limit=limit, **given) for code, limit in limits.items()]
            DiscountCode.objects.bulk_create(new, batch_size=500)
    except IntegrityError:
        raise UnusableTable([_("Another discount has just got one of these codes. Please try again.")]) from None
    found = ImportedCodes(added=len(limits), changed=len(changed), same=len(existing) - len(changed))
    if limits or changed:
        after = {"added": found.added, "limits_changed": found.changed}
        audit.record(shop=shop, action="discount.codes_imported", object=discount, after=after, now=now)
    return found


def _read(shop: Shop, discount: Discount, content: bytes) -> dict[str, int | None]:
    """Read the limit of each code in the file."""
    lines, _unused = read_table(content, COLUMNS, optional=("uses", "limit"))
    wanted = {code for _unused, cells in lines if is_well_formed(code := normal_code(cells[0]))}
    rows = DiscountCode.objects.filter(shop=shop, code__in=list(wanted)).select_related("discount")
    existing = {row.code: row for row in rows}
    found: dict[str, int | None] = {}
    first: dict[str, int] = {}

    def read(number: int, cells: list[str]) -> None:
        if len(cells) != len(COLUMNS):
            raise WrongLine(_("has another number of cells than the header."))
        code, row = normal_code(cells[0]), existing.get(normal_code(cells[0]))
        if not is_well_formed(code):
            raise WrongLine(
                _(
                    "“%(value)s” cannot be a code. Use at most %(most)s letters, digits, hyphens and underscores; "
                    "begin with a letter or digit."
                )
                % {"value": cells[0][:60], "most": MAX_LENGTH}
            )
        if code in found:
            raise WrongLine(_("line %(value)s has the code %(code)s already.") % {"value": first[code], "code": code})
        if row is not None and row.discount_id != discount.pk:
            raise WrongLine(
                _("the code %(code)s belongs to the discount %(discount)s.") % {"code": code, "discount": row.discount}
            )
        limit = _limit(cells[2])
        if row is not None and limit is not None and limit < row.uses:
            raise WrongLine(
                _("%(code)s was used %(uses)s times, so its limit cannot be %(limit)s.")
                % {"code": code, "uses": f"{row.uses:,}", "limit": f"{limit:,}"}
            )
        found[code], first[code] = limit, number

    read_each(lines, read)
    if not found:
        raise UnusableTable([_("The file has no codes.")])
    return found


def _limit(text: str) -> int | None:
    if not text:
        return None
    if not re.fullmatch("[0-9]{1,7}", text) or not 1 <= int(text) <= MAX_LIMIT:
        raise WrongLine(
            _("“limit” must be a whole number from 1 to %(most)s, or empty, not %(value)s.")
            % {"most": f"{MAX_LIMIT:,}", "value": text[:60]}
        )
    return int(text)


def _random_text() -> str:
    return "".join(secrets.choice(_ALPHABET) for _unused in range(_RANDOM_LENGTH))
