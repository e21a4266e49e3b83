"""Teach several things in one photo, each by its box, then ask about a region of another photo.

python examples/boxes.py BOXES.csv QUESTION.jpg X0,Y0,X1,Y1

BOXES.csv has the columns path,label,x0,y0,x1,y1: left, top, right and bottom, in pixels of the upright photo. Paths are
relative to the folder of the CSV.
"""

import csv
import sys
from pathlib import Path

from exll import ImageLearner

if len(sys.argv) != 4:
    sys.exit("usage: python boxes.py BOXES.csv QUESTION.jpg X0,Y0,X1,Y1")
table, question = Path(sys.argv[1]), Path(sys.argv[2])
region = tuple(int(edge) for edge in sys.argv[3].split(","))

learner = ImageLearner()
with table.open(newline="", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        box = tuple(int(row[edge]) for edge in ("x0", "y0", "x1", "y1"))
        learner.learn(table.parent / row["path"], row["label"], box=box)

answer = learner.predict(question, box=region)
print(
    f"{question.name}, region {sys.argv[3]}: {answer.label if answer.known else 'unknown'} ({answer.probability:.0%})"
)
for example in learner.explain(question, box=region).hit.examples[:3]:
    print(f"  resembles {Path(example.name).name}")
