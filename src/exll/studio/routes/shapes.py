"""What goes over the line, as OpenAPI shows it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from exll.estimator import Prediction
from exll.studio.edits import Edit
from exll.studio.store import LARGEST_ID, Example

MOST_AT_ONCE = 10_000

Number = Annotated[int, Field(ge=1, le=LARGEST_ID)]
LabelText = Annotated[str, Field(min_length=1, max_length=1000)]


class Problem(BaseModel):
    """What went wrong and what to do."""

    error: str
    hint: str


class ExampleShape(BaseModel):
    id: int
    label: str
    name: str = Field(description="the file's name as it was sent; for the eyes only")
    taught_at: float = Field(description="seconds since 1970")
    deleted: bool
    image: str = Field(description="address of the image")
    thumbnail: str = Field(description="address of a small WebP")

    @classmethod
    def of(cls, example: Example) -> "ExampleShape":
        return cls(
            id=example.id,
            label=example.label,
            name=example.name,
            taught_at=example.taught_at,
            deleted=example.deleted,
            image=image_url(example.id),
            thumbnail=thumbnail_url(example.id),
        )


def image_url(number: int) -> str:
    return f"/api/examples/{number}/image"


def thumbnail_url(number: int) -> str:
    return f"/api/examples/{number}/thumbnail"


class PredictionShape(BaseModel):
    label: str = Field(description="the nearest class; the answer only where known is true")
    probability: float
    runner_up: str | None
    known: bool = Field(description="false: like nothing that was taught, say unknown")

    @classmethod
    def of(cls, prediction: Prediction) -> "PredictionShape":
        return cls(
            label=str(prediction.label),
            probability=prediction.probability,
            runner_up=None if prediction.runner_up is None else str(prediction.runner_up),
            known=prediction.known,
        )


class TaughtFile(BaseModel):
    """What became of one file."""

    file: str
    status: Literal["taught", "already", "conflict", "unreadable"]
    example: ExampleShape | None = None
    taught_as: list[ExampleShape] = Field(default=[], description="where this very image was taught before")
    error: str = ""
    hint: str = ""


class TeachAnswer(BaseModel):
    label: str
    taught: int
    results: list[TaughtFile]
    counts: dict[str, int] = Field(description="examples of every class now")


class PredictAnswer(BaseModel):
    asked: str = Field(description="id of this image for a while: for explain, correct and evidence")
    prediction: PredictionShape
    taught_as: list[ExampleShape]


class Picture(BaseModel):
    """A learned example as evidence."""

    example: int
    similarity: float | None
    image: str
    thumbnail: str


class EvidenceShape(BaseModel):
    prototype: int
    label: str
    support: int
    share: float
    distance: float
    membership: float
    examples: list[Picture]


class WhereShape(BaseModel):
    """The score of a class taken apart by place; ``total + offset = score``."""

    label: str
    against: str | None
    total: float
    offset: float
    score: float
    picture: str = Field(description="address of a PNG: the image, orange for and blue against")


class ExplainAnswer(BaseModel):
    asked: str
    prediction: PredictionShape
    reason: str = Field(description="the decision in one sentence")
    hit: EvidenceShape
    near_hit: EvidenceShape | None
    near_miss: EvidenceShape | None
    where: list[WhereShape]
    image: str
    details: dict[str, Any] = Field(description="the whole explanation, as exll explain --json gives it")
    taught_as: list[ExampleShape]


class BeliefShape(BaseModel):
    prediction: PredictionShape | None
    probability: float = Field(description="of the label that was said to be right")


class CorrectAnswer(BaseModel):
    label: str
    status: Literal["taught", "already"]
    example: ExampleShape | None
    before: BeliefShape
    after: BeliefShape
    turned: bool = Field(description="whether the model says the right label now")
    sentence: str


class ClassShape(BaseModel):
    label: str
    examples: int
    newest: list[int] = Field(description="numbers of its newest examples")
    prototypes: int
    verdict: str = Field(description="have I taught enough? in two words")
    sentence: str
    tested: int
    recognised: int
    accuracy: float | None
    confused_with: str | None
    confusions: int


class ClassesAnswer(BaseModel):
    classes: list[ClassShape]
    examples: int
    rebuilding: bool


class Rename(BaseModel):
    label: LabelText
    new_label: LabelText
    merge: bool = False


class ClassName(BaseModel):
    label: LabelText


class Numbers(BaseModel):
    ids: list[Number] = Field(min_length=1, max_length=MOST_AT_ONCE)


class Relabel(Numbers):
    label: LabelText


class Changed(BaseModel):
    changed: int = Field(description="how many examples changed")
    rebuilding: bool = Field(
        description="whether the model is being replayed; the event 'rebuilt' says when it is done"
    )


class ExamplesAnswer(BaseModel):
    examples: list[ExampleShape]
    next: int | None = Field(description="pass as 'before' for more; null at the end")


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


class MapPrototype(BaseModel):
    label: str
    support: int
    examples: list[int]


class MapAnswer(BaseModel):
    """In ``svg``, ``data-k`` counts into ``labels`` and ``data-i`` into ``prototypes``."""

    method: str
    labels: list[str]
    colours: list[str]
    prototypes: list[MapPrototype]
    summary: str
    svg: str = Field(description="the drawing; empty where nothing was taught yet")


class SuspectShape(BaseModel):
    example: ExampleShape
    would_be: str
    doubt: float


class ContradictionShape(BaseModel):
    """One image under several labels."""

    examples: list[ExampleShape]


class SuspectsAnswer(BaseModel):
    suspects: list[SuspectShape]
    contradictions: list[ContradictionShape]
    kept: int
    judged: int


class EditShape(BaseModel):
    kind: str
    sentence: str
    made_at: float

    @classmethod
    def of(cls, edit: Edit) -> "EditShape":
        return cls(**edit.facts())


class UndoAnswer(BaseModel):
    undone: EditShape
    next: EditShape | None
    rebuilding: bool


class Storage(BaseModel):
    """Bytes on the disk."""

    images: int
    database: int
    models: int


class ProjectAnswer(BaseModel):
    name: str
    preset: str
    backbone: str
    width: int
    version: str
    classes: int
    examples: int
    prototypes: int
    model_bytes: int
    storage: Storage
    undo: EditShape | None
    rebuilding: bool
    limits: dict[str, int]


class PurgeAnswer(BaseModel):
    images: int = Field(description="how many left the disk")


class ImportAnswer(BaseModel):
    taught: int
    already: int
    conflicts: int
    unreadable: int
    passed_over: int
    problems: list[TaughtFile]


class Health(BaseModel):
    status: Literal["ok"]
    version: str
