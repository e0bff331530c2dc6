"""However an invoice is credited, in parts or at once: the credit notes together have its taxes and their bases."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from storefront.documents.credited_taxes import credited_taxes
from storefront.documents.models import Document

cents = st.integers(0, 10**6).map(lambda n: Decimal(n) / 100)
rates = st.lists(st.tuples(cents, cents), min_size=1, max_size=3)


@given(rates, st.lists(st.integers(1, 10**6), min_size=1, max_size=6), st.booleans())
def test_credit_notes_add_up_to_the_invoice(rates, weights, has_bases):
    total = sum((base + tax for base, tax in rates), Decimal("0.00")) + Decimal("0.06")
    taxes = [
        {"name": "VAT", "percent": "19", "base": f"{base:.2f}", "amount": f"{tax:.2f}"}
        if has_bases
        else {"name": "VAT", "percent": "19", "amount": f"{tax:.2f}"}
        for base, tax in rates
    ]
    invoice = Document(amount=total, record={"taxes": taxes})
    earlier: list[Document] = []
    for amount in _parts(total, weights):
        record = {"taxes": credited_taxes(invoice, earlier, amount)}
        earlier.append(Document(amount=amount, record=record))
        for whole, part in zip(taxes, record["taxes"], strict=True):
            assert 0 <= Decimal(part["amount"]) <= Decimal(whole["amount"])
    for i, whole in enumerate(taxes):
        credited = [note.record["taxes"][i] for note in earlier]
        assert sum(Decimal(each["amount"]) for each in credited) == Decimal(whole["amount"])
        if has_bases:
            assert sum(Decimal(each["base"]) for each in credited) == Decimal(whole["base"])
        else:
            assert {each["base"] for each in credited} == {None}


def _parts(total: Decimal, weights: list[int]) -> list[Decimal]:
    """The total in whole cents, split in about these proportions."""
    parts, left = [], total
    for weight in weights[:-1]:
        part = min((total * weight / sum(weights)).quantize(Decimal("0.01")), left)
        if part:
            parts.append(part)
            left -= part
    return [*parts, left] if left else parts
