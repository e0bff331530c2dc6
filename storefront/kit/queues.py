"""Queues of the worker's tasks, besides the default one. The worker has a thread for each (`server/worker/worker.py`),
so that a silent mail server stops only mails, and a long import only other files."""

MAILS, FILES = "mails", "files"
