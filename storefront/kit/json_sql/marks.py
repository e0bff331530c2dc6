"""The white space characters around what the database leaves to `fill_placeholders`."""

STORED_FILE, STORED_JSON = "\n", "\t"
