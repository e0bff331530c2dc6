"""Reports of scripts that a page's policy blocked. Anybody can send them, so they are validated and limited."""

import json

import pytest
from django.test import Client

from storefront.apps.models import BlockedScript
from storefront.apps.script_reports import MANY, MAX_LISTED, MAX_SOURCES, ONE
from storefront.kit import clock
from storefront.website.script_reports import MAX_PER_PLACE, MAX_PER_SHOP
from tests.races import run_concurrently

PAGE = "https://shop.example.com/products/mug"
SOURCE = "https://cdn.example.net/badge.js"


def one(source=SOURCE, page=PAGE, directive="script-src-elem", **members):
    report = {"document-uri": page, "blocked-uri": source, "effective-directive": directive, "disposition": "enforce"}
    return {"csp-report": report | members}


def many(*sources, page=PAGE, directive="script-src-elem", type="csp-violation"):
    return [
        {"type": type, "age": 1, "url": page, "user_agent": "x", "body": body}
        for body in (
            {"documentURL": page, "blockedURL": source, "effectiveDirective": directive, "disposition": "enforce"}
            for source in sources
        )
    ]


@pytest.fixture
def report(shop):
    return reporter(shop)


def reporter(shop, place: str = "203.0.113.7"):
    client = Client(headers={"host": shop.domain}, REMOTE_ADDR=place, enforce_csrf_checks=True)

    def send(content, media_type: str = ONE, **given) -> int:
        body = content if isinstance(content, bytes | str) else json.dumps(content)
        return client.post("/blocked-scripts", body, content_type=media_type, **given).status_code

    return send


def rows():
    return list(BlockedScript.objects.order_by("pk").values_list("source", "directive", "page", "times"))


def test_a_report_is_stored_without_query_strings(report, shop):
    before = clock.now()
    assert report(one(f"{SOURCE}?session=secret#x", f"{PAGE}?q=mine")) == 204
    assert rows() == [(SOURCE, "script-src", "/products/mug", 1)]
    row = BlockedScript.objects.get()
    assert row.shop == shop
    assert before <= row.first_at == row.last_at


def test_the_reporting_api_format_contains_several_reports(report):
    assert report(many(SOURCE, "https://other.example/x.js"), MANY) == 204
    assert [row[0] for row in rows()] == [SOURCE, "https://other.example/x.js"]


def test_an_older_browser_names_the_whole_directive(report):
    content = one(directive=None)
    content["csp-report"] |= {"effective-directive": None, "violated-directive": "script-src 'self' app.example.com"}
    assert report(content) == 204
    assert rows() == [(SOURCE, "script-src", "/products/mug", 1)]


def test_counts_the_same_source_and_stores_its_last_page(report):
    for page in ("/", "/basket", "/products"):
        report(one(page=f"https://shop.example.com{page}"))
    report(many(SOURCE, SOURCE), MANY)
    assert rows() == [(SOURCE, "script-src", "/products/mug", 4)]
    row = BlockedScript.objects.get()
    assert row.first_at < row.last_at


def test_counts_each_directive_separately(report):
    for directive in ("script-src-elem", "connect-src", "style-src-elem", "script-src-attr", "script-src"):
        report(one(directive=directive))
    assert [(row[1], row[3]) for row in rows()] == [("script-src", 3), ("connect-src", 1), ("style-src", 1)]


@pytest.mark.parametrize(
    "content",
    [
        one("inline"),
        one("eval"),
        one("data"),
        one("chrome-extension://abc/x.js"),
        one("blob:https://shop.example.com/1"),
        one("https://[::1]/x.js"),
        one("https://a;b/x.js"),
        one("https://a:99999/x.js"),
        one("https://["),
        one("https://cdn.example.net/\0"),
        one(""),
        one(None),
        one(7),
        one(["https://cdn.example.net/x.js"]),
        one(page="https://elsewhere.example/products"),
        one(page="https://shop.example.com.evil.example/"),
        one(page="https://evil@shop.example.com/"),
        one(page="file://shop.example.com/"),
        one(page="about:blank"),
        one(page=None),
        one(directive="img-src"),
        one(directive="default-src"),
        one(directive=""),
        one(directive=None),
        one(directive=7),
        {"csp-report": {}},
    ],
)
def test_ignores_violations_that_no_allowed_host_would_fix(report, content):
    assert report(content) == 204
    assert rows() == []


@pytest.mark.parametrize(
    ("content", "media_type", "status"),
    [
        ("{", ONE, 400),
        (b"\xff", ONE, 400),
        ("[]", ONE, 400),
        ({"csp-report": []}, ONE, 400),
        ({"other": {}}, ONE, 400),
        ("{}", MANY, 400),
        ("[" * 5000, MANY, 400),
        (one(), "application/json", 415),
        (one(), "text/plain", 415),
        (one("https://cdn.example.net/" + "a" * 17000), ONE, 413),
    ],
)
def test_refuses_what_is_not_a_report(report, content, media_type, status):
    assert report(content, media_type) == status
    assert rows() == []


def test_skips_list_members_that_are_not_reports(report):
    content = [1, None, [], {}, {"type": "csp-violation"}, {"type": "csp-violation", "body": []}, *many(SOURCE)]
    assert report(content + many(SOURCE, type="deprecation"), MANY) == 204
    assert rows() == [(SOURCE, "script-src", "/products/mug", 1)]


def test_reads_only_the_beginning_of_a_long_list(report):
    assert report(many(*[f"https://cdn.example.net/{n}" for n in range(MAX_LISTED + 5)]), MANY) == 204
    assert len(rows()) == MAX_LISTED


def test_truncates_long_urls(report):
    assert report(one(SOURCE + "a" * 900, PAGE + "b" * 900)) == 204
    [(source, _, page, _)] = rows()
    assert (len(source), len(page)) == (300, 300)


def test_refuses_a_get(shop):
    assert Client(headers={"host": shop.domain}).get("/blocked-scripts").status_code == 405


def test_a_host_without_a_shop_stores_nothing(shop, other_shop):
    client = Client(headers={"host": "nowhere.example"})
    content = one(page="https://nowhere.example/")
    assert client.post("/blocked-scripts", content, content_type=ONE).status_code == 404
    assert rows() == []


def test_each_shop_has_its_own_reports(report, shop, other_shop):
    report(one())
    elsewhere = reporter(other_shop)
    assert elsewhere(one()) == 204, "it tells of another shop's page"
    assert elsewhere(one(page="https://other.example.com/")) == 204
    assert [(row.shop, row.times) for row in BlockedScript.objects.order_by("pk")] == [(shop, 1), (other_shop, 1)]


def test_limits_reports_per_network(report, shop):
    statuses = [report(one(f"{SOURCE}?{n}")) for n in range(MAX_PER_PLACE + 3)]
    assert statuses == [204] * MAX_PER_PLACE + [429] * 3
    assert rows() == [(SOURCE, "script-src", "/products/mug", MAX_PER_PLACE)]
    assert reporter(shop, "203.0.113.8")(one()) == 204


@pytest.mark.slow
def test_limits_reports_per_shop(shop, other_shop):
    places = [f"203.0.113.{n}" for n in range(1, 200)]
    statuses = [reporter(shop, place)(one()) for place in places[: MAX_PER_SHOP + 2]]
    assert statuses == [204] * MAX_PER_SHOP + [429] * 2
    assert reporter(other_shop)(one(page="https://other.example.com/")) == 204


@pytest.mark.slow
def test_a_shop_keeps_only_the_latest_reports(shop, other_shop):
    reporter(other_shop)(one(page="https://other.example.com/"))
    kept = [f"https://h{n}.example/x.js" for n in range(MAX_SOURCES)]
    for number, source in enumerate(kept):
        assert reporter(shop, f"203.0.113.{number}")(one(source)) == 204
    # The oldest is reported again, so the second oldest is deleted.
    reporter(shop)(one(kept[0]))
    reporter(shop)(one("https://new.example/x.js"))
    of_shop = set(BlockedScript.objects.filter(shop=shop).values_list("source", flat=True))
    assert of_shop == {*kept, "https://new.example/x.js"} - {kept[1]}
    assert BlockedScript.objects.filter(shop=other_shop).count() == 1


@pytest.mark.django_db(transaction=True)
def test_counts_all_concurrent_reports(shop):
    calls = [lambda n=n: reporter(shop, f"203.0.113.{n}")(one()) for n in range(6)]
    assert run_concurrently(*calls) == [204] * 6
    assert rows() == [(SOURCE, "script-src", "/products/mug", 6)]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_concurrent_reports_respect_the_limit(shop):
    for number in range(MAX_SOURCES - 1):
        reporter(shop, f"203.0.113.{number}")(one(f"https://h{number}.example/x.js"))
    calls = [lambda n=n: reporter(shop, f"198.51.100.{n}")(one(f"https://n{n}.example/x.js")) for n in range(4)]
    assert run_concurrently(*calls) == [204] * 4
    assert BlockedScript.objects.count() == MAX_SOURCES
