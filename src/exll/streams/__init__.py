"""Data on disk as labelled examples, one after the other, in a chosen order."""
