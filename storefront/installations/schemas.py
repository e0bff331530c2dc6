from typing import Annotated

from ninja import Field

from storefront.installations.models import MAX_URL_LENGTH

# A URL that an app names in a request. The action checks that the shop may call it.
AppUrl = Annotated[str, Field(strict=True, max_length=MAX_URL_LENGTH)]
