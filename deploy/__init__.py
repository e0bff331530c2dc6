"""What operators deploy with. Only `local` is Python."""
