"""Twice the input costs every parser and form at most 2.5 times as much, whatever is in it: a text that is made to hurt
cannot take the time of other shops. A parser that needs exponential time runs into the test's time limit.

Inputs are repetitions: quotes, nesting, separators, prefixes, whatever a regular expression may try again from each of
its places, with something at the end that does not fit.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.core.exceptions import SuspiciousOperation, ValidationError
from django.core.validators import validate_email
from django.http import QueryDict
from django.http.cookie import parse_cookie

from storefront.apps import rules as app_rules
from storefront.audit.erasing import whole_address
from storefront.carts.gift_card_lines import _CONTROL
from storefront.catalogue import parsing, rules, search_texts
from storefront.catalogue.admin_pages import rows as admin_rows
from storefront.catalogue.parsing import InvalidValue
from storefront.content import mail_words
from storefront.gift_cards import codes as gift_card_codes
from storefront.kit import addresses, callers, html, markup, money, names, postal
from storefront.kit.api import conditional, members, ranges
from storefront.kit.files import spreadsheets, uploads
from storefront.kit.refusals import Refusal
from storefront.payments.providers import stripe_calls
from storefront.pictures import rules as picture_rules
from storefront.pricing import codes as discount_codes
from storefront.pricing import postcodes
from storefront.product_files import csv_reading, number_formats, parsers
from storefront.product_files.shopify import headers as shopify_headers
from storefront.product_files.woocommerce import headers as woocommerce_headers
from storefront.product_files.woocommerce import parsers as woocommerce_parsers
from storefront.product_files.woocommerce import seo
from storefront.server import logs
from storefront.server.edge import representation
from storefront.shops import mail_html
from storefront.staff import admin_editor
from storefront.sync import cursors
from storefront.website import filters, texts
from tests.server.costs import MOST, growth
from tests.shops.factories import NOW

pytestmark = [pytest.mark.proof, pytest.mark.timeout(900)]

# What is repeated.
PIECES = [
    *("a", "A", "1", " ", "\n", "\r", "\t", "\x00", "é", "e\u0301", "😀", "\u200d", "ß", "ǅ"),
    *(
        '"',
        "'",
        '""',
        "\\",
        "\\,",
        "\\n",
        ",",
        ";",
        "|",
        "=",
        "-",
        ".",
        "/",
        ":",
        "@",
        "%",
        "&",
        "#",
        "?",
        "*",
        "+",
        "$",
    ),
    *(
        "<",
        ">",
        "</",
        "<a",
        "<a ",
        "<div>",
        "<b>",
        "<p><b>",
        "<b></p>",
        "<table>",
        "<tr><td>",
        "</div>",
        "<!--",
        "<!-",
        "-->",
    ),
    *(
        "<a b",
        "<a b=",
        "<a b='",
        '<a b="c" ',
        " b=",
        "<script>",
        "<style",
        "</script",
        "<![CDATA[",
        "<?",
        "<li>",
        "<svg><a>",
    ),
    *("&amp;", "&#", "&a", "{", "}", "{a", "{a}", "{{", "[", "]", "[[", "(", ")", "%%", "%a", "%%a(", "%a%", "%%a%%"),
    *("1,", "1.", "1 ", "1'", "1.234.", "1,234,", "0.0", "-1", "00", "1e9", "9" * 9),
    *(
        "a.",
        "a@",
        "@a",
        "a@a.",
        "-a",
        "a-",
        "a b ",
        "ab ",
        "a, ",
        "a > ",
        "a|",
        "a\\|",
        "www.",
        "http://",
        "://",
        "https://a,",
    ),
    *(
        "a=1&",
        "a&",
        "filter.a=1&",
        "brand=a&",
        "a=1;",
        "a=1; ",
        '"a",',
        'W/"a",',
        'W/"',
        "gzip;q=1,",
        "gzip ,",
        "1-2,",
        "1.2.3.4,",
    ),
    *(
        "a: b\n",
        "1 x a\n",
        "\n\n",
        "a\n",
        " \n",
        "    a\n",
        "key_live_",
        "sk_live_",
        "pi_",
        "pi_a_secret_",
        "bearer ",
        "signature=",
    ),
    *("xn--", "٣", "²", "Dr.", "a_", "__", "+1", "x1", "ext", "2026-", "T1:"),
]
# What comes before and after the repetitions.
ENDS = [("", ""), ("a", "\x00!")]


class Shop:
    """What parsers read of a shop."""

    pk, language, currency = 1, "en", "EUR"


def search_text(text: str) -> object:
    return search_texts.search_text(
        language="en", name=text, sku=text, brand=text, tags=[text], attributes=[], variants=[], description=text
    )


PARSERS: dict[str, Callable[[str], Any]] = {
    "HTML, when it is saved": markup.problem,
    "HTML, when it is shown": html.clean,
    "HTML as plain text": markup.plain_text,
    "excerpt": texts.excerpt,
    "paragraphs": texts._paragraphs,
    "headings of the editor": admin_editor.below_title,
    "mail's words": lambda text: mail_words.fill(text, {"a": "b"}),
    "mail's words, tidied": mail_words.tidy,
    "mail's HTML": lambda text: mail_html.html_of(None, name="Shop", text=text, pictures={"a": "b"}, links=["c"]),
    "name": names.has_address,
    "name's characters": names.has_invisible_characters,
    "email": validate_email,
    "URL": addresses.check_url,
    "picture's URL": lambda text: picture_rules.is_fetched(text, "https://a.example"),
    "script's host": app_rules.script_host,
    "script host's form": app_rules.is_script_host,
    "postal code": lambda text: postal.postal_code_problem("GB", text),
    "region": lambda text: postal.region_key("US", text),
    "phone": lambda text: postal.international_phone(text, "DE"),
    "postcode": postcodes.normal_postcode,
    "postcode pattern": postcodes.normal_pattern,
    "number": parsing.number,
    "money": money.parse,
    "time": parsing.moment,
    "decimal sign": number_formats.decimal_sign,
    "number format": lambda text: number_formats.number_format([text]),
    "decimal point": number_formats.with_decimal_point,
    "slug": rules.slug_of,
    "slug's form": rules.is_slug,
    "sort name": rules.sort_name,
    "search": lambda text: search_texts.search_words(text, "en"),
    "search pattern": rules.like_pattern,
    "cursor": lambda text: cursors.decode(text, Shop, "products", now=NOW),
    "filters": lambda text: filters.read_filters(QueryDict(text), with_price=True),
    "filter's value": filters._in_order,
    "discount code": lambda text: discount_codes.is_well_formed(discount_codes.normal_code(text)),
    "gift card's code": lambda text: gift_card_codes.is_well_formed(gift_card_codes.normal_code(text)),
    "gift card's message": lambda text: _CONTROL.sub("", text),
    "If-None-Match": lambda text: conditional.etag_matches('"a"', text),
    "Range": lambda text: ranges.requested_span({"Range": f"bytes={text}"}, size=9, etag="a"),
    "Accept-Encoding": representation.accepts_gzip.__wrapped__,
    "X-Forwarded-For": lambda text: callers.resolve(
        {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": text}, callers.networks("10.0.0.0/8")
    ),
    "cookies": parse_cookie,
    "members": lambda text: members.choice(["a"]).__metadata__[0].func(text),
    "ids": lambda text: members._ids(text),
    "log": logs.redact,
    "request log": logs.path_without_secrets,
    "Stripe's message": stripe_calls.without_secrets,
    "address in the audit log": lambda text: whole_address("a@a.example").sub("", text),
    "file's name": uploads.cleaned_name,
    "formula": spreadsheets.escape_formula,
    "formulas": lambda text: spreadsheets.unescape_formulas([text]),
    "list of the admin": admin_rows.as_values,
    "CSV value": csv_reading.clean_value,
    "CSV header": csv_reading.normalised_header,
    "WooCommerce header": woocommerce_headers.column_of,
    "Shopify header": shopify_headers.column_of,
    "WooCommerce list": woocommerce_parsers.split_list,
    "WooCommerce text": woocommerce_parsers.paragraphs,
    "WooCommerce categories": woocommerce_parsers.category_paths.__wrapped__,
    "WooCommerce products": woocommerce_parsers.product_references,
    "WooCommerce time": lambda text: woocommerce_parsers.moment(text, ZoneInfo("Europe/Berlin")),
    "Yoast": lambda text: seo._resolved(text, seo._PLACEHOLDERS["yoast"], {"a": str}),
    "Rank Math": lambda text: seo._resolved(text, seo._PLACEHOLDERS["rank math"], {"a": str}),
    "file's slug": parsers.slug,
    "file's URL": parsers.url,
}


def refused(parse: Callable[[str], Any], text: str) -> None:
    with suppress(InvalidValue, ValidationError, ValueError, Refusal, SuspiciousOperation, seo._UnknownPlaceholder):
        parse(text)


def test_the_measurement_sees_a_cost_that_grows_by_the_square():
    find = re.compile("<[^>]*>").search
    assert growth(lambda size: partial(find, "<" * size), largest=1 << 12) > MOST


@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_costs_by_the_length_of_its_text(name):
    def prepare(before: str, piece: str, after: str, size: int) -> Callable[[], None]:
        return partial(refused, PARSERS[name], before + piece * (size // len(piece)) + after)

    worse = {
        (before, piece, after): found
        for piece in PIECES
        for before, after in ENDS
        if (found := growth(partial(prepare, before, piece, after))) > MOST
    }
    assert not worse
