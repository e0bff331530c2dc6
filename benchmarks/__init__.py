"""Benchmarks of the service as callers see it. Run them with `make bench`; docs/performance.md explains the results."""
