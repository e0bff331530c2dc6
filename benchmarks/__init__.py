"""Measures the service as its callers feel it; `make bench` runs it, docs/performance.md tells how to read it."""
