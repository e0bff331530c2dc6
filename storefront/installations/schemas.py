from typing import Annotated

from ninja import Field

from storefront.installations.models import MAX_URL_LENGTH

# A URL that an app names in a request. Whether the shop would call it is checked by the action.
AppUrl = Annotated[str, Field(strict=True, max_length=MAX_URL_LENGTH)]
