"""The learner as a step of a scikit-learn pipeline, measured by cross-validation.

python examples/sklearn_pipeline.py
"""

from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from exll import ExLLClassifier

X, y = load_digits(return_X_y=True)
pipeline = make_pipeline(PCA(40), ExLLClassifier())  # preset="glocal", the default
scores = cross_val_score(pipeline, X, y, cv=3)
print(f"{scores.mean():.1%} right, in three parts: {', '.join(f'{score:.1%}' for score in scores)}")
