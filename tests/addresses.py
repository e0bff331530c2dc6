"""The address of the tests' shopper."""

ADDRESS = {
    "name": "Ada Lovelace",
    "line1": "Hafenstraße 1",
    "postal_code": "24103",
    "city": "Kiel",
    "country": "DE",
}
