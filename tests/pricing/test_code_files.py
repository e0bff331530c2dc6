"""Discount codes as a CSV file: what goes out comes back, completely or not at all, and each wrong line is named."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from storefront.kit.files import tables
from storefront.kit.files.tables import UnusableTable
from storefront.pricing.candidates import Shopper
from storefront.pricing.codes import import_codes
from storefront.pricing.models import DiscountCode
from storefront.pricing.redeeming import redeem
from storefront.shops.audit_models import AuditEntry
from storefront.shops.models import StaffMember
from tests.pricing.rows import make_code, make_discount
from tests.races import run_concurrently
from tests.shops.factories import NOW


@pytest.fixture
def discount(shop):
    return make_discount(shop, needs_code=True)


def take(discount, text: str | bytes):
    content = text.encode() if isinstance(text, str) else text
    return import_codes(shop=discount.shop, discount=discount, content=content, now=NOW)


def problems(discount, text: str | bytes) -> list[str]:
    before = codes(discount)
    with pytest.raises(UnusableTable) as refused:
        take(discount, text)
    assert codes(discount) == before
    return refused.value.sentences


def codes(discount) -> dict[str, int | None]:
    return dict(discount.codes.order_by("pk").values_list("code", "use_limit"))


@pytest.mark.parametrize(
    "text",
    [
        "code,limit\nsummer,5\n Spring-1 ,\n",
        "\ufeffCode;Limit\r\nSUMMER;5\r\n\r\nSPRING-1;\r\n",
        "code\tuses\tlimit\nSummer\t0\t5\nspring-1\t0\t\n",
    ],
)
def test_codes_are_added_with_their_limits(discount, text):
    found = take(discount, text)
    assert (found.added, found.changed, found.same) == (2, 0, 0)
    assert codes(discount) == {"SUMMER": 5, "SPRING-1": None}
    entry = AuditEntry.objects.get(action="discount.codes_imported")
    assert "SUMMER" not in str(entry.after)
    again = take(discount, text)
    assert (again.added, again.changed, again.same) == (0, 0, 2)


def test_the_column_of_codes_is_enough_and_other_codes_stay(discount, other_shop):
    make_code(discount.shop, "OLD", discount=discount)
    make_code(other_shop, "SUMMER")
    take(discount, "code\nsummer\n")
    assert codes(discount) == {"OLD": None, "SUMMER": None}
    assert DiscountCode.objects.filter(shop=other_shop).count() == 1


def test_a_code_that_is_there_gets_the_limit_of_the_file(discount):
    row = make_code(discount.shop, "SUMMER", discount=discount, limit=5)
    DiscountCode.objects.update(uses=3)
    assert problems(discount, "code,limit\nnew,1\nSUMMER,2\n") == [
        "Line 3: SUMMER was used 3 times, so its limit cannot be 2."
    ]
    assert take(discount, "code,limit\nSUMMER,9\n").changed == 1
    row.refresh_from_db()
    assert (row.use_limit, row.uses) == (9, 3)


def test_every_wrong_line_is_named_and_nothing_is_imported(discount):
    make_code(discount.shop, "TAKEN", discount=make_discount(discount.shop, "Winter", needs_code=True))
    long = "A" * 41
    text = f"code,limit\nGOOD,1\ntwo words,1\n=1+1,1\ntaken,1\ngood,2\nSIX,0\nSEVEN,many\n,3\nTEN\n{long},1\n"
    form = "cannot be a code. Use at most 40 letters, digits, hyphens and underscores; begin with a letter or digit."
    assert problems(discount, text) == [
        f"Line 3: “two words” {form}",
        f"Line 4: “=1+1” {form}",
        "Line 5: the code TAKEN belongs to the discount Winter.",
        "Line 6: line 2 has the code GOOD already.",
        "Line 7: “limit” must be a whole number from 1 to 1,000,000, or empty, not 0.",
        "Line 8: “limit” must be a whole number from 1 to 1,000,000, or empty, not many.",
        f"Line 9: “” {form}",
        "Line 10: has another number of cells than the header.",
        f"Line 11: “{long}” {form}",
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "Line 1: the columns must be: code, uses, limit."),
        (b"SUMMER\n", "Line 1: the columns must be: code, uses, limit."),
        (b"code,limit\n", "The file has no codes."),
        (b"code\n\xff\xfe\n", "The file is not UTF-8. In a spreadsheet, save it as “CSV UTF-8”."),
        (b"code\n" + b"A\n" * 10_001, "The file has more than 10,000 lines."),
        (b"c" * (tables.MAX_FILE_BYTES + 1), "The file is larger than 1 MiB."),
        (b'code\n"A', "Line 2: not CSV (unexpected end of data)."),
    ],
)
def test_a_file_that_is_none_is_refused(discount, content, said):
    assert problems(discount, content) == [said]


def page_of(discount, name: str) -> str:
    return reverse(f"admin:pricing_discount_{name}", kwargs={"object_id": discount.pk})


def send(desk, discount, text: str):
    return desk.post(
        page_of(discount, "import_codes"), {"file": SimpleUploadedFile("codes.csv", text.encode())}, follow=True
    )


def test_the_admin_imports_its_own_export_and_names_problems(desk, shop, other_shop, discount):
    make_code(shop, "-1+2", discount=discount)
    exported = desk.get(page_of(discount, "download_codes")).content.decode()
    assert "'-1+2,0," in exported
    make_code(shop, "SUMMER", discount=discount, limit=4)
    exported = desk.get(page_of(discount, "download_codes")).content.decode().replace("'-1+2", "SPRING")
    assert "1 added, 0 with another limit, 1 unchanged." in send(desk, discount, exported).content.decode()
    answer = send(desk, discount, "code\ntwo words\n").content.decode()
    assert "Nothing was imported." in answer
    assert "Line 2: “two words”" in answer
    theirs = make_discount(other_shop, needs_code=True)
    assert send(desk, theirs, "code\nMINE\n").status_code == 404
    assert not theirs.codes.exists()


@pytest.mark.parametrize("role", [StaffMember.Role.READ_ONLY])
def test_reading_staff_import_none(desk, discount):
    assert send(desk, discount, "code\nMINE\n").status_code == 403


@pytest.mark.django_db(transaction=True)
def test_two_imports_and_an_order_at_once(shop):
    """Of two discounts with one code, one gets it; a limit is never below the uses."""
    first, second = (make_discount(shop, name, needs_code=True) for name in ("One", "Two"))
    used = make_code(shop, "USED", discount=first, limit=5)
    refused = []

    def bring(discount, text):
        def run():
            try:
                take(discount, text)
            except UnusableTable as unusable:
                refused.append(unusable.sentences)

        return run

    def order():
        redeem(shop=shop, uses=[{"discount": first.pk, "code": used.pk, "name": "One"}], shopper=Shopper(), now=NOW)

    run_concurrently(
        bring(first, "code\nSAME\n"), bring(second, "code\nSAME\n"), bring(first, "code,limit\nUSED,1\n"), order
    )
    assert DiscountCode.objects.filter(code="SAME").count() == 1
    assert len(refused) == 1
    used.refresh_from_db()
    assert (used.uses, used.use_limit) == (1, 1)


def test_a_file_without_limits_leaves_them_as_they_are(discount):
    take(discount, "code,limit\nONCE,1\nTWICE,2\n")
    found = take(discount, "code\nONCE\nNEW\n")
    assert (found.added, found.changed, found.same) == (1, 0, 1)
    assert codes(discount) == {"ONCE": 1, "TWICE": 2, "NEW": None}
    # An empty cell says that there is none.
    take(discount, "code,limit\nONCE,\n")
    assert codes(discount)["ONCE"] is None


def test_a_nul_character_is_a_wrong_code(discount):
    (problem,) = problems(discount, "code\nSUM\0MER\n")
    assert problem.startswith("Line")
