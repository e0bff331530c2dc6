"""The language of an API answer's texts: by the parameter `locale`, or by the header `Accept-Language`.

Without both, an answer has the texts of the shop's main language, and is the same to the byte as in a shop that has no
other. A shop without further languages ignores the header.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.http import HttpRequest, HttpResponse
from django.utils.translation.trans_real import parse_accept_lang_header

from storefront.kit.refusals import InvalidFields, problem
from storefront.shops.languages import OTHER
from storefront.shops.models import Shop

PARAMETER, DESCRIPTION = (
    "locale",
    "The language of the texts: one of the shop's, such as `de`, also of a country, such as `de-AT`. What is not "
    "translated is in the shop's main language. Without it, `Accept-Language` can choose one.",
)
# Other codes of languages that a shop can have.
_ALIASES = {"nb": "no", "nn": "no", "iw": "he", "in": "id"}


@dataclass(frozen=True, slots=True)
class Answered:
    """`language` is one of the shop's further languages; None: the main one. `named` is the language of the header
    `Content-Language`; empty: there is none. `varies`: whether `Accept-Language` chose it."""

    language: str | None = None
    named: str = ""
    varies: bool = False

    @property
    def headers(self) -> dict[str, str]:
        found = {"Content-Language": self.named} if self.named else {}
        return found | ({"Vary": "Accept-Language"} if self.varies else {})

    def name_in(self, response: HttpResponse) -> HttpResponse:
        """The response with these headers."""
        for name, value in self.headers.items():
            response[name] = value
        return response


def language_asked(request: HttpRequest, shop: Shop, locale: str | None) -> Answered:
    """The language of an answer to a call with this `locale`, if any (R-CAT-43, R-CAT-44). Raises InvalidFields for one
    that the shop does not have."""
    if locale is None:
        preferred = preferred_language(request.META.get("HTTP_ACCEPT_LANGUAGE", ""), tuple(shop.languages))
        return Answered(preferred, preferred, varies=True) if preferred else Answered()
    code = language_named(shop, locale)
    # A language without a code is undetermined (BCP 47).
    return Answered(None if code == shop.language else code, "und" if code == OTHER else code)


def language_named(shop: Shop, locale: str) -> str:
    """The shop's language that a `locale` means. Raises InvalidFields if it means none."""
    code = _matching(locale, shop.languages)
    if code is None:
        message = f"{PARAMETER} must be one of the shop's languages: {', '.join(shop.languages)}."
        raise InvalidFields(problems=[problem(PARAMETER, "not_allowed", message, allowed=shop.languages)])
    return code


@lru_cache(maxsize=1024)
def preferred_language(header: str, languages: Sequence[str]) -> str:
    """The further language that the header `Accept-Language` prefers to a shop's main one, which is the first of these;
    empty if it prefers none."""
    if len(languages) < 2 or not header:
        return ""
    main = languages[0]
    for tag, weight in parse_accept_lang_header(header[:500]):
        code = main if tag == "*" else _matching(tag, languages)
        if code is not None and weight > 0:
            return "" if code == main else code
    return ""


def _matching(tag: str, languages: Sequence[str]) -> str | None:
    """The one of these languages that a tag such as `de` or `de-AT` means."""
    code = tag.replace("_", "-").partition("-")[0].lower()
    code = _ALIASES.get(code, code)
    return code if code in languages else None
