"""Discount codes: how they are compared, and how many at once are made."""

import re
import secrets
from datetime import datetime

from django.db import transaction

from storefront.kit.refusals import InvalidFields
from storefront.pricing.models import Discount, DiscountCode
from storefront.shops import audit
from storefront.shops.models import Shop

MAX_LENGTH = 40
MAX_PREFIX = 20
MOST_AT_ONCE = 10_000
# Characters that nobody takes for another one; ten of them are 49 random bits.
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_LENGTH = 10
_FORM = re.compile(r"[A-Z0-9][A-Z0-9_-]*\Z")


def normal_code(text: str) -> str:
    """The code in capitals and without surrounding white space, as it is stored and compared."""
    return text.strip().upper()


def is_well_formed(code: str) -> bool:
    """Whether a code in normal form can be one."""
    return len(code) <= MAX_LENGTH and _FORM.match(code) is not None


@transaction.atomic
def create_codes(
    *, shop: Shop, discount: Discount, count: int, prefix: str = "", use_limit: int | None = 1, now: datetime
) -> list[str]:
    """Make random codes for the discount, each for `use_limit` orders; None for any number. Returns them.

    Raises InvalidFields for a prefix that cannot begin a code, and for a count that is not from 1 to MOST_AT_ONCE.
    """
    prefix = normal_code(prefix)
    if prefix and (len(prefix) > MAX_PREFIX or not is_well_formed(prefix)):
        message = f"Use at most {MAX_PREFIX} letters, digits, hyphens and underscores; begin with a letter or digit."
        raise InvalidFields(errors={"prefix": [message]})
    if not 1 <= count <= MOST_AT_ONCE:
        raise InvalidFields(errors={"count": [f"Enter a number from 1 to {MOST_AT_ONCE}."]})
    made: set[str] = set()
    while len(made) < count:
        wanted = {prefix + _random_text() for _ in range(count - len(made))} - made
        wanted -= set(DiscountCode.objects.filter(shop=shop, code__in=wanted).values_list("code", flat=True))
        made |= wanted
    given = {"shop": shop, "discount": discount, "use_limit": use_limit, "created_at": now}
    DiscountCode.objects.bulk_create([DiscountCode(code=code, **given) for code in sorted(made)], batch_size=500)
    # Not the codes themselves: whoever reads the log could use them.
    after = {"count": count, "prefix": prefix, "use_limit": use_limit}
    audit.record(shop=shop, action="discount.codes_created", object=discount, after=after, now=now)
    return sorted(made)


def _random_text() -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(_RANDOM_LENGTH))
