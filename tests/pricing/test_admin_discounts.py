"""The admin's pages for discounts and their codes."""

from functools import partial
from typing import Any

import pytest
from django.urls import reverse

from storefront.pricing.admin_discounts import DiscountAdmin
from storefront.pricing.models import Discount, DiscountCode, DiscountTarget
from storefront.shops.audit_models import AuditEntry
from storefront.shops.models import StaffMember
from tests.catalogue.factories import make_category, make_product
from tests.pricing.rows import make_code, make_discount
from tests.pricing.test_admin_pricing import errors_of
from tests.races import run_concurrently
from tests.staff import admin_url, form_values, make_staff, open_desk

SPRING = {"name": "Spring", "kind": "percent", "value": "10", "needs_code": "on", "code": "spring"}
NEEDED = "Enter a code, since this discount is only for those who have one."


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
    code, beside = DiscountCode.objects.order_by("id")
    assert (code.code, code.use_limit, code.shop, code.discount.needs_code) == ("SPRING10", 5, shop, True)
    assert (beside.code, beside.use_limit, beside.discount, beside.shop) == ("SPRING", None, code.discount, shop)
    assert AuditEntry.objects.get(action="discount.created").after["code"] == "SPRING"
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
        ({"code": "two words"}, "code"),
        ({"code": " "}, "code"),
        ({"code": "X" * 41}, "code"),
        ({"code": "taken"}, "code"),
        ({"code": "theirs"}, None),
        ({"kind": "buy_get", "buy_qty": "2", "get_qty": "0"}, "buy_qty"),
        ({"targets-TOTAL_FORMS": 1}, None),
    ],
)
def test_a_mistake_is_named_at_its_field(desk, shop, other_shop, given, field):
    make_code(shop, "TAKEN")
    make_code(other_shop, "THEIRS")
    answer = desk.fill(Discount, **SPRING | given)
    assert answer.status_code == (302 if field is None else 200)
    assert field is None or field in errors_of(answer)


class TestOnlyWithACode:
    """A discount that nobody could use, since it has no code, is refused where one begins to be so."""

    def test_a_new_one_without_a_code_is_refused_and_keeps_what_was_entered(self, desk, shop):
        answer = desk.fill(Discount, **SPRING | {"code": ""})
        assert (answer.status_code, errors_of(answer)["code"]) == (200, [NEEDED])
        assert 'value="Spring"' in answer.content.decode()
        assert not Discount.objects.exists()

    def test_a_code_of_the_rows_is_enough_and_the_same_one_is_stored_once(self, desk, shop):
        row = {"codes-TOTAL_FORMS": 1, "codes-0-code": "spring"}
        assert desk.fill(Discount, **SPRING | row | {"code": ""}).status_code == 302
        assert (
            desk.fill(Discount, **SPRING | {"code": "may", "codes-TOTAL_FORMS": 1, "codes-0-code": "MAY"}).status_code
            == 302
        )
        assert sorted(DiscountCode.objects.values_list("code", flat=True)) == ["MAY", "SPRING"]

    def test_an_automatic_one_needs_none_and_drops_none_that_was_entered(self, desk, shop):
        answer = desk.fill(Discount, **SPRING | {"needs_code": ""})
        assert errors_of(answer)["needs_code"] == ["A code is entered. Switch this on, or remove the code."]
        assert not Discount.objects.exists()
        assert desk.fill(Discount, **SPRING | {"needs_code": "", "code": ""}).status_code == 302
        assert not DiscountCode.objects.exists()

    def test_a_new_one_asks_for_its_code_and_is_called_by_it(self, desk, shop):
        assert errors_of(desk.fill(Discount, value="10")).keys() == {"code", "name"}
        assert desk.fill(Discount, value="10", code="spring").status_code == 302
        assert (Discount.objects.get().name, DiscountCode.objects.get().code) == ("SPRING", "SPRING")
        assert "name" in errors_of(desk.fill(Discount, value="10", needs_code=""))

    @pytest.mark.slow
    def test_its_last_code_cannot_be_removed_but_replaced(self, desk, shop):
        discount = make_code(shop).discount
        assert errors_of(desk.fill(discount, codes__0__DELETE="on"))["code"] == [NEEDED]
        assert desk.fill(discount, codes__0__DELETE="on", code="summer").status_code == 302
        assert [each.code for each in discount.codes.all()] == ["SUMMER"]

    def test_codes_that_the_page_does_not_show_count(self, desk, shop):
        discount = make_code(shop).discount
        page = form_values(desk.page(discount))
        make_code(shop, "MANY", discount=discount)
        assert desk.post(admin_url(discount, "change"), page | {"codes-0-DELETE": "on"}).status_code == 302
        assert [each.code for each in discount.codes.all()] == ["MANY"]

    @pytest.mark.slow
    @pytest.mark.django_db(transaction=True)
    def test_two_who_remove_its_last_codes_at_once_leave_one(self, shop):
        """Each sees one code, as on two pages of the list of codes."""
        for attempt in range(3):
            codes = [make_code(shop, f"ONE{attempt}")]
            discount, url = codes[0].discount, admin_url(codes[0].discount, "change")
            desks = [open_desk(make_staff(shop, f"anna-{attempt}-{number}")) for number in range(2)]
            page = form_values(desks[0].page(discount)) | {"codes-0-DELETE": "on"}
            codes.append(make_code(shop, f"TWO{attempt}", discount=discount))
            given = [page | {"codes-0-id": code.pk, "codes-0-code": code.code} for code in codes]
            posts = [partial(desk.post, url, values) for desk, values in zip(desks, given, strict=True)]
            assert sorted(answer.status_code for answer in run_concurrently(*posts)) == [200, 302]
            assert discount.codes.count() == 1

    def test_a_row_beyond_those_of_the_page_is_no_code(self, desk):
        desk.fill(Discount, **SPRING | {"code": ""}, **{"codes-99-code": "ghost"})
        assert not Discount.objects.exists()

    def test_of_two_who_save_the_same_code_at_once_one_has_it(self, desk, shop, monkeypatch):
        """The other has taken it between this one's check and its own save."""
        other, save = make_discount(shop, name="Other"), DiscountAdmin.save_model

        def save_model(*given: Any) -> None:
            make_code(shop, "SPRING", discount=other)
            save(*given)

        monkeypatch.setattr(DiscountAdmin, "save_model", save_model)
        desk.fill(Discount, follow=True, **SPRING)
        assert not Discount.objects.exclude(pk=other.pk).exists()

    @pytest.mark.slow
    def test_one_that_was_saved_without_a_code_can_be_changed_and_ended(self, desk, shop):
        discount = make_discount(shop, needs_code=True)
        assert desk.fill(discount, name="Summer").status_code == 302
        values = {name: value for name, value in form_values(desk.page(discount)).items() if name != "is_active"}
        assert desk.post(admin_url(discount, "change"), values).status_code == 302
        discount.refresh_from_db()
        assert (discount.name, discount.is_active) == ("Summer", False)
        assert errors_of(desk.fill(discount, is_active="on"))["code"] == [NEEDED]
        assert desk.fill(discount, is_active="on", code="summer").status_code == 302

    def test_an_automatic_one_with_no_codes_cannot_become_one(self, desk, shop):
        assert errors_of(desk.fill(make_discount(shop), needs_code="on"))["code"] == [NEEDED]


def test_a_row_names_one_product_category_or_brand(desk, shop):
    row = {"targets-0-product": make_product(shop).pk, "targets-0-category": make_category(shop).pk}
    assert "product" in errors_of(desk.fill(Discount, **SPRING, **row, targets__TOTAL_FORMS=1))


@pytest.mark.slow
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
    assert "code" not in desk.page(discount).context["adminform"].fieldsets[0][1]["fields"]
    assert DiscountCode.objects.count() == 0


def test_another_shops_discount_is_not_found(desk, shop, other_shop):
    theirs = make_discount(other_shop, needs_code=True)
    assert generate(desk, theirs, count="2").status_code == 404
