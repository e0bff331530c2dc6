"""The operator's pages: the list of all shops, and one shop's page. To everybody else they are a 404."""

import pytest
from django.contrib import admin
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from storefront.content.models import Page
from storefront.deployment import load
from storefront.deployment.counting import count_due_shops
from storefront.deployment.models import DeployedShop
from storefront.orders.models import OrderMail
from storefront.shops import quotas
from storefront.shops.models import AuditEntry, QuotaUse, Shop, ShopDomain, StaffInvitation, StaffMember, User
from storefront.webhooks.models import Delivery, Registration
from tests.catalogue.factories import make_product
from tests.factories.apps import install
from tests.orders.factories import make_order, sale_line
from tests.shops.factories import NOW, make_shop
from tests.staff import admin_url, make_staff, open_desk
from tests.webhooks.factories import register

LIST = reverse("admin:deployment_deployedshop_changelist")
MANY = 2_000
# Statements of the list, however many shops there are: session, user, shop and switcher, and two for the list.
BUDGET = 8
COUNTS = ("product_count", "order_count", "webhook_count", "delivery_count", "mail_count")


def at(name: str, *rows: Shop) -> str:
    return reverse(f"admin:deployment_deployedshop_{name}", args=[row.pk for row in rows])


def row_of(shop: Shop) -> DeployedShop:
    return DeployedShop.objects.get(pk=shop.pk)


def listed(desk, **query) -> list[str]:
    return [row.domain for row in desk.get(LIST, query).context_data["cl"].result_list]


def figures(desk, shop: Shop) -> list[str]:
    """The texts of the shop's row in the list."""
    page = admin.site.get_model_admin(DeployedShop)
    row = page.get_queryset(desk.get(LIST).wsgi_request).select_related("figures").get(pk=shop.pk)
    return [str(getattr(page, name)(row)) for name in COUNTS]


def test_lists_all_shops_with_what_they_have(operator, shop, other_shop):
    make_product(shop, "Mug")
    make_order(shop)
    assert listed(operator) == ["other.example.com", "shop.example.com"]
    assert figures(operator, shop) == ["–"] * 5
    count_due_shops(now=NOW, limit=10)
    assert figures(operator, shop) == ["1", "1", "0", "0", "0"]
    assert figures(operator, other_shop) == ["0"] * 5


@pytest.mark.parametrize(
    ("term", "found"),
    [
        ("lighthouse", ["shop.example.com"]),
        ("OTHER.exa", ["other.example.com"]),
        ("ada@owners", ["shop.example.com"]),
        ("www.mugs", ["other.example.com"]),
        ("example lighthouse", ["shop.example.com"]),
        ("buyer@", []),
        ("%", []),
    ],
)
def test_finds_shops_by_name_domain_and_owner(operator, shop, other_shop, term, found):
    ada = make_staff(shop, "ada")
    User.objects.filter(pk=ada.pk).update(email="ada@owners.example.com")
    manager = make_staff(other_shop, "max", role="manager")
    User.objects.filter(pk=manager.pk).update(email="max@owners.example.com")
    ShopDomain.objects.create(shop=other_shop, domain="www.mugs.example.net", created_at=NOW)
    assert listed(operator, q=term) == found
    assert listed(operator, q="max@owners") == []


def test_filters_by_state_and_by_what_fails(operator, shop, other_shop):
    Shop.objects.filter(pk=other_shop.pk).update(is_active=False)
    doors = make_shop("doors.example.com", name="Closed doors")
    Shop.objects.filter(pk=doors.pk).update(door_password="hash")
    assert listed(operator, state="closed") == ["other.example.com"]
    assert listed(operator, state="doors") == ["doors.example.com"]
    assert listed(operator, state="open") == ["shop.example.com"]
    register(install(shop), "https://app.example.com/hook")
    Registration.objects.update(failing_since=NOW)
    count_due_shops(now=NOW, limit=10)
    assert listed(operator, failing="yes") == ["shop.example.com"]


@pytest.mark.slow
def test_lists_two_thousand_shops_by_pages_with_as_many_queries_as_for_two(operator, shop, other_shop):
    def statements(**query) -> int:
        with CaptureQueriesContext(connection) as found:
            assert operator.get(LIST, query).status_code == 200
        return len(found)

    columns = admin.site.get_model_admin(DeployedShop).list_display
    orders = [{"o": f"{sign}{at}"} for at in range(len(columns)) for sign in ("", "-") if columns[at] != "state"]
    count_due_shops(now=NOW, limit=10)
    few = [statements(**order) for order in orders]
    given = {"currency": "EUR", "created_at": NOW, "updated_at": NOW}
    rows = [Shop(domain=f"s{at}.example.org", name=f"Shop {at}", base_url=f"https://s{at}.example.org", **given)
            for at in range(MANY)]  # fmt: skip
    Shop.objects.bulk_create(rows)
    with CaptureQueriesContext(connection) as counting:
        while count_due_shops(now=NOW, limit=100):
            pass
    # Eight for a hundred shops, and one that finds nothing more.
    assert len(counting) <= 8 * (MANY / 100) + 1
    assert [statements(**order) for order in orders] == few
    assert max(few) <= BUDGET
    assert len(listed(operator)) == 50
    assert len(listed(operator, p="40")) == 50
    assert statements(q="example") == statements(q="nothing of the kind") == max(few)
    assert listed(operator, q="Shop 1999") == ["s1999.example.org"]


@pytest.mark.parametrize("name", admin.site.get_model_admin(DeployedShop).list_display)
def test_sorts_by_each_column_and_lists_each_shop_once(operator, shop, other_shop, name):
    for product in ("Mug", "Cup", "Dish"):
        make_order(other_shop, sale_line(make_product(other_shop, product)))
    load.count(other_shop.domain, 2.0, requests=9)
    load.flush(NOW)
    QuotaUse.objects.create(shop=other_shop, kind="files", since=NOW, used=9)
    hook = register(install(other_shop), "https://app.example.com/hook")
    Registration.objects.update(failing_since=NOW)
    Delivery.objects.filter(installation=hook.installation).update(status="dead", ended_at=NOW)
    mailed = {"email": "ada@example.com", "created_at": NOW, "failed_at": NOW}
    OrderMail.objects.create(shop=other_shop, order=other_shop.orders.first(), **mailed)
    QuotaUse.objects.get_or_create(shop=shop, kind="files", defaults={"since": NOW, "used": 1})
    count_due_shops(now=NOW, limit=10)
    column = admin.site.get_model_admin(DeployedShop).list_display.index(name)
    greatest_last = ["shop.example.com", "other.example.com"]
    if name not in ("state", "shop_shown"):
        assert listed(operator, o=f"{column}") == greatest_last
    assert listed(operator, o=f"-{column}") == greatest_last[:: 1 if name == "shop_shown" else -1]


def addresses(row: DeployedShop) -> list[str]:
    names = ["change", "delete", "history", "enter", "close_shop", "reopen_shop"]
    return [LIST, at("add"), *(at(name, row) for name in names)]


@pytest.mark.slow
@pytest.mark.parametrize("role", StaffMember.Role.values)
def test_to_everybody_else_they_are_a_404(operator, shop, other_shop, role):
    desk = open_desk(make_staff(shop, role, role), shop)
    before = list(Shop.objects.order_by("pk").values()), AuditEntry.objects.count()
    for row in (row_of(shop), row_of(other_shop)):
        for url in addresses(row):
            given = {"_form_submitted": "on", "post": "yes", "limit_products": "1"}
            assert (desk.get(url).status_code, desk.post(url, given).status_code) == (404, 404), url
            assert Client().get(url).status_code == 302
    assert desk.get(reverse("admin:app_list", args=["deployment"])).status_code == 404
    assert LIST not in desk.get("/admin/").content.decode()
    assert LIST in operator.get("/admin/").content.decode()
    assert desk.get(reverse("admin:search"), {"s": "All shops"}).content.decode().count(LIST) == 0
    assert (list(Shop.objects.order_by("pk").values()), AuditEntry.objects.count()) == before


def test_nothing_on_a_shops_page_is_of_a_shopper(operator, shop, other_shop):
    order = make_order(other_shop)
    given = {"kind": "order_confirmation", "email": "ada@shoppers.example.com", "subject": "Your order 1001"}
    OrderMail.objects.create(shop=other_shop, order=order, created_at=NOW, failed_at=NOW, **given)
    installed = install(other_shop)
    hook = register(installed, "https://hooks.example.com/secret-path?key=1")
    Registration.objects.filter(pk=hook.pk).update(is_active=False, paused_at=NOW)
    dead = {"status": "dead", "ended_at": NOW, "address": hook.address, "topic": "order.placed"}
    Delivery.objects.update(**dead)
    with CaptureQueriesContext(connection) as found:
        page = operator.page(row_of(other_shop)).content.decode()
    assert not [each["sql"] for each in found if "orders_order" in each["sql"] and "email" in each["sql"]]
    for shown in ("hooks.example.com", "order.placed", "order confirmation", "paused"):
        assert shown in page
    for hidden in ("shoppers.example.com", "secret-path", order.email, "Your order 1001"):
        assert hidden not in page
    assert "secret-path" not in operator.get(LIST).content.decode()


NEW = {
    "name": "Corner shop",
    "domain": "Corner.example.com",
    "base_url": "https://corner.example.com/",
    "owner": "Ada@example.com",
    "currency": "eur",
    "timezone": "Europe/Vienna",
}


@pytest.mark.django_db(transaction=True)
def test_creates_a_shop_and_invites_its_owner(operator, shop):
    answer = operator.fill(DeployedShop, **NEW, further_languages=["de", "fr"])
    made = Shop.objects.get(domain="corner.example.com")
    assert answer["Location"] == admin_url(row_of(made), "change")
    assert (made.base_url, made.currency, made.timezone) == ("https://corner.example.com", "EUR", "Europe/Vienna")
    assert made.languages == ["en", "de", "fr"]
    assert Page.objects.filter(shop=made, is_published=False).exists()
    invitation = StaffInvitation.objects.get(shop=made)
    assert (invitation.email, invitation.role) == ("ada@example.com", "owner")
    log = AuditEntry.objects.filter(shop=made, actor_name="operator@example.com").values_list("action", flat=True)
    assert {"shop.created", "staff.invited"} <= set(log)
    assert not AuditEntry.objects.filter(shop=shop, action="shop.created", object_id=made.pk).exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"domain": "shop.example.com"}, "domain"),
        ({"domain": "a b"}, "domain"),
        ({"base_url": "nowhere"}, "base_url"),
        ({"currency": "XXQ"}, "currency"),
        ({"owner": "nobody"}, "owner"),
        ({"name": " "}, "name"),
        ({"timezone": "Mars/Base"}, "timezone"),
        ({"further_languages": ["en"]}, "further_languages"),
    ],
)
def test_a_shop_that_cannot_be_names_the_field_and_creates_nothing(operator, shop, given, field):
    page = operator.fill(DeployedShop, **NEW | given)
    assert page.status_code == 200
    assert field in page.context_data["adminform"].form.errors
    assert Shop.objects.count() == 1
    assert not StaffInvitation.objects.exists()


@pytest.mark.slow
def test_sets_the_quotas_of_one_shop(operator, shop, other_shop, settings):
    settings.QUOTAS = settings.QUOTAS | {"products": 1}
    make_product(other_shop, "Mug")
    operator.fill(row_of(other_shop), limit_products="2", limit_files="1.5", limit_mails="0")
    limits = quotas.limits_of(other_shop.pk)
    assert (limits["products"], limits["files"], limits["mails"]) == (2, 1_610_612_736, 0)
    assert quotas.limits_of(shop.pk) == settings.QUOTAS
    entry = AuditEntry.objects.get(shop=other_shop, action="quotas.updated")
    assert (entry.before, entry.after["products"], entry.actor_name) == (
        {"files": None, "products": None, "mails": None},
        2,
        "operator@example.com",
    )
    # Nothing changed, nothing recorded; an empty field is the deployment's again.
    operator.fill(row_of(other_shop))
    assert AuditEntry.objects.filter(action="quotas.updated").count() == 1
    operator.fill(row_of(other_shop), limit_products="", limit_files="", limit_mails="")
    assert quotas.limits_of(other_shop.pk) == settings.QUOTAS
    assert QuotaUse.objects.exclude(most=None).count() == 0
    history = operator.page(row_of(other_shop), "history").content.decode()
    assert "quotas changed by the operator" in history


@pytest.mark.parametrize("value", ["-1", "many", "1" * 20, "NaN"])
def test_a_quota_that_is_no_number_is_refused(operator, other_shop, value):
    page = operator.fill(row_of(other_shop), limit_orders=value, limit_files=value)
    assert {"limit_orders", "limit_files"} <= set(page.context_data["adminform"].form.errors)
    assert quotas.own_limits(other_shop.pk) == {}


def test_works_in_a_shop_and_its_log_says_so(operator, shop, other_shop):
    answer = operator.post(at("enter", other_shop), {"_form_submitted": "on"})
    assert answer["Location"] == "/admin/"
    assert operator.get("/admin/").wsgi_request.shop == other_shop
    entry = AuditEntry.objects.get(shop=other_shop, action="staff.signed_in")
    assert entry.actor_name == "operator@example.com"


def test_no_mail_is_sent_for_what_is_only_looked_at(operator, shop):
    for url in addresses(row_of(shop)):
        operator.get(url)
    assert mail.outbox == []
