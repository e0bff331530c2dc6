"""What one shop can take: each quota refuses what exceeds it, for that shop alone, and also of two at once."""

import json
from datetime import timedelta

import pytest
from django.core import mail
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django_tasks_db.models import DBTaskResult

from storefront.catalogue.actions import create_product, delete_product, restore_product
from storefront.catalogue.digital_files import store_file
from storefront.catalogue.models import Product
from storefront.content.models import Looks
from storefront.exports.actions import start_export
from storefront.kit import clock
from storefront.kit.queues import MAILS
from storefront.orders.jobs import send_order_confirmation
from storefront.orders.models import Order, OrderMail
from storefront.product_files.jobs import run_product_import
from storefront.product_files.models import ProductImport
from storefront.server.metrics.database import read
from storefront.shops import quotas
from storefront.shops.mail import WAITS, message, send
from storefront.shops.models import QuotaUse
from storefront.shops.quotas import QuotaReached
from tests.catalogue.factories import make_category, make_product
from tests.checkout.shopper import Shopper
from tests.factories.apps import install
from tests.orders.factories import make_order
from tests.pictures.hosts import drawn, fetch_waiting, picture_host, requested, state_of, take_up_all
from tests.product_files.test_admin_imports import upload
from tests.races import run_concurrently
from tests.shops.factories import NOW
from tests.staff import make_staff, open_desk


@pytest.fixture
def quota(settings):
    def set_quota(**given):
        settings.QUOTAS = settings.QUOTAS | given

    return set_quota


@pytest.fixture(autouse=True)
def own_files(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


def test_products(shop, other_shop, quota):
    quota(products=2)
    mug, _ = (create_product(shop=shop, name=name, now=NOW) for name in ("Mug", "Cup"))
    refused = install(shop, "read_products", "write_products").api.post("/products", {"name": "Dish"})
    assert (refused.status_code, refused.json()["code"]) == (422, "quota_reached")
    with pytest.raises(QuotaReached):
        create_product(shop=shop, name="Dish", now=NOW)
    create_product(shop=other_shop, name="Dish", now=NOW)
    delete_product(shop=shop, product=mug, now=NOW)
    create_product(shop=shop, name="Dish", now=NOW)
    with pytest.raises(QuotaReached):
        restore_product(shop=shop, product=mug, now=NOW)
    quota(products=0)
    create_product(shop=shop, name="Bowl", now=NOW)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_an_import_ends_with_the_reason(shop, quota):
    desk = open_desk(make_staff(shop))
    make_product(shop, "Mug")
    quota(products=2, tasks=1)
    rows = [json.dumps({"name": name, "sku": name, "price": "1.00"}) for name in ("Cup", "Dish")]
    upload(desk, "\n".join(rows).encode())
    # The second waits for the first.
    assert b"are not finished" in upload(desk, b"{}", follow=True).content
    with pytest.raises(QuotaReached):
        start_export(kind="orders", shop=shop, fields=None, include=(), updated_since=None, now=NOW)
    (row,) = ProductImport.objects.all()
    run_product_import.call(shop.pk, row.pk)
    row.refresh_from_db()
    assert (row.state, "this deployment allows" in row.reason) == ("failed", True)
    assert Product.objects.filter(shop=shop).count() == 1
    assert read().quotas == {"files": 0, "products": 0.5, "orders": 0, "mails": 0, "tasks": 1}
    page = desk.page(shop).content.decode()
    for text in ("Products: 1 of 2", "Imports and exports that are not finished: 1 of 1"):
        assert text in page


@pytest.mark.slow
def test_orders(shop, other_shop, quota):
    quota(orders=1)
    for each, name, placed in ((shop, "Mug", True), (shop, "Cup", False), (other_shop, "Mug", True)):
        shopper = Shopper(each)
        shopper.post("/basket/add", {"product": make_product(each, name, stock_qty=9).pk, "qty": "1"})
        said = shopper.order("manual")
        assert ("cannot take more orders today" in said.content.decode()) is not placed
    assert Order.objects.filter(shop=shop).count() == 1
    assert Product.objects.filter(shop=shop).order_by("pk").last().stock_qty == 9
    # The next day is another one.
    quotas.use("orders", shop_id=shop.pk, now=QuotaUse.objects.first().since + timedelta(days=1))


@pytest.mark.django_db(transaction=True)
def test_mails_beyond_the_quota_wait_for_the_next_hour(shop, other_shop, quota):
    quota(mails=1)
    for each in (shop, shop, other_shop):
        written = message(shop=each, to="ada@example.com", subject="x", text="y")
        send(written, each.pk, 1, what="test", task=run_product_import, tries=0)
    assert len(mail.outbox) == 2
    (waiting,) = DBTaskResult.objects.all()
    assert waiting.args_kwargs["args"] == [shop.pk, 1, 0]
    assert waiting.run_after == QuotaUse.objects.get(shop=shop).since + timedelta(hours=1)
    assert waiting.run_after.minute == 0


@pytest.mark.django_db(transaction=True)
def test_an_orders_mail_that_waits_has_not_failed(shop, quota):
    """Not even at the last try: the order's timeline would say that its customer got nothing."""
    quota(mails=1)
    order = make_order(shop)
    quotas.use("mails", shop_id=shop.pk, now=clock.now())
    send_order_confirmation.call(shop.pk, order.pk, len(WAITS))
    assert (len(mail.outbox), OrderMail.objects.count()) == (0, 0)
    quota(mails=2)
    waiting = DBTaskResult.objects.filter(queue_name=MAILS).latest("run_after")
    send_order_confirmation.call(*waiting.args_kwargs["args"])
    assert len(mail.outbox) == 1
    assert OrderMail.objects.get(shop=shop).sent_at is not None


@pytest.mark.django_db(transaction=True)
def test_files_and_pictures(shop, other_shop, quota):
    picture = drawn()
    with picture_host(one=picture, two=drawn(colour="#ff0000")) as host:
        quota(files=len(picture) + 10)
        rows = requested(shop, host.url("/one"), host.url("/two"))
        take_up_all(shop)
        fetch_waiting(shop)
    states = sorted(state_of(row) for row in rows)
    assert [state for state, _ in states] == ["failed", "fetched"]
    assert "this deployment allows a shop" in states[0][1]
    store_file(shop=shop, file=ContentFile(b"0123456789", name="a.txt"), now=NOW)
    with pytest.raises(QuotaReached):
        store_file(shop=shop, file=ContentFile(b"0", name="b.txt"), now=NOW)
    store_file(shop=other_shop, file=ContentFile(b"0", name="b.txt"), now=NOW)
    quotas.free("files", shop_id=shop.pk, amount=10)
    store_file(shop=shop, file=ContentFile(b"0", name="b.txt"), now=NOW)


@pytest.mark.django_db
def test_a_file_that_could_not_be_stored_is_not_counted(shop, quota, monkeypatch):
    quota(files=100)

    def no_room(*_given, **_named):
        raise OSError("no space left")

    monkeypatch.setattr("django.core.files.storage.FileSystemStorage._save", no_room)
    for _ in range(3):
        with pytest.raises(OSError, match="no space"):
            store_file(shop=shop, file=ContentFile(b"0123456789", name="a.txt"), now=NOW)
    assert quotas.used("files", shop_id=shop.pk, now=NOW) == 0


@pytest.mark.django_db
def test_a_picture_beyond_the_quota_is_refused_in_words(shop, quota):
    quota(files=5)
    desk = open_desk(make_staff(shop))
    given = {"file": ContentFile(drawn(), name="mug.png")}
    answer = desk.post(reverse("admin:catalogue_product_upload_picture"), given)
    assert (answer.status_code, "this deployment allows a shop" in answer.content.decode()) == (200, True)


@pytest.mark.django_db
def test_pictures_of_categories_and_looks_count(shop, other_shop, quota, tmp_path):
    desk = open_desk(make_staff(shop))
    cups, looks = make_category(shop, "Cups"), Looks.objects.create(shop=shop, updated_at=NOW)
    quota(files=2 * len(drawn()))
    assert desk.fill(cups, image=named_picture(), banner=named_picture()).status_code == 302
    assert quotas.used("files", shop_id=shop.pk, now=NOW) == 2 * len(drawn())
    for row, field in ((cups, "image"), (looks, "logo")):
        stored = set(tmp_path.rglob("*.*"))
        assert (
            "this deployment allows a shop" in desk.fill(row, follow=True, **{field: named_picture()}).content.decode()
        )
        assert set(tmp_path.rglob("*.*")) == stored
    looks.refresh_from_db()
    assert not looks.logo
    theirs = make_category(other_shop, "Cups")
    assert open_desk(make_staff(other_shop)).fill(theirs, image=named_picture()).status_code == 302


def named_picture() -> SimpleUploadedFile:
    return SimpleUploadedFile("mug.png", drawn(), "image/png")


@pytest.mark.django_db
def test_mails_that_protect_the_shop_do_not_wait(shop, quota):
    quota(mails=1)
    for _ in range(2):
        written = message(shop=shop, to="anna@example.com", subject="New keys", text="Look", is_to_staff=True)
        assert send(written, what="owner_notice", task=run_product_import, tries=0)
    assert len(mail.outbox) == 2
    assert quotas.used("mails", shop_id=shop.pk, now=NOW) == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["orders", "products"])
def test_of_many_at_once_none_exceeds_it(shop, quota, kind):
    quota(**{kind: 3})

    def call() -> None:
        if kind == "orders":
            quotas.use("orders", shop_id=shop.pk, now=NOW)
        else:
            create_product(shop=shop, name="Mug", now=NOW)

    found = run_concurrently(*[call] * 6, refusal=QuotaReached)
    assert sum(isinstance(each, QuotaReached) for each in found) == 3
    counts = {"orders": quotas.used("orders", shop_id=shop.pk, now=NOW), "products": Product.objects.count()}
    assert counts[kind] == 3
