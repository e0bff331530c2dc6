"""Further domains of a shop: owners ask for them, the operator confirms, and then they redirect."""

import html
import io
import json
import socket

import pytest
from aiohttp import web
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from limits import parse_many

from storefront.kit.refusals import InvalidFields, NotFound
from storefront.shops.models import AuditEntry, Shop, ShopDomain, User
from storefront.staff import domains, doors
from storefront.staff.domains import ask_for_domain, check_domain, confirm_domain, is_proof, proof_of
from tests.audit.entries import one_entry
from tests.catalogue.factories import make_product
from tests.races import run_concurrently
from tests.receiver import receiving
from tests.shops.factories import NOW, make_shop
from tests.staff import admin_url, make_staff, open_desk

WWW = "www.example.org"


def own(shop, domain=WWW, *, confirmed=True):
    row = ask_for_domain(shop=shop, domain=domain, now=NOW)
    return confirm_domain(shop=shop, domain=domain, now=NOW) if confirmed else row


def problems(shop, domain):
    with pytest.raises(InvalidFields) as refused:
        ask_for_domain(shop=shop, domain=domain, now=NOW)
    return refused.value.errors["domain"][0]


def at(host, path="/", method="get"):
    return getattr(Client(headers={"host": host}), method)(path)


@pytest.mark.rule("R-CALL-12")
def test_a_confirmed_domain_leads_to_the_same_page_of_the_shop(shop, other_shop):
    make_product(shop, "Mug")
    own(shop, "https://WWW.Example.org./")
    for path in ("/products/mug?variant=3&x=%C3%A4", "/", "/products?q=a%20b"):
        page = at(f"{WWW}:8443", path)
        assert (page.status_code, page["Location"]) == (301, f"https://shop.example.com{path}")
        assert page["Cache-Control"] == "max-age=3600"
    assert at(WWW, "/static/nothing.css").status_code == 404
    # What is sent is sent to the shop's own address only.
    assert at(WWW, "/basket/lines", "post").status_code == 404
    assert at(other_shop.domain).status_code == 200


def test_an_old_address_leads_to_the_shop_which_leads_on(shop, other_shop):
    own(shop)
    assert at(WWW, "/product/mug/?a=1")["Location"] == "https://shop.example.com/product/mug/?a=1"
    assert at(WWW, "/product/mug/", "post").status_code == 404
    assert at(shop.domain, "/product/mug/").status_code == 404


def test_a_domain_that_nobody_confirmed_leads_nowhere(shop, other_shop):
    own(shop, confirmed=False)
    assert at(WWW).status_code == 404
    own(other_shop)
    assert at(WWW)["Location"].startswith(other_shop.base_url)
    # To a closed shop, too: never to another one.
    Shop.objects.filter(pk=other_shop.pk).update(is_active=False)
    assert at(WWW)["Location"].startswith(other_shop.base_url)


def test_in_a_deployment_with_one_shop_only_further_domains_redirect(shop):
    own(shop)
    assert at(WWW).status_code == 301
    assert at("other.example.net").status_code == 200
    # Never to itself, whatever the address of the shop became.
    Shop.objects.update(base_url=f"https://{WWW}")
    assert at(WWW).status_code == 200


def test_a_closed_shop_is_reached_by_its_further_domains(shop):
    doors.close_doors(shop=shop, now=NOW)
    own(shop)
    assert at(WWW)["Location"] == "https://shop.example.com/"


def test_the_shops_own_domain_costs_no_query_more(shop, other_shop):
    own(shop)
    with CaptureQueriesContext(connection) as found:
        assert at(shop.domain).status_code == 200
    assert not [query for query in found.captured_queries if "shopdomain" in query["sql"]]


def test_a_shops_own_domain_wins_over_a_further_one(shop, other_shop):
    """As after a race of `createshop` with `domains confirm`, which no constraint over two tables can end."""
    row = own(shop)
    ShopDomain.objects.filter(pk=row.pk).update(domain=other_shop.domain)
    assert at(other_shop.domain).status_code == 200


@pytest.mark.parametrize(
    "domain",
    [
        "",
        "www",
        "*.example.org",
        f"{WWW}:80",
        "a b.example.org",
        "127.0.0.1",
        "[::1]",
        "bücher.example",
        "x" * 64 + ".de",
        "http://[::1",
        "https://ex\u2100mple.com",
        "www.example.org..",
        "https://www.example.org../",
    ],
)
def test_what_is_no_host_name_is_refused(shop, domain):
    assert problems(shop, domain).startswith("Expected a host name such as www.example.com")


def test_no_domain_of_somebody_else_is_taken(shop, other_shop, settings):
    settings.ADMIN_HOST, settings.SECURE_HOST = "admin.example.net", "secure.example.net:8443"
    for host in ("admin.example.net", "SECURE.example.net"):
        assert "this deployment uses it itself" in problems(shop, host)
    assert problems(shop, other_shop.domain) == f"Another shop already has the domain {other_shop.domain}."
    assert problems(shop, "https://shop.example.com/") == "This is the shop's own address."
    own(other_shop)
    assert problems(shop, WWW) == f"Another shop already has the domain {WWW}."
    with pytest.raises(InvalidFields):
        make_shop(WWW)
    own(shop, "b.example.org")
    assert "already has this domain in its list" in problems(shop, "b.example.org")


@pytest.mark.slow
def test_no_shops_address_is_where_another_shop_is_led_to(shop, other_shop):
    """Visitors would be led to the other shop, or back and forth between the two for ever."""
    own(other_shop)
    with pytest.raises(InvalidFields) as refused:
        make_shop("third.example.com", base_url=f"https://{WWW}")
    assert refused.value.errors == {"base_url": [f"Another shop already has the domain {WWW}."]}
    operator = User.objects.create_superuser("op", password="lighthouse-1")
    page = open_desk(operator, shop).fill(shop, base_url=f"https://{WWW.upper()}:8443")
    assert f"Another shop already has the domain {WWW}." in page.content.decode()
    assert open_desk(operator, other_shop).fill(other_shop, base_url=f"https://{WWW}").status_code == 302
    Shop.objects.filter(pk=other_shop.pk).update(base_url="https://SHOP.example.org:8443")
    assert problems(shop, "shop.example.org") == "Another shop already has the domain shop.example.org."
    own(shop, "op.example.org")


def test_a_domain_is_confirmed_for_one_shop_only(shop, other_shop):
    for each in (shop, other_shop):
        own(each, confirmed=False)
    first = confirm_domain(shop=shop, domain=WWW, now=NOW)
    assert confirm_domain(shop=shop, domain=WWW, now=NOW.replace(year=2027)).confirmed_at == first.confirmed_at
    with pytest.raises(InvalidFields) as refused:
        confirm_domain(shop=other_shop, domain=WWW, now=NOW)
    assert refused.value.errors == {"domain": [f"Another shop already has the domain {WWW}."]}
    with pytest.raises(NotFound):
        confirm_domain(shop=other_shop, domain="unasked.example.org", now=NOW)
    assert AuditEntry.objects.filter(action="domain.confirmed").count() == 1


def test_a_shop_has_a_bounded_number_of_domains(shop, monkeypatch):
    monkeypatch.setattr(domains, "MAX_DOMAINS", 1)
    own(shop, confirmed=False)
    assert problems(shop, "b.example.org") == "A shop can have at most 1 further domains."


@pytest.mark.slow
def test_owners_ask_for_domains_check_and_remove_them(desk, shop, other_shop):
    own(other_shop, "theirs.example.org", confirmed=False)
    text = desk.get(admin_url(ShopDomain, "changelist")).content.decode()
    assert "https://shop.example.com</a>" in text
    assert "theirs.example.org" not in text
    refused = desk.fill(ShopDomain, domain="not a host")
    assert refused.context_data["adminform"].form.errors["domain"]
    assert 'value="not a host"' in refused.content.decode()
    for odd in ("http://[", "https://www.example.org../"):
        page = desk.fill(ShopDomain, domain=odd)
        assert (page.status_code, f'value="{odd}"' in page.content.decode()) == (200, True)
    with one_entry(shop) as found:
        page = desk.fill(ShopDomain, domain="https://WWW.example.org/", follow=True)
    assert found[0].action == "domain.created"
    row = ShopDomain.objects.get(shop=shop)
    assert row.domain == WWW
    text = page.content.decode()
    assert "as soon as the operator of this deployment has confirmed it" in text
    assert "Waiting for the operator" in text
    # An owner confirms nothing, whatever is posted.
    desk.post(admin_url(row, "change"), {"domain": "shop.example.net", "confirmed_at_0": "2026-01-01"})
    row.refresh_from_db()
    assert (row.domain, row.confirmed_at) == (WWW, None)
    with one_entry(shop) as found:
        desk.post(admin_url(row, "delete"), {"post": "yes"})
    assert found[0].action == "domain.deleted"
    manager = open_desk(make_staff(shop, "ben", "manager"))
    assert manager.get(admin_url(ShopDomain, "changelist")).status_code == 403


def test_the_operator_lists_confirms_and_removes_domains(shop, other_shop):
    own(shop, confirmed=False)
    own(other_shop, "b.example.org", confirmed=False)

    def run(*arguments):
        out, err = io.StringIO(), io.StringIO()
        call_command("domains", *arguments, stdout=out, stderr=err)
        return [json.loads(line) for line in out.getvalue().splitlines()]

    assert [(each["shop"], each["domain"]) for each in run("list")] == [
        (shop.domain, WWW),
        (other_shop.domain, "b.example.org"),
    ]
    assert run("list", "--shop", shop.domain)[0]["confirmed_at"] is None
    assert run("confirm", "--shop", shop.domain, "--domain", WWW)[0]["confirmed_at"]
    assert at(WWW).status_code == 301
    run("remove", "--shop", shop.domain, "--domain", WWW)
    assert at(WWW).status_code == 404
    for lacking in (["confirm", "--shop", shop.domain], ["remove", "--domain", WWW]):
        with pytest.raises(InvalidFields):
            run(*lacking)
    with pytest.raises(NotFound):
        run("remove", "--shop", shop.domain, "--domain", WWW)


@pytest.fixture
def names(monkeypatch):
    """Host names of the test and where they lead; no other name is known."""
    known: dict[str, str] = {}

    def getaddrinfo(host, port, *_, **__):
        if host not in known:
            raise socket.gaierror(-2, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (known[host], port))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return known


def checked(shop, row):
    with one_entry(shop) as found:
        problem = check_domain(shop=shop, row=row, now=NOW)
    row.refresh_from_db()
    assert (row.problem, row.checked_at, found[0].action) == (problem, NOW, "domain.checked")
    return problem


def test_a_check_says_what_is_wrong(shop, names, settings):
    row = own(shop)
    assert checked(shop, row) == "The host name could not be resolved."
    settings.ALLOW_PRIVATE_CALLBACKS = False
    for private in ("127.0.0.1", "10.0.0.7", "169.254.169.254"):
        names[WWW] = private
        assert checked(shop, row) == "The host's address is not public."


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_a_check_tells_this_shop_from_another_server(live_server, names):
    shop = make_shop("localhost", base_url=live_server.url)
    row = own(shop, confirmed=False)
    names[WWW] = names["localhost"] = "127.0.0.1"
    assert checked(shop, row) == ""
    with receiving() as receiver:
        Shop.objects.update(base_url=receiver.url)
        shop.refresh_from_db()
        for answering in (None, redirecting, copying):
            receiver.answering = answering
            assert checked(shop, row) == domains.ELSEWHERE


async def redirecting(_request):
    return web.Response(status=301, headers={"Location": "https://parked.example.net/"})


async def copying(_request):
    """A proof of another host, which anybody can read there."""
    return web.Response(text=proof_of("shop.example.com"))


def test_a_proof_is_of_one_host_and_of_this_deployment(shop, settings):
    proof = at(WWW, domains.PROOF_PATH)
    assert is_proof(WWW, proof.content)
    assert proof["Cache-Control"] == "no-store"
    assert not is_proof("shop.example.com", proof.content)
    assert not is_proof(WWW, b"\xff")
    settings.SECRET_KEY = "another deployment's key, of 32 characters"
    settings.SECRET_KEY_FALLBACKS = []
    assert not is_proof(WWW, proof.content)


def test_the_check_is_a_button_that_says_what_it_found(desk, shop, names):
    row = own(shop)
    url = reverse("admin:shops_shopdomain_check_domain", args=[row.pk])
    page = desk.post(url, {"_form_submitted": "on"}, follow=True).content.decode()
    assert page.count("The host name could not be resolved.") == 2


def test_a_shops_checks_are_limited_since_each_holds_a_thread(desk, shop, other_shop, names, settings):
    settings.LIMITS = settings.LIMITS | {"domain_checks": parse_many("1/minute, 5/hour")}
    row, second, theirs = own(shop), own(shop, "b.example.org"), own(other_shop, "c.example.org")
    checked(shop, row)
    url = reverse("admin:shops_shopdomain_check_domain", args=[second.pk])
    page = desk.post(url, {"_form_submitted": "on"}, follow=True).content.decode()
    assert "checked very often just now" in html.unescape(page)
    second.refresh_from_db()
    assert second.checked_at is None
    checked(other_shop, theirs)


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_of_shops_confirmed_at_once_one_has_the_domain(shop, other_shop):
    for each in (shop, other_shop):
        own(each, confirmed=False)
    results = run_concurrently(
        *[lambda each=each: confirm_domain(shop=each, domain=WWW, now=NOW) for each in (shop, other_shop)],
        refusal=InvalidFields,
    )
    assert sum(isinstance(each, ShopDomain) for each in results) == 1
    assert ShopDomain.objects.filter(confirmed_at__isnull=False).count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_the_same_domain_asked_for_twice_at_once_stands_once(shop):
    results = run_concurrently(*[lambda: own(shop, confirmed=False)] * 3, refusal=InvalidFields)
    assert sum(isinstance(each, ShopDomain) for each in results) == 1
