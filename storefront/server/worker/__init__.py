"""The background worker: queued tasks, sweeps, webhook deliveries."""
