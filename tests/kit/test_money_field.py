"""Columns of money compute exactly, and refuse what is not money."""

from decimal import Decimal
from pathlib import Path

import pytest
from django.apps import apps
from django.core.exceptions import FieldError, ValidationError
from django.db import connection, models, transaction
from django.db.models import Avg, Case, Count, F, Max, Min, OuterRef, Q, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce, Greatest

from storefront.gift_cards.models import GiftCard, GiftCardEntry
from storefront.kit.money import MAX_AMOUNT
from storefront.kit.money_field import MoneyField, from_hundredths, hundredths
from storefront.orders.models import Order, OrderLine
from tests.catalogue.factories import make_product
from tests.gift_cards.factories import make_card
from tests.orders.factories import make_order, sale_line

pytestmark = pytest.mark.any_database

FIVE = Decimal("5.00")
# Decimals of the project that are no money, and what they are.
NO_MONEY = {
    "catalogue.MeasureField": "weights and sizes",
    "pricing.QuantityField": "weights",
    "customers.CustomerGroup.discount_percent": "a percentage",
    "pricing.TaxRate.percent": "a percentage",
    "pricing.Discount.value": "a percentage, or an amount that no statement adds or compares",
}


@pytest.fixture
def card(shop) -> GiftCard:
    return make_card(shop, "50.00")[0]


@pytest.fixture
def line(shop) -> OrderLine:
    return make_order(shop, sale_line(make_product(shop, price=Decimal("0.10"), stock_qty=9), 3)).lines.get()


def test_sums_and_differences_are_exact(shop, card):
    for amount in ("39.95", "10.04"):
        GiftCard.objects.update(balance=F("balance") - Value(Decimal(amount), MoneyField()))
    assert GiftCard.objects.filter(balance__gte=Decimal("0.01"), balance__lte=Decimal("0.01")).exists()
    make_card(shop, "0.10"), make_card(shop, "0.20")
    found = GiftCard.objects.aggregate(sum=Sum("balance"), least=Min("balance"), most=Max("balance"))
    assert {name: str(amount) for name, amount in found.items()} == {"sum": "0.31", "least": "0.01", "most": "0.20"}
    left = GiftCard.objects.filter(pk=card.pk).annotate(left=F("value") - F("balance")).get().left
    assert str(left) == "49.99"
    assert GiftCardEntry.objects.filter(card__pk=0).aggregate(sum=Sum("amount", default=Decimal(0)))["sum"] == 0


def test_whole_numbers_times_money_are_money(line):
    lines = OrderLine.objects.annotate(sum=F("qty") * F("unit_price"), less=-F("unit_price"))
    assert [(str(each.sum), str(each.less)) for each in lines] == [("0.30", "-0.10")]
    assert lines.filter(sum=Decimal("0.3"), line_total=F("sum"), unit_price__in=[Decimal("0.1")]).count() == 1
    assert (
        lines.filter(unit_price__range=(Decimal("0.1"), Decimal("0.1"))).aggregate(all=Sum("sum"))["all"]
        == line.line_total
    )


WRONG_VALUES = {
    "decimal": lambda: F("balance") - FIVE,
    "number": lambda: F("balance") + 5,
    "float": lambda: F("balance") - 5.0,
    "part": lambda: F("balance") / 2,
    "percent": lambda: F("balance") * Decimal("1.19"),
    "product": lambda: F("balance") * F("value"),
    "column": lambda: F("number"),
    "value": lambda: Value(FIVE),
    "case": lambda: Case(When(balance__gt=0, then=Value(FIVE)), default=F("balance")),
    "function": lambda: Greatest(F("balance") - FIVE, Value(FIVE)),
    "inner": lambda: F("balance") - (F("balance") - FIVE),
}


@pytest.mark.parametrize("wrong", WRONG_VALUES)
def test_an_expression_that_is_no_money_is_not_stored(card, wrong):
    with pytest.raises(FieldError), transaction.atomic():
        GiftCard.objects.update(balance=WRONG_VALUES[wrong]())
    card.balance = WRONG_VALUES[wrong]()
    with pytest.raises(FieldError), transaction.atomic():
        card.save()
    assert GiftCard.objects.get().balance == 50


@pytest.mark.parametrize("wrong", WRONG_VALUES)
def test_an_expression_that_is_no_money_is_not_compared(card, wrong):
    for condition in (
        Q(value__gte=WRONG_VALUES[wrong]()),
        Q(value=WRONG_VALUES[wrong]()),
        Q(value__in=[WRONG_VALUES[wrong](), 1]),
        Q(value__range=(0, WRONG_VALUES[wrong]())),
    ):
        with pytest.raises(FieldError):
            list(GiftCard.objects.filter(condition))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Sum(F("balance") * F("value")),
        lambda: Sum(F("balance") - FIVE),
        lambda: Coalesce(Sum("entries__amount"), FIVE),
        lambda: F("balance") - FIVE,
        lambda: Greatest("balance", "number"),
    ],
)
def test_an_expression_that_is_no_money_is_not_read(card, wrong):
    with pytest.raises(FieldError):
        list(GiftCard.objects.annotate(wrong=wrong()))


def test_a_subquery_compares_money_with_money(card):
    entries = GiftCardEntry.objects.filter(card=OuterRef("pk"))
    assert GiftCard.objects.filter(balance=Subquery(entries.values("balance")[:1])).exists()
    assert GiftCard.objects.filter(Q(entries__amount=OuterRef("value")) | Q(pk=1)).query
    of_value = GiftCard.objects.filter(pk=OuterRef("card"), value=OuterRef("amount"))
    assert GiftCardEntry.objects.filter(models.Exists(of_value)).count() == 1
    with pytest.raises(FieldError):
        GiftCard.objects.filter(balance=Subquery(entries.values("pk")[:1]))


def test_an_average_is_no_amount(shop, card):
    make_card(shop, "0.05")
    with pytest.raises(ValueError, match="hundredths are no amount of money"):
        GiftCard.objects.aggregate(Avg("balance"))


@pytest.mark.parametrize("amount", ["0.001", "1000000000000.00", "-1000000000000.00", "12.505", "1e-40"])
def test_an_amount_that_the_column_cannot_hold_is_refused(card, amount):
    for write in (
        lambda: GiftCard.objects.update(balance=Decimal(amount)),
        lambda: GiftCard.objects.filter(balance__gte=Decimal(amount)).count(),
        lambda: list(GiftCard.objects.annotate(more=F("balance") + Value(Decimal(amount), MoneyField()))),
    ):
        with pytest.raises(ValueError, match=r"(balance|amount): .* (fraction digits|more than)"):
            write()


@pytest.mark.parametrize("value", [0.5, True, "x", "NaN", Decimal("Infinity"), [1]])
def test_what_is_no_decimal_is_refused(value):
    with pytest.raises(ValidationError, match="must be a decimal number"):
        MoneyField().get_prep_value(value)


def test_a_form_says_what_is_wrong_with_an_amount(card):
    field = GiftCard._meta.get_field("value").formfield()
    assert (field.max_digits, field.decimal_places, field.clean("12.5")) == (14, 2, Decimal("12.5"))
    for text, words in (("1.005", "2 decimal places"), ("1" * 15, "14 digits"), ("x", "Enter a number")):
        with pytest.raises(ValidationError, match=words):
            field.clean(text)
    for value, words in (("-1", "greater than or equal to 0.00"), ("1.005", "2 decimal places")):
        with pytest.raises(ValidationError, match=words):
            GiftCard._meta.get_field("value").clean(Decimal(value), card)
    assert GiftCardEntry._meta.get_field("amount").clean(Decimal(-1), GiftCardEntry(shop=card.shop)) == -1


@pytest.mark.django_db
@pytest.mark.parametrize("amount", [Decimal("0.00"), Decimal("0.01"), Decimal("-0.30"), MAX_AMOUNT, -MAX_AMOUNT])
def test_every_amount_is_read_as_it_was_written(amount):
    assert from_hundredths(hundredths(amount)) == amount
    assert str(from_hundredths(hundredths(amount))) == f"{amount:.2f}"
    assert str(from_hundredths(hundredths(-Decimal("0.00")))) == "0.00"


@pytest.mark.slow
def test_all_money_is_in_whole_hundredths(db):
    own = [model for model in apps.get_models() if model.__module__.startswith("storefront.")]
    fields = [field for model in own for field in model._meta.concrete_fields]
    decimals = {
        str(field) if type(field) is models.DecimalField else f"{field.model._meta.app_label}.{type(field).__name__}"
        for field in fields
        if isinstance(field, models.DecimalField | models.FloatField)
    }
    assert decimals == set(NO_MONEY)
    with connection.cursor() as cursor:
        for model in own:
            table = connection.introspection.get_table_description(cursor, model._meta.db_table)
            kinds = {column.name: connection.introspection.get_field_type(column.type_code, column) for column in table}
            money = [field for field in model._meta.concrete_fields if isinstance(field, MoneyField)]
            assert {kinds[field.column] for field in money} <= {"BigIntegerField"}, model
    assert sum(isinstance(field, MoneyField) for field in fields) > 40


def test_no_statement_claims_to_compute_money():
    """With an output field, Django would believe whatever an expression computes."""
    for path in Path("storefront").rglob("*.py"):
        text = path.read_text()
        assert "output_field=MoneyField" not in text, path
        assert "output_field=DecimalField" not in text, path
        assert "output_field=models.DecimalField" not in text, path


def test_orders_are_compared_exactly(line):
    assert Order.objects.filter(total=Decimal("0.30")).annotate(Count("lines")).get().total == line.line_total
