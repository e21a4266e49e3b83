"""Correct: "no, it is ..."."""

from typing import Annotated, Literal

from fastapi import APIRouter, Form
from pydantic import BaseModel, Field

from exll.explain.wording import confidence
from exll.studio.actions import Belief, FileResult, Offered, Status, correct
from exll.studio.edits import HELD_OUT, Edit
from exll.studio.errors import ConflictError
from exll.studio.project import Project
from exll.studio.recent_images import RecentImage
from exll.studio.routes.ask import AskedId, OneFile, about_image
from exll.studio.routes.requests import PROBLEMS, BoxField, CurrentProject, LabelField, change
from exll.studio.routes.shapes import ExampleShape, PredictionShape

router = APIRouter(prefix="/api", tags=["ask"], responses=PROBLEMS)


class BeliefShape(BaseModel):
    prediction: PredictionShape | None
    probability: float = Field(description="of the label that was given as the right one")


class CorrectAnswer(BaseModel):
    label: str
    status: Literal["taught", "moved", "already"]
    example: ExampleShape | None
    before: BeliefShape
    after: BeliefShape
    turned: bool = Field(description="whether the model says the right label now")
    sentence: str
    step: int | None = Field(description="the step that undo takes back; null where nothing changed")


@router.post("/correct")
async def correct_answer(
    project: CurrentProject,
    label: LabelField,
    box: BoxField,
    file: OneFile = None,
    asked: AskedId = None,
    two_labels: Annotated[bool, Form(description="teach it even if it was taught under another label")] = False,
    move: Annotated[bool, Form(description="move it to this label if it was taught under another one")] = False,
) -> CorrectAnswer:
    """ "No, it is ...": teaches the image once, and gives the answers of the model before and after.
    With ``move``, an image that was taught as another class is moved."""
    offer = await about_image(project, file, asked, box, _offered)

    def make() -> tuple[FileResult, Belief, Belief, Edit | None]:
        result, before, after = correct(project, offer, label, two_labels, move)
        return result, before, after, project.store.last_edit() if result.status in ("taught", "moved") else None

    result, before, after, step = await change(project, make)
    if result.status == "conflict":
        raise ConflictError(result.error, result.hint)
    known = result.example or next((one for one in result.taught_as if one.label == label), None)
    turned = after.prediction is not None and after.prediction.known and after.prediction.label == label
    return CorrectAnswer(
        label=label,
        status=result.status if result.status in ("taught", "moved") else "already",
        example=None if known is None else ExampleShape.of(known),
        before=_belief(before),
        after=_belief(after),
        turned=turned,
        sentence=_sentence(label, result.status, known is not None and known.role == HELD_OUT, before, after, turned),
        step=None if step is None else step.id,
    )


def _offered(project: Project, recent: RecentImage) -> Offered:
    return Offered(project.keep(recent.image), recent.name)


def _belief(belief: Belief) -> BeliefShape:
    prediction = None if belief.prediction is None else PredictionShape.of(belief.prediction)
    return BeliefShape(prediction=prediction, probability=belief.probability)


def _sentence(label: str, status: Status, held_out: bool, before: Belief, after: Belief, turned: bool) -> str:
    if status == "already":
        return f'This image was {"held out" if held_out else "taught"} as "{label}" before; it was not taught twice.'
    change = f"from {confidence(before.probability)} to {confidence(after.probability)}"
    if status == "moved":
        return f'Moved: the probability of "{label}" went {change}.'
    if turned:
        return f'Learned: the probability of "{label}" went {change}.'
    return (
        f'Learned, but one example is not enough to change the answer: the probability of "{label}" went {change}. '
        "Teach a few more examples like this one."
    )
