"""The slow truth: every equation from the whole history. Imports nothing of ours."""
