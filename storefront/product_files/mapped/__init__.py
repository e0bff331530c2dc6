"""Tables of no known format, read by a mapping of their columns."""
