from tests.website.conftest import mailbox, visitor  # noqa: F401, fixtures
