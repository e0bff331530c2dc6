"""Between Granian and Django: reads bodies, assigns threads, sends files, rejects requests under overload."""
