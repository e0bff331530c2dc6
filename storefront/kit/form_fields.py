"""Fields of forms."""

from decimal import Decimal
from typing import Any

from django import forms


class FiniteDecimalField(forms.DecimalField):
    """A decimal number. Django's own field compares the entered value before it refuses NaN, and comparing with a
    signalling NaN raises."""

    def to_python(self, value: Any) -> Decimal | None:  # type: ignore[override]
        number = super().to_python(value)
        if number is not None and not number.is_finite():
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
        return number
