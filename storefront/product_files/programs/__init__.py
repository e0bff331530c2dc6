"""Product files of other shop programs, for imports alone."""
