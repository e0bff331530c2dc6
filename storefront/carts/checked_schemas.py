"""Members of the cart API's responses that depend on the current catalogue: whether lines can be bought, and for how
much."""

from typing import Annotated, Any

from ninja import Field, Schema
from pydantic import ConfigDict

from storefront.carts.checking import LineCheck
from storefront.kit.api.schemas import Money
from storefront.kit.money import to_wire


class CurrentLine(Schema):
    """The members of a line that depend on the current catalogue."""

    available: bool = Field(
        description="Whether the line can be bought now as it is. If not, the cart's `problems` say why."
    )
    current_price: Money | None = Field(
        description="Unit price with options that the checkout charges now; null if the line cannot be bought in any "
        "quantity."
    )


class CartProblem(Schema):
    """A problem with a line of the cart. Further members depend on the code, and help to correct it."""

    model_config = ConfigDict(extra="allow")

    key: str = Field(description="The line's key.", examples=["p12"])
    code: str = Field(
        description="A code with which adding the line would be refused, such as `product_unavailable` or "
        "`insufficient_stock`, which has `available`; or `price_changed`, which has `old_price` and `new_price` and "
        "keeps nothing from being bought.",
        examples=["insufficient_stock"],
    )
    message: str = Field(description="The problem in words.", examples=["Only 2 of Mug available."])


Problems = Annotated[
    list[CartProblem],
    Field(description="What keeps lines from being bought as they are, and changed prices; empty if nothing does."),
]


def check_record(check: LineCheck) -> dict[str, Any]:
    """The line's members that depend on the catalogue as it is now (R-CART-52)."""
    return {"available": check.is_available, "current_price": to_wire(check.price)}
