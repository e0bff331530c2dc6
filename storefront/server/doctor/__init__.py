"""`storefront doctor`: looks for what a deployment lacks, a line for each check.

What must never happen, and what prevents it:

- A check that hangs keeps the others, or the report, from coming: each runs in a thread of its own, and a deadline ends
  the wait (`running.py`). The threads are daemons, so that the process can end before them.
- A check that breaks is left out, or taken for success: it becomes a finding, `missing`.
- "ok" without a look: what could not be looked at is named, as a `warning`.
- The look changes something: only a task without an effect is queued, and removed again (`workers.py`), and one mail is
  sent where an address was given (`mails.py`).
- Secrets are printed: findings have names, addresses and times, and neither passwords nor URLs of databases.
"""
