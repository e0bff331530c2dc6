"""Serves the figures of this machine's processes to Prometheus, on a port of its own (STOREFRONT_METRICS).

Each process writes its figures into a mapped file (prometheus_client's multiprocess mode), so that those of a killed
process are still counted. A process beside the others adds these files up, reads the rest from the database, and
answers: no thread of a web process is needed for it, and the supervisor, which forks, needs none either.
"""
