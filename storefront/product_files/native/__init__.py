"""The native format, JSON Lines with one product per line: reading and writing."""
