"""Saved views of the admin's lists: search, filters and sorting under a name, shared by the shop's staff."""

from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from storefront.catalogue.models import Product
from storefront.customers.models import Customer
from storefront.orders.models import Order
from storefront.payments.actions import mark_paid
from storefront.shops.models import AuditEntry, SavedView
from storefront.staff import saved_views
from storefront.staff.saved_views import NoSuchView, TooManyViews, delete_view, rename_view, save_view
from tests.audit.entries import one_entry
from tests.catalogue.factories import make_product
from tests.customers.factories import make_customer
from tests.orders.factories import make_order, sale_line
from tests.races import run_concurrently
from tests.shops.factories import NOW
from tests.staff import admin_url, make_staff, open_desk

PRODUCTS = "catalogue.product"


def deed(model, name):
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{name}")


def save(desk, model, name, **query):
    return desk.post(deed(model, "save_view"), {"_form_submitted": "on", "name": name}, query_params=query)


def above(desk, model, **query):
    """The views above the list: their titles with their addresses, and the title of the chosen one."""
    shown = desk.get(admin_url(model, "changelist"), query).context_data["list_views"]
    chosen = [tab["title"] for tab in shown["tabs"] if tab["is_chosen"]]
    return {tab["title"]: tab["url"] for tab in shown["tabs"]}, chosen, [each["title"] for each in shown["deeds"]]


def listed(desk, model, url):
    return [row.pk for row in desk.get(admin_url(model, "changelist") + url).context_data["cl"].result_list]


def keep(shop, name="Drafts", query="status__exact=draft", list=PRODUCTS):
    return save_view(shop=shop, list=list, name=name, query=query, now=NOW)


def test_search_filters_and_sorting_are_kept_under_a_name(desk, shop):
    mugs = [make_product(shop, f"Mug {number}", status="draft", price=number) for number in (2, 3, 1)]
    make_product(shop, "Scarf", status="draft")
    make_product(shop, "Mug 9")
    query = {"q": "mug", "status__exact": "draft", "o": "-5"}
    assert above(desk, Product, **query) == ({}, [], ["Save view"])
    answer = save(desk, Product, "Draft mugs", p="2", **query)
    assert (answer.status_code, urlsplit(answer["Location"]).path) == (302, admin_url(Product, "changelist"))
    tabs, chosen, deeds = above(desk, Product, o="-5", q="mug", status__exact="draft", p="1")
    assert list(tabs) == ["All", "Draft mugs"]
    assert (chosen, deeds) == (["Draft mugs"], ["Rename", "Delete"])
    found = listed(desk, Product, tabs["Draft mugs"])
    assert found == [row.pk for row in sorted(mugs, key=lambda row: -row.price)]
    assert above(desk, Product)[1:] == (["All"], [])


def test_sorting_is_kept_by_the_columns_name(desk, shop):
    """Without actions on rows, a list has one column fewer, so the same number is another column there."""
    save(desk, Product, "By price", o="5.-2")
    assert SavedView.objects.get().query == "o=price_shown.-name"
    reader = open_desk(make_staff(shop, "rea", "read_only"))
    assert above(reader, Product)[0]["By price"] == "?o=4.-1"
    SavedView.objects.update(query="o=a_column_of_long_ago.-name&q=mug")
    assert parse_qs(above(desk, Product)[0]["By price"][1:]) == {"o": ["-2"], "q": ["mug"]}
    SavedView.objects.update(query="o=a_column_of_long_ago&q=mug")
    assert above(desk, Product)[0]["By price"] == "?q=mug"


def test_orders_and_customers_have_saved_views(desk, shop):
    paid = make_order(shop, sale_line(make_product(shop)))
    mark_paid(shop=shop, order=paid, now=NOW)
    make_order(shop, sale_line(make_product(shop, "Cup")))
    save(desk, Order, "Paid", payment_status__exact="paid")
    tabs, chosen, _ = above(desk, Order, payment_status__exact="paid")
    assert list(tabs) == ["All", "To send", "To print", "Pre-orders", "Unpaid", "Fulfilled", "Cancelled", "Paid"]
    assert chosen == ["Paid"]
    assert listed(desk, Order, tabs["Paid"]) == [paid.pk]
    # A view that every shop has need not be saved.
    assert above(desk, Order, view="to_send")[1:] == (["To send"], [])
    ada = make_customer(shop, name="Ada", email="ada@example.com")
    make_customer(shop, name="Ben", email="ben@example.com")
    save(desk, Customer, "Ada's", q="ada")
    assert listed(desk, Customer, above(desk, Customer)[0]["Ada's"]) == [ada.pk]
    assert "Ada's" not in above(desk, Order)[0]


def test_a_csv_of_customers_follows_the_list(desk, shop):
    page = desk.get(admin_url(Customer, "changelist"), {"q": "ada"}).content.decode()
    assert 'href="/admin/customers/customer/export.csv/?q=ada">Export CSV</a>' in page


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ({"q": "mug", "next": "//evil.example.com/", "_popup": "1", "javascript:alert(1)": "x"}, "q=mug"),
        ({"status__exact": "draft", "p": "7", "all": "", "e": "1"}, "status__exact=draft"),
        ({"q": '"><script>alert(1)</script>'}, "q=%22%3E%3Cscript%3Ealert%281%29%3C%2Fscript%3E"),
        ({"q": "mug", "o": "5;drop", "stock": " "}, "q=mug"),
        ({"q": "mug", "o": "99.-²"}, "q=mug"),
    ],
)
def test_only_the_lists_own_parameters_are_kept(desk, shop, rf, query, kept):
    page = admin.site.get_model_admin(Product)
    request = desk.get(admin_url(Product, "changelist")).wsgi_request
    shown = page.get_changelist_instance(request)
    request.GET = rf.get("/", query).GET
    assert page._query_of(request, shown) == kept
    keep(shop, "Odd", kept)
    text = desk.get(admin_url(Product, "changelist")).content.decode()
    assert f'<a href="?{kept.replace("&", "&amp;")}">Odd</a>' in text
    assert "<script>alert" not in text


def test_a_name_is_shown_as_text(desk, shop):
    keep(shop, "<img src=x onerror=alert(1)>")
    text = desk.get(admin_url(Product, "changelist")).content.decode()
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert "<img src=x" not in text


@pytest.mark.parametrize("query", [{"cost_price__gt": "1"}, {"brand": "abc"}, {"_to_field": "shop"}])
def test_a_filter_that_the_list_does_not_have_is_refused(desk, shop, query):
    answer = save(desk, Product, "Secrets", **query)
    assert (answer.status_code, answer["Location"]) == (302, admin_url(Product, "changelist"))
    assert not SavedView.objects.exists()


def test_a_refused_name_is_shown_again_with_what_is_wrong(desk, shop):
    save(desk, Product, "Drafts", status__exact="draft")
    again = save(desk, Product, "DRAFTS", q="mug").content.decode()
    assert "This list already has a view with this name." in again
    assert 'value="DRAFTS"' in again
    for name, problem in (
        ("", "This field is required."),
        ("x" * 41, "at most 40 characters"),
        ("a\x07b", "control characters"),
    ):
        assert problem in save(desk, Product, name, q="mug").content.decode()
    assert "nothing to save" in save(desk, Product, "Everything").content.decode()
    assert "too long to be saved" in save(desk, Product, "Long", q="x" * 1000).content.decode()
    assert [view.name for view in SavedView.objects.all()] == ["Drafts"]


def test_a_view_is_renamed_and_deleted_where_it_stands(desk, shop):
    view = keep(shop)
    asked = {"status__exact": "draft", "saved": view.pk}
    assert 'value="Drafts"' in desk.get(deed(Product, "rename_view"), asked).content.decode()
    renamed = {"_form_submitted": "on", "name": "To finish"}
    answer = desk.post(deed(Product, "rename_view"), renamed, query_params=asked)
    assert answer["Location"] == f"{admin_url(Product, 'changelist')}?status__exact=draft"
    assert above(desk, Product, status__exact="draft")[1] == ["To finish"]
    # To the same name in other capitals.
    desk.post(deed(Product, "rename_view"), {"_form_submitted": "on", "name": "TO FINISH"}, query_params=asked)
    assert SavedView.objects.get().name == "TO FINISH"
    answer = desk.post(deed(Product, "remove_view"), {"_form_submitted": "on"}, query_params=asked)
    assert answer["Location"] == admin_url(Product, "changelist")
    assert not SavedView.objects.exists()
    gone = desk.post(f"{deed(Product, 'rename_view')}?saved={view.pk}", renamed, follow=True)
    assert "This view no longer exists." in gone.content.decode()


def test_views_are_shared_by_the_shops_staff_and_seen_by_no_other_shop(desk, shop, other_shop):
    view = keep(shop)
    ben, stranger = open_desk(make_staff(shop, "ben", "manager")), open_desk(make_staff(other_shop, "eve"))
    assert "Drafts" in above(ben, Product)[0]
    assert above(stranger, Product)[0] == {}
    for name in ("rename_view", "remove_view"):
        sent = {"_form_submitted": "on", "name": "Taken"}
        assert "Drafts" not in stranger.get(deed(Product, name), {"saved": view.pk}).content.decode()
        answer = stranger.post(f"{deed(Product, name)}?saved={view.pk}", sent, follow=True)
        assert "This view no longer exists." in answer.content.decode()
        # Neither is it a view of another list of its own shop.
        desk.post(deed(Order, name), sent, query_params={"saved": view.pk})
    view.refresh_from_db()
    assert view.name == "Drafts"
    keep(other_shop)


def test_who_may_only_look_uses_views_and_changes_none(desk, shop):
    view, reader = keep(shop), open_desk(make_staff(shop, "rea", "read_only"))
    assert above(reader, Product, status__exact="draft")[1:] == (["Drafts"], [])
    assert above(reader, Product, q="mug")[2] == []
    for name in ("save_view", "rename_view", "remove_view"):
        sent = {"_form_submitted": "on", "name": "Mine"}
        assert reader.post(deed(Product, name), sent, query_params={"saved": view.pk}).status_code == 403
    # Packers note on orders, so they save views of these.
    packer = open_desk(make_staff(shop, "pia", "fulfilment"))
    assert above(packer, Order, q="kiel")[2] == ["Save view"]
    assert above(packer, Product, q="mug")[2] == []


def test_a_dialog_shows_no_name_of_a_list_that_its_reader_may_not_see(desk, shop):
    view, theirs = keep(shop, list="orders.order"), keep(shop, "Ada, who owes us", "q=ada", "customers.customer")
    packer = open_desk(make_staff(shop, "pia", "fulfilment"))
    assert packer.get(admin_url(Customer, "changelist")).status_code == 403
    assert 'value="Drafts"' in packer.get(deed(Order, "rename_view"), {"saved": view.pk}).content.decode()
    assert "Ada, who" not in packer.get(deed(Order, "rename_view"), {"saved": theirs.pk}).content.decode()


def test_each_change_is_an_entry_of_the_audit_log(desk, shop):
    with one_entry(shop) as found:
        save(desk, Product, "Drafts", status__exact="draft")
    view = SavedView.objects.get()
    assert (found[0].action, found[0].object_name, found[0].actor_name) == (
        "saved_view.created",
        "Drafts",
        "anna@example.com",
    )
    assert found[0].after == {"list": PRODUCTS, "name": "Drafts", "query": "status__exact=draft"}
    with one_entry(shop) as found:
        sent = {"_form_submitted": "on", "name": "To finish"}
        desk.post(deed(Product, "rename_view"), sent, query_params={"saved": view.pk})
    assert (found[0].action, found[0].before, found[0].after) == (
        "saved_view.renamed",
        {"name": "Drafts"},
        {"name": "To finish"},
    )
    with one_entry(shop) as found:
        desk.post(deed(Product, "remove_view"), {"_form_submitted": "on"}, query_params={"saved": view.pk})
    assert (found[0].action, found[0].before["query"]) == ("saved_view.deleted", "status__exact=draft")


def test_views_cost_a_list_one_query(desk, shop):
    def queries():
        with CaptureQueriesContext(
            connection,
        ) as found:
            desk.get(admin_url(Product, "changelist"))
        return [query["sql"] for query in found.captured_queries if "shops_savedview" in query["sql"]]

    desk.get("/admin/")
    for number in range(3):
        keep(shop, f"View {number}", f"q={number}")
    assert len(queries()) == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_many_who_save_at_once_keep_to_the_limit_and_to_one_name(shop, monkeypatch):
    monkeypatch.setattr(saved_views, "MAX_VIEWS", 3)
    same = run_concurrently(*[lambda: keep(shop) for _ in range(4)], refusal=saved_views.InvalidFields)
    assert sum(isinstance(each, SavedView) for each in same) == 1
    calls = [lambda number=number: keep(shop, f"View {number}") for number in range(5)]
    made = run_concurrently(*calls, refusal=TooManyViews)
    assert sum(isinstance(each, SavedView) for each in made) == 2
    assert SavedView.objects.count() == 3


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_a_view_deleted_and_renamed_at_once_is_gone(shop):
    view = keep(shop)
    which = {"shop": shop, "list": PRODUCTS, "view_id": view.pk, "now": NOW}
    results = run_concurrently(
        lambda: delete_view(**which),
        lambda: delete_view(**which),
        lambda: rename_view(**which, name="Other"),
        refusal=NoSuchView,
    )
    assert sum(isinstance(each, SavedView) for each in results[:2]) == 1
    assert not SavedView.objects.exists()
    assert AuditEntry.objects.filter(shop=shop, action="saved_view.deleted").count() == 1
