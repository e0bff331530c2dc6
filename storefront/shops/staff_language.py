"""The language of the admin and of mails to staff: that which the person has chosen.

Whoever has chosen none gets the admin in the language of the browser, and mails in that of the shop.
"""

from contextlib import AbstractContextManager

from django.http import HttpRequest
from django.utils import translation
from django.utils.translation.trans_real import parse_accept_lang_header

from storefront.shops.models import Shop, User

# Languages of the admin, by their own names.
LANGUAGES = {"en": "English", "de": "Deutsch"}
DEFAULT = "en"


def language_of_admin(request: HttpRequest) -> str:
    """The language that the signed-in person has chosen, otherwise the first of the browser's that the admin has."""
    return _known(getattr(request.user, "language", "")) or language_of_browser(request)


def language_of_browser(request: HttpRequest) -> str:
    for code, weight in parse_accept_lang_header(request.headers.get("Accept-Language", "").lower()):
        found = _known(code.partition("-")[0])
        if found and weight > 0:
            return found
    return DEFAULT


def speaking_to(user: User | None, shop: Shop | None) -> AbstractContextManager[None]:
    """Activates the language of a mail to this member of staff, who may not have an account yet."""
    return translation.override(language_of_mails(user, shop))


def speaking_to_address(email: str, shop: Shop) -> AbstractContextManager[None]:
    """Activates the language of a mail to the member of staff with this address."""
    return speaking_to(User.objects.filter(email__iexact=email).only("language").first(), shop)


def language_of_mails(user: User | None, shop: Shop | None) -> str:
    return _known(user.language if user else "") or _known(shop.language if shop else "") or DEFAULT


def within_sentence(name: str) -> str:
    """A name as it is written within a sentence of the active language: German nouns keep their capital letter."""
    return name if translation.get_language() == "de" else name.lower()


def _known(code: str) -> str:
    return code if code in LANGUAGES else ""
