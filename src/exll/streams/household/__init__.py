"""A synthetic household: videos of everyday objects, drawn here, so that a benchmark needs no download."""
