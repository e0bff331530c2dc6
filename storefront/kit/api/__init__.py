"""What both APIs share: schemas, records, pages, conditional requests, and their answers."""
