from tests.shops.conftest import anna, clock

__all__ = ["anna", "clock"]
