"""Comparisons of learners: the paper's protocols, its metrics, and reports beside its own numbers."""
