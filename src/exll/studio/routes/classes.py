"""Classes: how far each has come, its rules, and renaming, merging, deleting."""

from itertools import groupby
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from exll.studio.actions import delete_class, merge_class, rename_class
from exll.studio.class_names import clean_label
from exll.studio.edits import HELD_OUT
from exll.studio.project import Project
from exll.studio.routes.requests import PROBLEMS, CurrentProject, changed
from exll.studio.routes.shapes import EXAMPLES, HELD_OUT_PHOTOS, REBUILDING, Changed, LabelText

NEWEST = 8
TOO_NEW = "too early to tell", "The model is still learning this class."
NEVER_TAUGHT = "never taught", "All its photos are held out. Teach it others, and it can be recognised."

router = APIRouter(prefix="/api", tags=["classes"], responses=PROBLEMS)


class ClassShape(BaseModel):
    label: str
    examples: int = Field(description=EXAMPLES)
    held_out: int = Field(description=HELD_OUT_PHOTOS)
    newest: list[int] = Field(description="numbers of its newest examples")
    prototypes: int
    verdict: str = Field(description="whether the class was taught enough, in a few words")
    advice: str = Field(description="what would help most")
    groups: int | None = Field(
        description="the number of clips and single photos in which it was taught, among those looked at"
    )
    like_these: float | None = Field(
        description="expected probability of the right answer for photos like these; where groups is null, the share "
        "of its last examples that were recognised before they were learned"
    )
    new_groups: float | None = Field(description="the same for photos from new places")
    confused_with: str | None


class ClassesAnswer(BaseModel):
    classes: list[ClassShape] = Field(description="including those whose photos are all held out")
    examples: int = Field(description=EXAMPLES)
    held_out: int = Field(description=HELD_OUT_PHOTOS)
    rebuilding: bool = Field(description=REBUILDING)


class Rename(BaseModel):
    label: LabelText
    new_label: LabelText
    merge: bool = False


class ClassName(BaseModel):
    label: LabelText


class RuleShape(BaseModel):
    prototype: int
    support: int
    share: float
    examples: list[int]


class ClassRules(BaseModel):
    label: str
    examples: int
    rules: list[RuleShape]


class RulesAnswer(BaseModel):
    classes: list[ClassRules]


@router.get("/classes")
async def classes(project: CurrentProject) -> ClassesAnswer:
    """Every class, in the order of its first example: whether it was taught enough, and what it is confused with."""
    return await project.reading.run(_classes, project)


@router.post("/classes/rename")
async def rename(project: CurrentProject, wanted: Rename) -> Changed:
    """Rename a class, or with ``merge`` add its examples to another class, which must exist."""
    old, new = clean_label(wanted.label), clean_label(wanted.new_label)
    renamed = merge_class if wanted.merge else rename_class
    return await changed(project, lambda: renamed(project, old, new))


@router.post("/classes/delete")
async def delete(project: CurrentProject, wanted: ClassName) -> Changed:
    """Delete a class with all its examples; undo brings it back."""
    label = clean_label(wanted.label)
    return await changed(project, lambda: delete_class(project, label))


@router.get("/rules")
async def rules(project: CurrentProject, label: Annotated[str | None, Query(max_length=1000)] = None) -> RulesAnswer:
    """The prototypes of one class, or of all: IF it resembles these examples THEN it is the class."""
    return await project.reading.run(_rules, project, label)


def _classes(project: Project) -> ClassesAnswer:
    model, counts, newest = project.live.current, project.store.counts(), project.store.newest_of_each(NEWEST)
    held_out = project.store.counts(HELD_OUT)
    progress, prototypes = {}, {}
    if model.knows_something:
        classifier = model.snapshot.classifier
        progress = {str(found.label): found for found in classifier.progress()}
        prototypes = {label: len(classifier.megacloud(label).prototypes) for label in progress}
    shapes = []
    for label, examples in {**counts, **{label: 0 for label in held_out if label not in counts}}.items():
        found = progress.get(label)
        verdict, advice = (found.verdict, found.advice) if found else TOO_NEW if examples else NEVER_TAUGHT
        shapes.append(
            ClassShape(
                label=label,
                examples=examples,
                held_out=held_out.get(label, 0),
                newest=newest.get(label, []),
                prototypes=prototypes.get(label, 0),
                verdict=verdict,
                advice=advice,
                groups=None if found is None else found.groups,
                like_these=None if found is None else found.like_these,
                new_groups=None if found is None else found.new_groups,
                confused_with=None if found is None or found.confused_with is None else str(found.confused_with),
            )
        )
    totals = project.store.totals()
    return ClassesAnswer(
        classes=shapes, examples=totals.examples, held_out=totals.held_out, rebuilding=project.live.rebuilding
    )


def _rules(project: Project, label: str | None) -> RulesAnswer:
    model = project.live.current
    if not model.knows_something:
        return RulesAnswer(classes=[])
    shown = [rule for rule in model.snapshot.classifier.rules() if label is None or rule.label == label]
    return RulesAnswer(
        classes=[
            ClassRules(
                label=str(name),
                examples=of_class[0].class_count,
                rules=[
                    RuleShape(
                        prototype=rule.conditions[0].prototype,
                        support=rule.support,
                        share=rule.share,
                        examples=[int(ref) for ref in rule.conditions[0].names],
                    )
                    for rule in of_class
                ],
            )
            for name, of_class in ((name, list(group)) for name, group in groupby(shown, lambda rule: rule.label))
        ]
    )
