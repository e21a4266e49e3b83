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

answer = learner.predict(question)
if answer.known:
    print(f"{question.name} is taken for {answer.label!r} ({answer.probability:.0%}), else {answer.runner_up!r}")
else:
    print(f"{question.name} is unknown: nothing that was taught is near (nearest is {answer.label!r})")
for rule in learner.rules("megacloud"):
    print(rule)
learner.save("photos.exll")
