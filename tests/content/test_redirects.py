"""Redirects: how addresses are compared, and that none leads to another or in a circle."""

from itertools import count

import pytest

from storefront.content import redirects
from storefront.content.addresses import WrongAddress, path_of, target_of
from storefront.content.models import MissingPath, Redirect
from storefront.kit.files.tables import UnusableTable
from storefront.shops.audit_models import AuditEntry
from storefront.shops.models import Shop
from tests.races import run_concurrently
from tests.shops.factories import NOW, make_shop

HOSTS = {"shop.example.com"}


def load(shop: Shop, *lines: str, header: str = "Redirect from,Redirect to") -> redirects.Imported:
    return redirects.import_redirects(shop=shop, content="\n".join([header, *lines]).encode(), now=NOW)


def stored(shop: Shop) -> dict[str, str]:
    return dict(Redirect.objects.filter(shop=shop).values_list("path", "target"))


@pytest.mark.parametrize(
    ("entered", "path"),
    [
        ("/Old-Page/", "/old-page"),
        (" /a/b// ", "/a/b"),
        ("/M%C3%BCtze", "/mütze"),
        ("/mu\u0308tze", "/mütze"),
        ("/./a/b/../%2E/c/%2e%2E/d", "/a/d"),
        ("/../../a", "/a"),
        ("https://shop.example.com./old", "/old"),
        ("https://shop.example.com/Old", "/old"),
        ("http://SHOP.example.com:8000/a%2520b", "/a%20b"),
    ],
)
def test_paths_have_one_form(entered, path):
    assert path_of(entered, HOSTS) == path


@pytest.mark.parametrize(
    "entered", ["", "old", "//evil.example.com", "/\\evil", "/", "https://shop.example.com", "/a?b=1", "/a#b", "/%ff",
                "/%00", "https://other.example.com/old", "http://[", "/" + "a" * 500],
)  # fmt: skip
def test_refuses_what_is_no_path_of_the_shop(entered):
    with pytest.raises(WrongAddress):
        path_of(entered, HOSTS)


@pytest.mark.parametrize(
    "entered", ["/admin", "/Admin/", "/%61dmin", "/%2Fadmin", "/account/login", "/checkout/foo", "/basket/",
                "/orders/1", "/static/x", "/media/x", "/api", "/.well-known/acme", "/hand-over", "/arrive/"],
)  # fmt: skip
def test_refuses_addresses_of_accounts_and_orders(entered):
    with pytest.raises(WrongAddress, match="cannot be redirected"):
        path_of(entered, HOSTS)


@pytest.mark.parametrize(
    ("entered", "target"),
    [
        ("/products?sort=name#top", "/products?sort=name#top"),
        ("https://shop.example.com/Products", "/Products"),
        ("https://other.example.com/a?b", "https://other.example.com/a?b"),
        ("https://Bücher.example.com:8443/a?b#ü", "https://xn--bcher-kva.example.com:8443/a?b#ü"),
        ("https://shop。example.com/a", "/a"),
    ],
)
def test_targets_are_paths_or_web_addresses(entered, target):
    assert target_of(entered, HOSTS) == target


@pytest.mark.parametrize(
    "entered", ["", "products", "javascript:alert(1)", "data:text/html,a", "//evil.example.com", "/\\evil", "/a b",
                "/a\tb", "https://", "https://me:word@a.example.com/",
                "https://straße.example.com/", "https://shop%2eexample.com/",
                "ftp://other.example.com/", "/" + "a" * 2000],
)  # fmt: skip
def test_refuses_what_is_no_target(entered):
    with pytest.raises(WrongAddress):
        target_of(entered, HOSTS)


def test_imports_what_an_export_has(shop, other_shop):
    assert load(shop, "/Old/,/products", "/sale,https://other.example.com/", "/formula,/=1+1").added == 3
    lines = ["\n".join(",".join(line) for line in redirects.export_redirects(shop)).encode()]
    found = redirects.import_redirects(shop=shop, content=lines[0], now=NOW)
    assert (found.added, found.changed, found.same) == (0, 0, 3)
    assert stored(shop) == {"/old": "/products", "/sale": "https://other.example.com/", "/formula": "/=1+1"}
    assert stored(other_shop) == {}
    redirects.import_redirects(shop=other_shop, content=lines[0], now=NOW)
    assert load(shop, "/old,/categories/cups").changed == 1
    assert stored(other_shop)["/old"] == "/products"
    assert [each.after for each in AuditEntry.objects.filter(shop=shop, action="redirect.imported").order_by("pk")] == [
        {"added": 3, "changed": 0, "repointed": 0},
        {"added": 0, "changed": 1, "repointed": 0},
    ]


ODD_PATHS = [
    "/a%3Fb",
    "/a%23b",
    "/x%2541",
    "/%2Fx",
    "/%5Cx",
    "/a%20",
    "/%20a",
    "/a%22b,c",
    "/\u092e\u093f",
    "/a+b",
    "/%3Dx",
]


def test_odd_paths_come_back_from_an_export_as_they_were(shop, other_shop):
    load(shop, *(f'"{path}",/x' for path in ODD_PATHS))
    exported = "\n".join(f'"{path}",{target}' for path, target in redirects.export_redirects(shop))
    found = redirects.import_redirects(shop=shop, content=exported.encode(), now=NOW)
    assert (found.added, found.same) == (0, len(ODD_PATHS))
    assert redirects.import_redirects(shop=other_shop, content=exported.encode(), now=NOW).added == len(ODD_PATHS)
    assert stored(other_shop) == stored(shop)


def test_a_file_with_a_wrong_line_changes_nothing_and_names_it(shop):
    with pytest.raises(UnusableTable) as refused:
        load(shop, "/a,/b", "old,/b", "/c,javascript:x", "/A/,/d", "/e")
    assert refused.value.sentences == [
        "Line 3: Redirect from: Enter a path of your shop, such as /old-page.",
        "Line 4: Redirect to: Enter a path of your shop, such as /products, or an address with https://.",
        "Line 5: Redirect from: /a is in line 2 too.",
        "Line 6: has another number of cells than the header.",
    ]
    assert stored(shop) == {}


def test_chains_are_flattened_also_those_that_were_there_before(shop, other_shop):
    load(other_shop, "/b,/elsewhere")
    load(shop, "/a,/b?from=a", "/b,/c")
    assert stored(shop) == {"/a": "/c?from=a", "/b": "/c"}
    found = load(shop, "/c,/d#x")
    assert (found.added, found.changed, found.repointed) == (1, 0, 2)
    assert stored(shop) == {"/a": "/d?from=a#x", "/b": "/d#x", "/c": "/d#x"}
    assert stored(other_shop) == {"/b": "/elsewhere"}


def test_a_redirect_from_a_page_diverts_no_other(shop):
    with pytest.raises(UnusableTable) as refused:
        load(shop, "/one,/products", "/products,/two")
    (sentence,) = refused.value.sentences
    assert sentence == "Line 3: Redirect from: The shop has a page at /products, and pages that exist win."
    load(shop, "/one,/products/mug", "/products/mug,/two")
    assert stored(shop) == {"/one": "/products/mug", "/products/mug": "/two"}
    with pytest.raises(UnusableTable) as refused:
        load(shop, "/two,/one")
    assert refused.value.sentences[0].startswith("This makes a loop: ")


def test_an_import_takes_its_paths_off_the_list_of_missing_pages(shop, other_shop):
    for where, path in ((shop, "/old"), (shop, "/gone"), (other_shop, "/old")):
        MissingPath.objects.create(shop=where, path=path, asked=1, last_asked_at=NOW)
    load(shop, "/old,/x")
    assert list(MissingPath.objects.order_by("pk").values_list("shop", "path")) == [
        (shop.pk, "/gone"),
        (other_shop.pk, "/old"),
    ]


@pytest.mark.parametrize("lines", [
    ["/a,/A/"], ["/a,/b", "/b,/c", "/c,/a?x"], ["/a,/./a"], ["/a,/b/../a"], ["/a,/%2e/a"], ["/a,/x/%2e%2e/a"],
    ["/a,/x/..%2fa"], ["/a,https://{domain}./a"],
])  # fmt: skip
def test_circles_are_refused_by_name(shop, lines):
    with pytest.raises(UnusableTable) as refused:
        load(shop, *(line.format(domain=shop.domain) for line in lines))
    assert refused.value.sentences[0].startswith("This makes a loop: /a leads to ")
    assert refused.value.sentences[0].endswith("leads to /a.")
    assert stored(shop) == {}


def test_a_shop_has_no_more_than_the_bound(shop, monkeypatch):
    monkeypatch.setattr(redirects, "MAX_REDIRECTS", 2)
    load(shop, "/a,/x", "/b,/x")
    assert load(shop, "/a,/y").changed == 1
    with pytest.raises(UnusableTable) as refused:
        load(shop, "/c,/x")
    assert refused.value.sentences == ["A shop has at most 2 redirects. Delete some first."]
    assert len(stored(shop)) == 2


@pytest.mark.slow
def test_as_many_redirects_as_a_shop_can_have_are_imported_at_once(shop, django_assert_max_num_queries):
    lines = [f"/old-{number},/new-{number}" for number in range(redirects.MAX_REDIRECTS)]
    with django_assert_max_num_queries(60):
        assert load(shop, *lines).added == redirects.MAX_REDIRECTS


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_two_imports_at_once_make_no_circle():
    shop, numbers = make_shop(), count()

    def one_way(line: str) -> None:
        load(Shop.objects.get(pk=shop.pk), line, f"/other-{next(numbers)},/x")

    for _ in range(3):
        Redirect.objects.all().delete()
        answers = run_concurrently(lambda: one_way("/a,/b"), lambda: one_way("/b,/a"), refusal=UnusableTable)
        assert sorted(answer is None for answer in answers) == [False, True]
        assert ("/a" in stored(shop)) != ("/b" in stored(shop))
