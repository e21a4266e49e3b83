"""The paper's model, on unit vectors and class numbers. Start at :mod:`exll.learner.exll`."""
