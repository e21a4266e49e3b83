"""Parts of requests and answers that several routes share."""

from typing import Annotated

from pydantic import BaseModel, Field

from exll.estimator import Prediction
from exll.studio.actions import FileResult, Status
from exll.studio.edits import Edit, Role
from exll.studio.store import LARGEST_ID, StoredExample
from exll.types import Level

MOST_EXAMPLES_AT_ONCE = 10_000

Number = Annotated[int, Field(ge=1, le=LARGEST_ID)]
LabelText = Annotated[str, Field(min_length=1, max_length=1000)]


class Problem(BaseModel):
    """What went wrong and what to do."""

    error: str
    hint: str


class ExampleShape(BaseModel):
    id: int
    label: str
    name: str = Field(description="the file's name as it was sent; only to be shown")
    taught_at: float = Field(description="seconds since 1970")
    deleted: bool
    image: str = Field(description="address of the image")
    thumbnail: str = Field(description="address of a small WebP")
    role: Role = Field(
        description="taught; held out: kept for measuring and never learned; nothing: none of the classes"
    )
    box: str | None = Field(description="where in a larger photo it lies: left,top,right,bottom in pixels")
    whole: str | None = Field(description="address of that photo")

    @classmethod
    def of(cls, example: StoredExample) -> "ExampleShape":
        return cls(
            id=example.id,
            label=example.label,
            name=example.name,
            taught_at=example.taught_at,
            deleted=example.deleted,
            image=image_url(example.id),
            thumbnail=thumbnail_url(example.id),
            role=example.role,
            box=example.box,
            whole=None if example.source is None else f"/api/examples/{example.id}/whole",
        )


def image_url(number: int) -> str:
    return f"/api/examples/{number}/image"


def thumbnail_url(number: int) -> str:
    return f"/api/examples/{number}/thumbnail"


class PredictionShape(BaseModel):
    label: str = Field(description="the nearest class; the answer only where known is true")
    probability: float
    runner_up: str | None = Field(description="the second choice; null where there is only one class")
    known: bool = Field(description="false: like nothing that was taught, say unknown")
    level: Level = Field(description="usual; unusual: unlike the images that were taught; unknown: known is false")
    novelty: float | None = Field(description="the score behind level; null where the preset does not measure it")

    @classmethod
    def of(cls, prediction: Prediction) -> "PredictionShape":
        return cls(
            label=str(prediction.label),
            probability=prediction.probability,
            runner_up=None if prediction.runner_up is None else str(prediction.runner_up),
            known=prediction.known,
            level=prediction.level,
            novelty=prediction.novelty,
        )


class TaughtFile(BaseModel):
    """What became of one file."""

    file: str
    status: Status
    example: ExampleShape | None = None
    taught_as: list[ExampleShape] = Field(default=[], description="where this image was taught before")
    error: str = ""
    hint: str = ""

    @classmethod
    def of(cls, result: FileResult) -> "TaughtFile":
        return cls(
            file=result.file,
            status=result.status,
            example=None if result.example is None else ExampleShape.of(result.example),
            taught_as=[ExampleShape.of(example) for example in result.taught_as],
            error=result.error,
            hint=result.hint,
        )


REBUILDING = "true if answers do not include the last changes yet, which is rare; the event 'rebuilt' says when they do"


CLASSES = "classes that were taught; those whose photos are all held out are not counted"
EXAMPLES = "photos that were taught"
HELD_OUT_PHOTOS = "photos that are held out; they are not among the taught ones"


class Numbers(BaseModel):
    ids: list[Number] = Field(min_length=1, max_length=MOST_EXAMPLES_AT_ONCE)


class Changed(BaseModel):
    changed: int = Field(description="how many examples changed")
    step: int | None = Field(description="the step that undo takes back; null where nothing changed")
    rebuilding: bool = Field(description=REBUILDING)


class MapPrototype(BaseModel):
    label: str
    support: int
    examples: list[int] = Field(description="numbers of some of its examples, the most typical first")
    x: float = Field(description="from 0 to 1, from left to right")
    y: float = Field(description="from 0 to 1, from top to bottom")


class MapEdge(BaseModel):
    """Two neighbouring prototypes of a class, by their indices in ``prototypes``."""

    one: int
    other: int
    strength: float = Field(description="above 0, and 1 for the strongest")


class MapAnswer(BaseModel):
    method: str
    labels: list[str]
    colours: list[str] = Field(description="one per label")
    prototypes: list[MapPrototype]
    edges: list[MapEdge]
    summary: str


class SuspectShape(BaseModel):
    example: ExampleShape
    would_be: str
    doubt: float
    wrong: float = Field(description="the probability that its class is wrong, fitted to the other examples")
    like_own: list[int] = Field(description="the nearest examples of its own class")
    like_other: list[int] = Field(description="the nearest examples of the class in would_be")


class ContradictionShape(BaseModel):
    """One image under several labels."""

    examples: list[ExampleShape]
    like: list[list[int]] = Field(description="for each of them, the others of its class that are most like it")


class SuspectsAnswer(BaseModel):
    suspects: list[SuspectShape]
    not_shown: int = Field(description="suspects beyond the limit")
    contradictions: list[ContradictionShape]
    kept: int
    judged: int


class EditShape(BaseModel):
    """A step that can be undone or redone."""

    id: int
    kind: str
    sentence: str
    made_at: float
    made_by: str | None = Field(description="the X-Exll-Client of whoever made it")

    @classmethod
    def of(cls, edit: Edit) -> "EditShape":
        return cls(**edit.to_dict())


class UndoneShape(EditShape):
    """A step that was undone."""

    undone_at: float
    undone_by: str | None
