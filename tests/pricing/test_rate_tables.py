"""The price list as CSV: what is exported is imported again; mistakes name their line and change nothing."""

import csv
import io

import pytest

from storefront.pricing.models import ShippingRate
from storefront.pricing.rate_tables import UnusableTable, export_rates, import_rates
from storefront.shops.models import AuditEntry
from tests.pricing.rows import make_rate, make_zone
from tests.races import run_concurrently
from tests.shops.factories import NOW

HEADER = "zone,method,by,up to,price\n"


@pytest.fixture
def home(shop):
    return make_zone(shop, "Home", ["DE"])


@pytest.fixture
def rates(shop, other_shop, home):
    make_rate(other_shop, "Parcel", "1.00", zone=make_zone(other_shop, "Home", ["DE"]))
    steps = {"2": "4.90", "10": "9.90", None: "20.00"}
    return make_rate(shop, zone=home, basis="weight", steps=steps), make_rate(shop, "Express", "12.50", zone=home)


def exported(shop):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(export_rates(shop))
    return text.getvalue()


def imported(shop, text):
    return import_rates(shop=shop, content=text.encode() if isinstance(text, str) else text, now=NOW)


def problems(shop, text):
    before = exported(shop)
    with pytest.raises(UnusableTable) as refused:
        imported(shop, text)
    assert exported(shop) == before
    return refused.value.sentences


def test_what_is_exported_is_imported_again(shop, rates):
    listed = exported(shop)
    assert listed.splitlines() == [
        "zone,method,by,up to,price",
        "Home,Parcel,weight,2,4.90",
        "Home,Parcel,weight,10,9.90",
        "Home,Parcel,weight,,20.00",
        "Home,Express,order,,12.50",
    ]
    assert imported(shop, listed) == 2
    assert exported(shop) == listed
    assert not AuditEntry.objects.filter(action="shipping_rate.updated").exists()


def test_a_file_replaces_the_prices_of_its_rates_alone(shop, other_shop, rates):
    assert imported(shop, HEADER + "home,EXPRESS,count,5,3.00\nHome,Express,count,1,1.50\n") == 1
    assert exported(shop).splitlines()[1:] == [
        "Home,Parcel,weight,2,4.90",
        "Home,Parcel,weight,10,9.90",
        "Home,Parcel,weight,,20.00",
        "Home,Express,count,1,1.50",
        "Home,Express,count,5,3.00",
    ]
    assert "1.00" in exported(other_shop)
    entry = AuditEntry.objects.get(action="shipping_rate.updated")
    assert entry.before == {"basis": "order", "prices": ["above: 12.50"]}
    assert entry.after == {"basis": "count", "prices": ["up to 1: 1.50", "up to 5: 3.00"]}


def test_a_table_becomes_one_price(shop, rates):
    imported(shop, HEADER + "Home,Parcel,order,,5.50\n")
    parcel = ShippingRate.objects.get(pk=rates[0].pk)
    assert (parcel.basis, str(parcel.price), parcel.steps.count()) == ("order", "5.50", 0)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_spreadsheets_may_use_other_separators_and_decimal_commas(shop, rates, separator):
    text = HEADER + "Home,Parcel,weight,2|5,4|90\n"
    imported(shop, b"\xef\xbb\xbf" + text.replace(",", separator).replace("|", ",").replace("\n", "\r\n").encode())
    assert "Home,Parcel,weight,2.5,4.90" in exported(shop)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("Home,Parcel,weight,2", "has 4 cells instead of 5."),
        ("Away,Parcel,weight,2,4.90", "the zone Away has no rate named Parcel."),
        ("Home,Ship,weight,2,4.90", "the zone Home has no rate named Ship."),
        ("Home,Parcel,size,2,4.90", "“by” must be one of order, weight, subtotal, count."),
        ("Home,Parcel,weight,-2,4.90", "“up to” must be a number with at most 3 decimals, not -2."),
        ("Home,Parcel,weight,2.0005,4.90", "“up to” must be a number with at most 3 decimals, not 2.0005."),
        ("Home,Parcel,count,2.5,4.90", "“up to” must be a whole number, not 2.5."),
        ("Home,Parcel,order,2,4.90", "“up to” must be empty for one price for every order."),
        ("Home,Parcel,weight,2,-4.90", "the price must be an amount such as 4.90, not -4.90."),
        ("Home,Parcel,weight,2,4.905", "the price must be an amount such as 4.90, not 4.905."),
        ('Home,Parcel,weight,2,"4,90"', "the price must be an amount such as 4.90, not 4,90."),
        ("Home,Parcel,weight,2,", "the price must be an amount such as 4.90, not empty."),
        ("Home,Parcel,weight,2,NaN", "the price must be an amount such as 4.90, not NaN."),
    ],
)
def test_a_mistake_names_its_line_and_nothing_is_imported(shop, rates, line, says):
    assert problems(shop, f"{HEADER}Home,Express,order,,1.00\n\n{line}\n") == [f"Line 4: {says}"]


def test_all_mistakes_are_named_at_once(shop, rates):
    text = "Home,Parcel,weight,2,1.00\nHome,Parcel,weight,2.000,2.00\nHome,Parcel,count,3,1.00\nA,B,order,,1\n"
    assert problems(shop, HEADER + text) == [
        "Line 3: line 2 has a price up to the same.",
        "Line 4: the rate is by weight in line 2. Use one of them.",
        "Line 5: the zone A has no rate named B.",
    ]


def test_rates_with_the_same_name_are_not_guessed(shop, home, rates):
    make_rate(shop, zone=home)
    assert problems(shop, HEADER + "Home,Parcel,order,,1.00\n") == [
        "Line 2: the zone Home has 2 rates named Parcel. Give them different names first."
    ]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "Line 1: the columns must be: zone, method, by, up to, price."),
        (b"zone,price\n", "Line 1: the columns must be: zone, method, by, up to, price."),
        (HEADER.encode(), "The file has no prices."),
        (HEADER.encode() + b"M\xfcnchen,Parcel,order,,1\n", "The file is not UTF-8."),
        (HEADER.encode() + b'"Home,Parcel,order,,1\n', "not CSV"),
        (HEADER.encode() + b"x" * 1024 * 1024, "larger than 1 MiB"),
    ],
)
def test_refuses_another_file(shop, rates, content, says):
    assert says in problems(shop, content)[0]


def test_names_that_spreadsheets_would_run_come_back_as_they_were(shop):
    make_rate(shop, "=1+1", zone=make_zone(shop, "@home", ["DE"]))
    assert "'@home,'=1+1,order,,4.90" in exported(shop)
    assert imported(shop, exported(shop)) == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_imports_at_once_one_holds_as_a_whole(shop, home):
    rate = make_rate(shop, zone=home, basis="weight", steps={"1": "9.00"})
    files = [
        HEADER + "".join(f"Home,Parcel,{basis},{n},{n}.{cents}\n" for n in range(1, 30))
        for basis, cents in (("weight", "10"), ("count", "20"), ("subtotal", "30"))
    ]
    assert run_concurrently(*(lambda file=file: imported(shop, file) for file in files)) == [1, 1, 1]
    rate.refresh_from_db()
    cents = {"weight": 10, "count": 20, "subtotal": 30}[rate.basis]
    assert [int(step.price * 100) % 100 for step in rate.steps.all()] == [cents] * 29
