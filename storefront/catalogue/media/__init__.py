"""Pictures of the catalogue: uploaded, stored, and in several sizes."""
