"""Assembles the rooms' APIs: bodies, headers, errors, OpenAPI."""
