"""The preset `glocal`: start at :mod:`exll.learner.glocal.learner`."""
