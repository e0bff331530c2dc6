"""The admin's pages for discounts and their codes."""

from typing import Any

import pytest
from django.urls import reverse

from storefront.pricing.models import Discount, DiscountCode, DiscountTarget
from storefront.shops.audit_models import AuditEntry
from storefront.shops.models import StaffMember
from tests.catalogue.factories import make_category, make_product
from tests.pricing.rows import make_code, make_discount
from tests.pricing.test_admin_pricing import errors_of
from tests.staff import admin_url

SPRING = {"name": "Spring", "kind": "percent", "value": "10", "needs_code": "on"}


def generate(desk, discount, **given: Any):
    url = reverse("admin:pricing_discount_generate", kwargs={"object_id": discount.pk})
    return desk.post(url, {"_form_submitted": "on", **given}, follow=True)


def test_a_discount_is_saved_with_its_codes_and_items(desk, shop):
    cups = make_category(shop, "Cups")
    inlines = {
        "codes-TOTAL_FORMS": 1,
        "codes-0-code": " spring10 ",
        "codes-0-use_limit": "5",
        "targets-TOTAL_FORMS": 1,
        "targets-0-category": cups.pk,
    }
    assert desk.fill(Discount, **SPRING, is_limited_to_items="on", **inlines).status_code == 302
    code = DiscountCode.objects.get()
    assert (code.code, code.use_limit, code.shop, code.discount.needs_code) == ("SPRING10", 5, shop, True)
    assert DiscountTarget.objects.get().category == cups
    page = desk.get(admin_url(Discount, "changelist")).content.decode()
    assert ("with a code" in page, "10%" in page) == (True, True)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"value": "101"}, "value"),
        ({"value": "0"}, "value"),
        ({"kind": "buy_get", "buy_qty": "2"}, "buy_qty"),
        ({"codes-TOTAL_FORMS": 1, "codes-0-code": "two words"}, "code"),
        ({"kind": "buy_get", "buy_qty": "2", "get_qty": "0"}, "buy_qty"),
        ({"targets-TOTAL_FORMS": 1}, None),
    ],
)
def test_a_mistake_is_named_at_its_field(desk, shop, given, field):
    answer = desk.fill(Discount, **SPRING | given)
    assert answer.status_code == (302 if field is None else 200)
    assert field is None or field in errors_of(answer)


def test_a_row_names_one_product_category_or_brand(desk, shop):
    row = {"targets-0-product": make_product(shop).pk, "targets-0-category": make_category(shop).pk}
    assert "product" in errors_of(desk.fill(Discount, **SPRING, **row, targets__TOTAL_FORMS=1))


def test_a_limit_below_the_uses_is_explained(desk, shop):
    discount = make_discount(shop, needs_code=True, uses=3)
    assert "use_limit" in errors_of(desk.fill(discount, use_limit="2"))
    assert desk.fill(discount, use_limit="3").status_code == 302
    assert "3 of 3" in desk.get(admin_url(Discount, "changelist")).content.decode()


def test_codes_are_made_in_bulk_and_downloaded(desk, shop, other_shop):
    discount = make_discount(shop, needs_code=True)
    make_code(other_shop, "THEIRS")
    assert "20 codes created." in generate(desk, discount, count="20", prefix="spring-", use_limit="1").content.decode()
    codes = list(discount.codes.values_list("code", flat=True))
    assert len(set(codes)) == 20
    assert all(len(code) == 17 and code.startswith("SPRING-") and not set(code[7:]) & set("01ILOU") for code in codes)
    url = reverse("admin:pricing_discount_download_codes", kwargs={"object_id": discount.pk})
    lines = desk.get(url).content.decode().splitlines()
    assert lines[0] == "code,uses,limit"
    assert sorted(lines[1:]) == sorted(f"{code},0,1" for code in codes)
    entry = AuditEntry.objects.get(action="discount.codes_created")
    assert codes[0] not in str(entry.after)


def test_a_prefix_that_cannot_begin_a_code_is_refused(desk, shop):
    generate(desk, make_discount(shop, needs_code=True), count="2", prefix="two words", use_limit="1")
    assert DiscountCode.objects.count() == 0


@pytest.mark.parametrize("role", [StaffMember.Role.READ_ONLY])
def test_reading_staff_make_no_codes(desk, shop, role):
    discount = make_discount(shop, needs_code=True)
    assert generate(desk, discount, count="2").status_code == 403
    assert DiscountCode.objects.count() == 0


def test_another_shops_discount_is_not_found(desk, shop, other_shop):
    theirs = make_discount(other_shop, needs_code=True)
    assert generate(desk, theirs, count="2").status_code == 404
