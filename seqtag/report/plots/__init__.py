"""Pictures of a model's scores and errors, as PNG."""
