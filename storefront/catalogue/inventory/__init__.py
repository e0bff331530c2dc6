"""Stock: how it is counted, changed, written to the ledger, and served to programs."""
