"""Teach a folder of photos (one sub-folder per class), then ask about one photo.

python examples/learn_a_folder.py PHOTOS QUESTION.jpg
"""

import sys
from pathlib import Path

from exll import ImageLearner

if len(sys.argv) != 3:
    sys.exit("usage: python learn_a_folder.py PHOTOS QUESTION.jpg")
photos, question = Path(sys.argv[1]), Path(sys.argv[2])

learner = ImageLearner()
for photo in sorted(photos.glob("*/*.*")):
    learner.learn(photo, photo.parent.name)

print(f"{question.name}: {learner.predict(question)}")  # mug (97.3%, else bowl), or: maybe mug ..., or: unknown ...
for rule in learner.rules("megacloud"):
    print(rule)
learner.save("photos.exll")
