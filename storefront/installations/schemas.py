from typing import Annotated

from ninja import Field

from storefront.installations.models import LONGEST_URL

# A URL that an app names in a request. Whether the shop would call it is checked by the action.
AppUrl = Annotated[str, Field(strict=True, max_length=LONGEST_URL)]
