from collections.abc import Callable
from typing import Any


class Middleware:
    """Base of our middleware: `get_response` is the next layer."""

    def __init__(self, get_response: Callable[..., Any]) -> None:
        self.get_response = get_response
