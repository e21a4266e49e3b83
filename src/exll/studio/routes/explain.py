"""Explain: why an image is taken for what it is, with pictures."""

from functools import partial
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from exll.explain.evidence_map import overlay
from exll.explain.explanation import Evidence
from exll.studio.analysed_image import AnalysedImage
from exll.studio.pictures import encoded
from exll.studio.project import Project
from exll.studio.recent_images import RecentImage
from exll.studio.routes.ask import AskedId, OneFile, about_image, taught_as
from exll.studio.routes.requests import PROBLEMS, BoxField, CurrentProject, FalseAlarmsField
from exll.studio.routes.shapes import ExampleShape, PredictionShape, image_url, thumbnail_url
from exll.vision import ImageLearner

LONGEST_LABEL = 1000

router = APIRouter(prefix="/api", tags=["ask"], responses=PROBLEMS)


class Picture(BaseModel):
    """A learned example as evidence."""

    example: int
    cosine: float | None
    image: str
    thumbnail: str


class EvidenceShape(BaseModel):
    prototype: int
    label: str
    support: int
    share: float
    score: float = Field(description="what prototypes are ranked by; only to be compared within one answer")
    similarity: float | None = Field(description="the same as a cosine from -1 to 1; null where the preset has none")
    membership: float
    examples: list[Picture]


class WhereShape(BaseModel):
    """The score of a class split by place; ``total + offset = score``."""

    label: str
    against: str | None
    total: float
    offset: float
    score: float
    picture: str = Field(
        description="address of a PNG: the image, orange where places count more than average, blue where less"
    )


class ExplainAnswer(BaseModel):
    asked: str
    prediction: PredictionShape
    reason: str = Field(description="the decision in one sentence")
    hit: EvidenceShape
    near_hit: EvidenceShape | None
    near_miss: EvidenceShape | None
    local_choice: EvidenceShape | None = Field(description="the nearest prototype, if it is of another class")
    nothing: list[Picture] = Field(
        description="examples of nothing that are more similar to the image than any prototype"
    )
    where: list[WhereShape]
    image: str
    details: dict[str, Any] = Field(description="the whole explanation, as exll explain --json gives it")
    taught_as: list[ExampleShape]


@router.post("/explain")
async def explain(
    project: CurrentProject,
    box: BoxField,
    false_alarms: FalseAlarmsField,
    file: OneFile = None,
    asked: AskedId = None,
) -> ExplainAnswer:
    """The answer with its reasons: hit, near hit and near miss with their pictures, and which places count."""
    return await about_image(project, file, asked, box, partial(_explained, false_alarms=false_alarms))


@router.get("/asked/{asked}/evidence", response_class=Response)
async def evidence(
    project: CurrentProject,
    asked: str,
    label: Annotated[str, Query(max_length=LONGEST_LABEL)],
    against: Annotated[str | None, Query(max_length=LONGEST_LABEL)] = None,
) -> Response:
    """PNG of the image: orange places count more for the class than the average place, blue ones less."""
    seen = project.recent_images.of(asked).image.seen

    def draw() -> bytes:
        found = project.live.current.taught().evidence_map(seen, label, against)
        return encoded(overlay(seen.picture, found), "PNG")

    return Response(await project.looking.run(draw), media_type="image/png")


def _explained(project: Project, recent: RecentImage, false_alarms: float) -> ExplainAnswer:
    learner, image = project.live.current.taught(), recent.image
    explanation = learner.explain(image.seen, false_alarms=false_alarms)
    (prediction,) = learner.predict_vectors(image.vector[None], false_alarms=false_alarms)
    against = None if explanation.runner_up is None else str(explanation.runner_up)
    where = []
    if project.backbone.has_map:
        where = [_where(learner, image, str(explanation.label), other) for other in dict.fromkeys((None, against))]
    return ExplainAnswer(
        asked=image.digest,
        prediction=PredictionShape.of(prediction),
        reason=explanation.reason,
        hit=_evidence(explanation.hit),
        near_hit=None if explanation.near_hit is None else _evidence(explanation.near_hit),
        near_miss=None if explanation.near_miss is None else _evidence(explanation.near_miss),
        local_choice=None if explanation.local_choice is None else _evidence(explanation.local_choice),
        nothing=[_picture(int(name)) for name in explanation.examples_of_nothing],
        where=where,
        image=f"/api/asked/{image.digest}/image",
        details=explanation.to_dict(),
        taught_as=taught_as(project, image),
    )


def _evidence(evidence: Evidence) -> EvidenceShape:
    return EvidenceShape(
        prototype=evidence.prototype,
        label=str(evidence.label),
        support=evidence.support,
        share=evidence.share,
        score=evidence.score,
        similarity=evidence.similarity,
        membership=evidence.membership,
        examples=[_picture(int(remembered.name), remembered.cosine) for remembered in evidence.examples],
    )


def _picture(number: int, cosine: float | None = None) -> Picture:
    return Picture(example=number, cosine=cosine, image=image_url(number), thumbnail=thumbnail_url(number))


def _where(learner: ImageLearner, image: AnalysedImage, label: str, against: str | None) -> WhereShape:
    found = learner.evidence_map(image.seen, label, against)
    query = urlencode({"label": label} | ({} if against is None else {"against": against}))
    return WhereShape(
        label=label,
        against=against,
        total=float(found.values.sum()),
        offset=found.offset,
        score=found.score,
        picture=f"/api/asked/{image.digest}/evidence?{query}",
    )
