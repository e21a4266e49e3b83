"""Evaluation: how often the model is right on photos that are held out, what it confuses, and the learning curve."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated, Self

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from exll.studio.errors import ConflictError
from exll.studio.evaluation import (
    Measured,
    evaluations,
    hold_share_out,
    learn_again,
    measured,
    wilson,
)
from exll.studio.learning_curve import Order, curve
from exll.studio.project import Project
from exll.studio.routes.requests import PROBLEMS, CurrentProject, changed
from exll.studio.routes.shapes import REBUILDING, Changed, ExampleShape, PredictionShape

LOOK_SECONDS = 0.5  # how often to see whether the page was left

router = APIRouter(prefix="/api/evaluation", tags=["evaluation"], responses=PROBLEMS)
ClassQuery = Annotated[str | None, Query(max_length=1000)]


class Counted(BaseModel):
    """How many answers are right. The right class counts even with "maybe"; unknown is wrong."""

    examples: int
    right: int
    unusual: int = Field(description='answers that were "maybe ..."')
    unknown: int
    accuracy: float | None = Field(description="the share of right answers; null if there are no photos")
    interval: tuple[float, float] | None = Field(description="Wilson's 95% interval of the accuracy")

    @classmethod
    def of(cls, asked: Sequence[Measured], **more: object) -> Self:
        right = sum(one.right for one in asked)
        return cls(
            examples=len(asked),
            right=right,
            unusual=sum(one.prediction.level == "unusual" for one in asked),
            unknown=sum(one.answer is None for one in asked),
            accuracy=right / len(asked) if asked else None,
            interval=wilson(right, len(asked)) if asked else None,
            **more,
        )


class CountedClass(Counted):
    label: str
    taught: bool = Field(description="false: the model does not know this class, so none of its photos can be right")


class Cell(BaseModel):
    """How often photos of one class got one answer."""

    truth: str
    answer: str | None = Field(description="null: unknown")
    count: int


class EvaluationAnswer(Counted):
    """Of all held-out photos of classes that the model knows."""

    near_duplicates: int = Field(description="how many of them are almost equal to a taught photo of their class")
    without_near_duplicates: Counted
    never_taught: int = Field(description="photos of other classes; they are not in the accuracy")
    best_guess: float | None = Field(
        description="what 'exll evaluate' calls accuracy: the nearest class counts even where the answer is unknown, "
        "and photos of classes that were never taught count too"
    )
    classes: list[CountedClass] = Field(description="the worst first")
    confusion: list[Cell] = Field(description="the cells that are not 0, the most frequent first")
    taught: int = Field(description="how many photos the model has learned")
    rebuilding: bool = Field(description=REBUILDING)
    settling: bool = Field(
        description="whether the figures may still change: the last edit is learned again in a moment"
    )


class MeasuredPhoto(BaseModel):
    example: ExampleShape
    prediction: PredictionShape
    near_duplicate_of: int | None = Field(description="a taught photo of its class that is almost equal to it")


class PhotosAnswer(BaseModel):
    photos: list[MeasuredPhoto]
    count: int = Field(description="how many there are in all")


class PointShape(BaseModel):
    learned: int
    classes: int
    right: int
    asked: int = Field(description="how many held-out photos it was asked about")
    accuracy: float
    interval: tuple[float, float]


class CurveAnswer(BaseModel):
    points: list[PointShape] = Field(
        description="the last one is the present model, with the accuracy of the evaluation"
    )
    every: int = Field(
        description="n: before the last point, every n-th taught photo was learned; 1, unless there are very many"
    )
    asked_every: int = Field(description="the same for the held-out photos")


class Share(BaseModel):
    every: Annotated[int, Field(ge=2, le=100)] = 5
    newest: bool = Field(
        default=False,
        description="instead hold out as many of the newest photos of each class, so that clips are not split",
    )


@router.get("")
async def evaluation(project: CurrentProject) -> EvaluationAnswer:
    """The answers of the present model for the held-out photos. They are computed again only after a change."""
    return await project.studying.run(_evaluation, project)


@router.get("/photos")
async def photos(
    project: CurrentProject,
    truth: ClassQuery = None,
    answer: ClassQuery = None,
    unknown: Annotated[bool, Query(description="only those whose answer is unknown")] = False,
    wrong: Annotated[bool, Query(description="only those whose answer is wrong")] = False,
    near_duplicates: bool = False,
    skip: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 60,
) -> PhotosAnswer:
    """Held-out photos with their answers, the most confident first. ``truth`` and ``answer`` together select a cell of
    the confusion matrix."""

    def wanted(one: Measured) -> bool:
        return (
            (truth is None or one.truth == truth)
            and (answer is None or one.answer == answer)
            and not (unknown and one.answer is not None)
            and not (wrong and one.right)
            and not (near_duplicates and one.near_duplicate_of is None)
        )

    return await project.studying.run(_photos, project, wanted, skip, limit)


@router.get("/curve")
async def learning_curve(project: CurrentProject, request: Request, order: Order = "taught") -> CurveAnswer:
    """A fresh model learns the taught photos, in the order of teaching or one of every class in turn. At about ten
    points it is asked about the held-out photos. The last point is the present model. This takes some seconds: the
    event "evaluation" reports the progress, and the computation ends when the client disconnects."""
    left = threading.Event()
    watching = asyncio.create_task(_notice_leaving(request, left))
    try:
        return await project.studying.run(_curve, project, order, left)
    finally:
        watching.cancel()


@router.post("/hold-out")
async def hold_out(project: CurrentProject, wanted: Share) -> Changed:
    """Hold out a share of the photos of every class, as one step. Photos that are held out already stay held out."""
    return await changed(project, lambda: hold_share_out(project, wanted.every, wanted.newest))


@router.post("/learn")
async def learn(project: CurrentProject) -> Changed:
    """Learn all photos that are held out, as one step."""
    return await changed(project, lambda: learn_again(project))


async def _notice_leaving(request: Request, left: threading.Event) -> None:
    while not await request.is_disconnected():
        await asyncio.sleep(LOOK_SECONDS)
    left.set()


def _evaluation(project: Project) -> EvaluationAnswer:
    found = evaluations(project)
    asked = [] if found is None else measured(project, found)
    known = set() if found is None else set(found.classes)
    counted = [one for one in asked if one.truth in known]
    held_out = project.store.totals().held_out if found is None else len(asked)
    by_class: dict[str, list[Measured]] = {}
    for one in asked:
        by_class.setdefault(one.truth, []).append(one)
    classes = [CountedClass.of(own, label=label, taught=label in known) for label, own in by_class.items()]
    cells = Counter((one.truth, one.answer) for one in asked)
    return EvaluationAnswer.of(
        counted,
        near_duplicates=sum(one.near_duplicate_of is not None for one in counted),
        without_near_duplicates=Counted.of([one for one in counted if one.near_duplicate_of is None]),
        never_taught=held_out - len(counted),
        best_guess=sum(one.prediction.label == one.truth for one in asked) / len(asked) if asked else None,
        classes=sorted(classes, key=lambda one: (one.accuracy or 0.0, -one.examples, one.label)),
        confusion=[Cell(truth=truth, answer=said, count=count) for (truth, said), count in cells.most_common()],
        taught=project.store.totals().examples,
        rebuilding=project.live.rebuilding,
        settling=project.live.settling,
    )


def _photos(project: Project, wanted: Callable[[Measured], bool], skip: int, limit: int) -> PhotosAnswer:
    found = evaluations(project)
    chosen = [one for one in measured(project, found) if wanted(one)] if found is not None else []
    chosen.sort(key=lambda one: -one.prediction.probability)
    shown = chosen[skip : skip + limit]
    examples = project.store.numbered(one.number for one in shown)
    return PhotosAnswer(
        photos=[
            MeasuredPhoto(
                example=ExampleShape.of(examples[one.number]),
                prediction=PredictionShape.of(one.prediction),
                near_duplicate_of=one.near_duplicate_of,
            )
            for one in shown
            if one.number in examples  # not removed for good a moment ago
        ],
        count=len(chosen),
    )


def _curve(project: Project, order: Order, left: threading.Event) -> CurveAnswer:
    found = evaluations(project)
    if found is None:
        raise ConflictError("nothing was taught yet.", "Teach at least one photo first.")
    made = curve(project, found, order, left)
    return CurveAnswer(
        points=[
            PointShape(
                learned=point.learned,
                classes=point.classes,
                right=point.right,
                asked=point.asked,
                accuracy=point.right / point.asked,
                interval=wilson(point.right, point.asked),
            )
            for point in made.points
        ],
        every=made.every,
        asked_every=made.asked_every,
    )
