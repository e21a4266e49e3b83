"""The preset `paper`: start at :mod:`exll.learner.paper.learner`."""
