"""Raises the limit of open files and connections of a process."""

import resource


def raise_limit() -> None:
    """Raise this process's limit, which its children inherit, as far as it is allowed."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
