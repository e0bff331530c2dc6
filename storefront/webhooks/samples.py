"""Sample events for test deliveries (R-HOOK-28)."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from storefront.shops.models import Shop
from storefront.webhooks.messages import event_record
from storefront.webhooks.models import Event

# Sequence and id of a sample. Real ones begin at 1, so an app that takes a sample for a real event finds nothing.
NOTHING = 0


def sample_event(shop: Shop, topic: str, *, id: Any, scopes: list[str], now: datetime) -> dict[str, Any]:
    """A sample of the topic's event as JSON, with `test` and the data that these scopes permit."""
    data = sample_of(import_string(settings.EVENT_SCHEMAS)(topic).model_json_schema())
    event = Event(public_id=id, shop=shop, topic=topic, data=data, created_at=now, sequence=NOTHING)
    return event_record(event, shop_domain=shop.domain, scopes=scopes, installation_id=NOTHING) | {"test": True}


def sample_of(schema: dict[str, Any], definitions: dict[str, Any] | None = None) -> Any:
    """Build a value that the JSON Schema allows, as complete as possible: the example if there is one, the first
    choice, one entry in each list, null only if nothing else is allowed."""
    definitions = schema.get("$defs", {}) if definitions is None else definitions
    if "$ref" in schema:
        return sample_of(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return sample_of(schema["anyOf"][0], definitions)
    for choices in ("examples", "enum"):
        if choices in schema:
            return schema[choices][0]
    match schema.get("type"):
        case "object":
            return {name: sample_of(each, definitions) for name, each in schema.get("properties", {}).items()}
        case "array":
            return [sample_of(schema["items"], definitions)]
        case "integer":
            return NOTHING
        case "boolean":
            return False
        case _:
            return schema.get("const", "Sample")
