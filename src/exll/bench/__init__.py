"""Learners against each other: the paper's protocols, its metrics, and reports beside its own numbers."""
