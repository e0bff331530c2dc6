"""Which missing addresses may be counted: those that a page of an earlier site can have had. What may be a secret, a
person's address, or a probe for another program's files is not kept."""

import re

# Characters of a path that is counted, and of one of its segments: what is longer is no address that people link to.
MAX_COUNTED_LENGTH, MAX_SEGMENT_LENGTH = 200, 100
# Letters and digits in a row that mix both: what is longer is a code. Letters alone: no word has as many.
MAX_MIXED_LENGTH, MAX_WORD_LENGTH = 15, 31
# Changes between letters and digits in a part of a segment, and in all of it. Names of things (`b2b`, `12oz`) have few.
MAX_CHANGES_OF_PART, MAX_CHANGES = 2, 4
# What programs probe for: files of other programs, hidden files. And what may be a secret or a person's address.
_NOISE = re.compile(r"/\.|/wp-|/cgi-bin|\.(?!html?\Z)[^./]*\Z|[@=;:]|[0-9a-f]{24}|/\+\d")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Below these, at any level, are pages of one person.
_PERSONAL = re.compile(
    r"/(?:(?:my-?)?accounts?|checkouts?|orders?|view-order|order-received|passwords?|(?:password-)?reset(?:-password)?"
    r"|tokens?|invit(?:e|es|ations?)|unsubscribe|(?:stock|price)-alerts?)/"
)
# And below these as the first segment, also after a language. Elsewhere they can be names: `/categories/gift/cups`.
_PRIVATE = re.compile(
    r"(?:/[a-z]{2}(?:[-_][a-z]{2,4})?)?/(?:admin|api|arrive|auth|oauth2?|basket|carts?|confirm(?:ation)?|customers?"
    r"|discounts?|documents?|door|downloads?|exports?|gifts?|gift-?cards?|hand-over|invoices?|links?|log-?in|members?"
    r"|pay|payments?|profiles?|receipts?|recover|returns?|sessions?|sharer?|sign-?in|tel|tickets?|track(?:ing)?|users?"
    r"|verif(?:y|ication)|activat(?:e|ion)|vouchers?|coupons?|wish-?lists?)/"
)
_PART = re.compile(r"[^\W_]+")
_CHANGE = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")


def is_countable(path: str) -> bool:
    """Returns True for a path in the normal form that a page of an earlier site can have had."""
    segments = path.split("/")
    is_short = len(path) <= MAX_COUNTED_LENGTH and max(map(len, segments)) <= MAX_SEGMENT_LENGTH
    if not is_short or not path.isprintable() or _NOISE.search(path) or _UUID.search(path):
        return False
    if _PERSONAL.search(path) or _PRIVATE.match(path):
        return False
    return not any(map(_is_code, segments))


def _is_code(segment: str) -> bool:
    """Returns True for what looks drawn by lot, as tokens of links are, and not like words."""
    parts = _PART.findall(segment)
    changes = [len(_CHANGE.findall(part)) for part in parts]
    is_mixed = any(count and len(part) > MAX_MIXED_LENGTH for part, count in zip(parts, changes, strict=True))
    is_endless = any(len(part) > MAX_WORD_LENGTH for part in parts)
    return is_mixed or is_endless or max(changes, default=0) > MAX_CHANGES_OF_PART or sum(changes) > MAX_CHANGES
