"""Fills in the texts of a mail: the shop's own where it has changed them, else the standard ones.

Threats. Names of shoppers reach mails as values of placeholders: they are put in once and not read again, so that
braces in them mean nothing, and their line breaks become spaces, so that none begins a paragraph, an item or a header.
A merchant's words cannot remove facts, which stand in the template, nor run as a template.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils.translation import gettext
from django.utils.translation import gettext as _

from storefront.content.brand import brand_of
from storefront.content.mail_kinds import KINDS
from storefront.content.mail_subjects import SUBJECTS
from storefront.content.models import MailText
from storefront.kit.names import has_invisible_characters
from storefront.kit.translations import spoken
from storefront.shops import mail
from storefront.shops.models import Shop
from storefront.shops.places import SHOP, spoken_base
from storefront.shops.spoken import further_language, spoken_language

# The parts of a mail that a merchant can change.
PARTS = ("subject", "opening", "closing")
_PLACEHOLDER = re.compile(r"( ?)\{([^{}]*)\}")


@dataclass
class Words:
    """The shop's own texts for a mail; None where it uses the standard ones. Writing a mail fills `standard` with the
    standard texts and their placeholders. A part that is missing there has no place in the mail's template."""

    subject: str | None = None
    opening: str | None = None
    closing: str | None = None
    standard: dict[str, str] = field(default_factory=dict)

    def filled(self, part: str, standard: str, values: Mapping[str, str]) -> str:
        self.standard[part] = tidy(standard)
        own = getattr(self, part)
        return fill(standard if own is None else own, values)


def words_of(shop: Shop, kind: str, language: str = "") -> Words:
    """The shop's own texts in this language, or else in its main one."""
    rows = MailText.objects.filter(shop=shop, kind=kind)[:1]
    for row in spoken(rows, further_language(shop, language), *PARTS):
        return Words(row.subject, row.opening, row.closing)
    return Words()


def write_mail(
    kind: str,
    *,
    shop: Shop,
    to: str,
    values: Mapping[str, str] | None = None,
    context: Mapping[str, Any],
    words: Words | None = None,
    **given: Any,
) -> EmailMultiAlternatives:
    """Write a mail of this kind to one address. `values` are the values of its placeholders, `context` is the context
    of its template, and `words` replace the shop's own, which are in the language that is spoken
    (`shops/spoken.py`); `given` are other arguments of `mail.message`."""
    language = spoken_language(shop)
    words = words or words_of(shop, kind, language)
    known = {
        "shop_name": shop.name,
        "shop_email": shop.email or spoken_base(SHOP, shop),
        "shop_url": spoken_base(SHOP, shop),
        **(values or {}),
    }
    in_lines = {name: " ".join(value.splitlines()) for name, value in known.items()}
    filled = partial(words.filled, values=in_lines)
    return mail.message(
        shop=shop,
        to=to,
        subject=filled("subject", gettext(SUBJECTS[kind])),
        text=render_to_string(KINDS[kind].template, {"shop": shop, "language": language, **context, "words": filled}),
        brand=brand_of(shop),
        **given,
    )


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace the placeholders in the text by their values. A placeholder without a value is removed with the space
    before it."""

    def value(found: re.Match[str]) -> str:
        given = values.get(found[2], "")
        return found[1] + given if given else ""

    return _PLACEHOLDER.sub(value, text)


def tidy(text: str, *, is_line: bool = False) -> str:
    """Remove spaces at the ends of lines, and unify line breaks. With `is_line`, line breaks become spaces."""
    if is_line:
        return " ".join(text.split())
    return "\n".join(line.rstrip() for line in text.splitlines()).strip()


def problem(kind: str, part: str, text: str) -> str | None:
    """The reason, as a sentence, why the text cannot be the mail's subject, opening or closing; None if it can."""
    if part == "subject" and has_invisible_characters(text):
        return _("A subject cannot contain control characters or invisible ones.")
    known = KINDS[kind].meanings
    named = [found[2] for found in _PLACEHOLDER.finditer(text)]
    rest = _PLACEHOLDER.sub("", text)
    if unpaired := re.search(r"[{}]", rest):
        around = rest[max(unpaired.start() - 10, 0) : unpaired.end() + 10].strip()
        return _(
            "A brace stands alone in “%(around)s”. Braces stand only around placeholders, such as {shop_name}."
        ) % {"around": around}
    unknown = next((name for name in named if name not in known), None)
    if unknown is not None:
        offered = ", ".join(f"{{{name}}}" for name in known)
        return _("This email has no placeholder {%(unknown)s}. It has %(offered)s.") % {
            "unknown": unknown,
            "offered": offered,
        }
    missing = [name for name in KINDS[kind].required if name not in named] if part == "opening" else []
    if missing:
        return _("Keep {%(missing)s} in this text: the email says it nowhere else.") % {"missing": missing[0]}
    return None
