"""How long a worker that found nothing waits before it looks again."""

import time

from storefront.webhooks.delivering import MAX_PAUSE_SECONDS, POLL_SECONDS, pause_after


def test_a_database_that_stalled_is_asked_again_within_a_second():
    assert pause_after(time.monotonic() - 4) == MAX_PAUSE_SECONDS <= 1
    assert pause_after(time.monotonic()) == POLL_SECONDS
