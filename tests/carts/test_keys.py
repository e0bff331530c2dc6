import re
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from storefront.carts.rules import Choice, line_key

GOLD = Choice(7, "Engraving", "Gold", Decimal("5.00"), 70)
TEXT = Choice(8, "Dedication", "To Ada", Decimal("2.00"))
fields = st.lists(st.fixed_dictionaries({"name": st.text(min_size=1), "value": st.text()}), max_size=5)


def test_plain_key_is_made_of_product_and_variant():
    assert line_key(12, None) == "p12"
    assert line_key(12, 34) == "p12-v34"


def test_what_makes_a_line_distinct_adds_twelve_hex_digits():
    assert re.fullmatch("p12-[0-9a-f]{12}", line_key(12, None, choices=[GOLD]))
    assert re.fullmatch("p12-v34-[0-9a-f]{12}", line_key(12, 34, is_damaged=True))


def test_every_distinguishing_member_changes_the_key():
    keys = {
        line_key(12, None),
        line_key(12, None, choices=[GOLD]),
        line_key(12, None, choices=[GOLD, TEXT]),
        line_key(12, None, custom_fields=[{"name": "To", "value": "Ada"}]),
        line_key(12, None, custom_price=Decimal("0.00")),
        line_key(12, None, custom_price=Decimal("5.00")),
        line_key(12, None, is_damaged=True),
    }
    assert len(keys) == 7


def test_option_price_does_not_change_the_key():
    dearer = Choice(7, "Engraving", "Gold", Decimal("6.00"), 70)
    assert line_key(12, None, choices=[GOLD]) == line_key(12, None, choices=[dearer])


@given(fields, st.randoms())
def test_order_of_members_does_not_change_the_key(fields, random):
    shuffled = random.sample(fields, len(fields))
    assert line_key(1, None, custom_fields=fields) == line_key(1, None, custom_fields=shuffled)
