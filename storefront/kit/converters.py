"""`<number:...>` in paths: never larger than the largest id, unlike Django's `<int:...>`, which has no bound."""

from django.urls import register_converter

from storefront.kit.ids import MAX_ID


class Number:
    """A whole number, 0 or more, without leading zeros."""

    regex = "(?:0|[1-9][0-9]{0,15})"

    def to_python(self, value: str) -> int:
        number = int(value)
        if number > MAX_ID:
            raise ValueError("larger than any id")
        return number

    def to_url(self, value: int) -> str:
        return str(value)


register_converter(Number, "number")
