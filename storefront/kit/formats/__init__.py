"""How Django's templates and forms write and read dates (setting FORMAT_MODULE_PATH)."""
