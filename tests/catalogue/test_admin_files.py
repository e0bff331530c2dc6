"""The files of a product in the admin: uploaded, replaced, removed, and refused."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from storefront.catalogue.models import DigitalFile, Product, StoredFile
from storefront.shops.models import AuditEntry
from tests.catalogue.factories import make_product, make_variant
from tests.orders.files import add_file, stored
from tests.staff import make_staff, open_desk

ADDED = {"digital_files__TOTAL_FORMS": 1, "digital_files__0__sort_order": 0}


def pdf(name: str = "book.pdf", content: bytes = b"a book") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def send(desk, file, **given):
    return desk.post(reverse("admin:catalogue_product_upload"), {"file": file} if file else {}, **given)


def errors(answer) -> list[dict]:
    formsets = answer.context_data["inline_admin_formsets"]
    return [form.errors for each in formsets for form in each.formset.forms if form.errors]


def test_a_plain_form_uploads_a_file_with_its_name_cleaned(desk, shop):
    product = make_product(shop, "Book")
    answer = desk.fill(product, **ADDED, digital_files__0__upload=pdf("..\\My\u202e book.pdf"))
    assert answer.status_code == 302, errors(answer)
    row = product.digital_files.get()
    assert (row.name, row.file.name, row.file.size, row.file.file.read()) == (
        "My book.pdf",
        "My book.pdf",
        6,
        b"a book",
    )
    assert row.variant is None
    entry = AuditEntry.objects.get(action="product.files_changed")
    assert entry.after == {"files": [{"name": "My book.pdf", "file": "My book.pdf", "variant_id": None}]}


def test_a_new_product_can_have_files(desk, shop):
    answer = desk.fill(Product, name="Book", price="5.00", **ADDED, digital_files__0__upload=pdf())
    assert answer.status_code == 302, errors(answer)
    assert DigitalFile.objects.get().product.name == "Book"


@pytest.mark.slow
def test_several_files_have_names_an_order_and_variants(desk, shop):
    product = make_product(shop, "Book")
    large = make_variant(product, "Large print")
    make_variant(make_product(shop, "Other"), "Elsewhere")
    page = desk.page(product).content.decode()
    assert "Elsewhere" not in page
    desk.fill(
        product,
        digital_files__TOTAL_FORMS=2,
        digital_files__0__upload=pdf("a.pdf"),
        digital_files__0__name="Chapter one",
        digital_files__0__sort_order=2,
        digital_files__1__upload=pdf("b.pdf"),
        digital_files__1__variant=large.pk,
        digital_files__1__sort_order=1,
    )
    found = [(row.name, row.file.name, row.variant) for row in product.digital_files.all()]
    assert found == [("b.pdf", "b.pdf", large), ("Chapter one", "a.pdf", None)]


@pytest.mark.slow
def test_a_file_is_replaced_and_removed(desk, shop):
    row = add_file(make_product(shop, "Book"), "old.pdf", b"old")
    old = row.file
    answer = desk.fill(row.product, digital_files__0__upload=pdf("new.pdf", b"new"))
    assert answer.status_code == 302, errors(answer)
    row.refresh_from_db()
    assert (row.file.file.read(), row.name) == (b"new", "old.pdf")
    assert StoredFile.objects.filter(pk=old.pk).exists()
    desk.fill(row.product, digital_files__0__DELETE="on")
    assert not DigitalFile.objects.exists()
    assert StoredFile.objects.count() == 2


@pytest.mark.slow
def test_the_script_uploads_beforehand(desk, shop):
    product = make_product(shop, "Book")
    answer = send(desk, pdf())
    desk.fill(product, **ADDED, digital_files__0__stored=answer.json()["stored"])
    assert product.digital_files.get().file.file.read() == b"a book"
    assert "shops/uploads.js" in desk.page(product).content.decode()


@pytest.mark.slow
def test_an_upload_stays_while_the_rest_of_the_form_is_corrected(desk, shop):
    product = make_product(shop, "Book")
    answer = desk.fill(product, **ADDED, digital_files__0__upload=pdf(), price="nothing")
    assert answer.status_code == 200
    assert f'name="digital_files-0-stored" value="{StoredFile.objects.get().pk}"' in answer.content.decode()


@pytest.mark.slow
@pytest.mark.parametrize(("content", "said"), [(b"", "The submitted file is empty."), (b"x" * 2000, "too large")])
def test_refuses_an_empty_and_a_large_file(desk, shop, settings, content, said):
    settings.UPLOAD_BYTES = 1000
    product = make_product(shop, "Book")
    answer = desk.fill(product, **ADDED, digital_files__0__upload=pdf(content=content))
    assert answer.status_code == 200
    assert said in str(errors(answer))
    answer = send(desk, pdf(content=content))
    assert list(answer.json()) == ["problem"]
    assert not StoredFile.objects.exists()


@pytest.mark.slow
def test_a_row_without_a_file_is_refused(desk, shop):
    answer = desk.fill(make_product(shop, "Book"), **ADDED, digital_files__0__name="Chapter")
    assert errors(answer) == [{"upload": ["Choose a file."]}]
    assert send(desk, None).json() == {"problem": "Choose a file."}


@pytest.mark.slow
def test_another_shops_file_cannot_be_taken(desk, shop, other_shop):
    theirs = stored(other_shop)
    answer = desk.fill(make_product(shop, "Book"), **ADDED, digital_files__0__stored=theirs.pk)
    assert errors(answer) == [{"upload": ["Choose a file."]}]


@pytest.mark.parametrize("role", ["fulfilment", "read_only"])
def test_staff_who_may_not_change_products_upload_nothing(desk, shop, role):
    row = add_file(make_product(shop, "Book"))
    StoredFile.objects.update(unused_since=None)
    page = desk.page(row.product).content.decode()
    assert "book.pdf" in page
    assert 'name="digital_files-0-upload"' not in page
    assert send(desk, pdf()).status_code == 403
    assert desk.get(reverse("admin:catalogue_product_upload")).status_code == 403
    desk.post(reverse("admin:catalogue_product_change", args=[row.product.pk]), {"digital_files-0-upload": pdf()})
    assert StoredFile.objects.count() == 1


def test_a_visitor_uploads_nothing(client, shop):
    assert send(client, pdf()).status_code in (302, 403)
    assert not StoredFile.objects.exists()


def test_the_server_asks_before_it_reads_a_large_body(shop):
    desk = open_desk(make_staff(shop))
    assert desk.get(reverse("admin:catalogue_product_upload")).status_code == 200
