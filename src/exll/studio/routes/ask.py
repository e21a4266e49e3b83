"""Ask: what an image is, why, and "no, it is ..."."""

import csv
import io
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, File, Form, Query, Response, UploadFile

from exll.errors import ImageError
from exll.explain.evidence_map import overlay
from exll.explain.explanation import Evidence
from exll.studio.asked import Asked
from exll.studio.pictures import MEDIA_TYPES, SHOWN_BY_BROWSERS, encoded, for_browsers
from exll.studio.project import Project
from exll.studio.routes.common import (
    PROBLEMS,
    BoxField,
    CurrentProject,
    LabelField,
    about_image,
    change,
    content_of,
    name_of,
)
from exll.studio.routes.shapes import (
    BeliefShape,
    CorrectAnswer,
    EvidenceShape,
    ExampleShape,
    ExplainAnswer,
    Picture,
    PredictAnswer,
    PredictionShape,
    WhereShape,
    image_url,
    thumbnail_url,
)
from exll.studio.routes.teach import conflict
from exll.studio.seeing import SeenImage, see
from exll.studio.teaching import Belief, Offered, correct
from exll.vision import ImageLearner

MOST_LABEL = 1000
COLUMNS = ("path", "label", "probability", "runner_up", "known", "error")

router = APIRouter(prefix="/api", tags=["ask"], responses=PROBLEMS)
OneFile = Annotated[UploadFile | None, File(description="an image; or name one asked about before as 'asked'")]
AskedId = Annotated[str | None, Form(max_length=64, description="the id of an image asked about a moment ago")]


@router.post("/predict")
async def predict(project: CurrentProject, box: BoxField, file: OneFile = None, asked: AskedId = None) -> PredictAnswer:
    """Label and probability, or unknown. The image stays in memory for a while and is not stored."""
    return await about_image(project, file, asked, box, _predicted)


@router.post("/explain")
async def explain(project: CurrentProject, box: BoxField, file: OneFile = None, asked: AskedId = None) -> ExplainAnswer:
    """The answer with its reasons: hit, near hit, near miss with their pictures, and where in the image."""
    return await about_image(project, file, asked, box, _explained)


@router.get("/asked/{asked}/image", response_class=Response)
async def asked_picture(project: CurrentProject, asked: str) -> Response:
    """An image that was asked about a moment ago; as WebP where not every browser shows its format."""
    image = project.asked.of(asked).image
    if image.format in SHOWN_BY_BROWSERS:
        return Response(image.content, media_type=MEDIA_TYPES[image.format])
    content, media_type = await project.looking.run(for_browsers, image.content, image.format)
    return Response(content, media_type=media_type)


@router.get("/asked/{asked}/evidence", response_class=Response)
async def evidence(
    project: CurrentProject,
    asked: str,
    label: Annotated[str, Query(max_length=MOST_LABEL)],
    against: Annotated[str | None, Query(max_length=MOST_LABEL)] = None,
) -> Response:
    """PNG of the image: orange places speak for the class, blue ones against it."""
    seen = project.asked.of(asked).image.seen

    def draw() -> bytes:
        found = project.live.current.taught().evidence_map(seen, label, against)
        return encoded(overlay(seen.picture, found), "PNG")

    return Response(await project.looking.run(draw), media_type="image/png")


@router.post("/correct")
async def correct_answer(
    project: CurrentProject,
    label: LabelField,
    box: BoxField,
    file: OneFile = None,
    asked: AskedId = None,
    two_labels: Annotated[bool, Form()] = False,
) -> CorrectAnswer:
    """ "No, it is ...": teaches the image once, and says what the model thought before and thinks now."""
    offer = await about_image(project, file, asked, box, _offered)
    outcome, before, after = await change(project, lambda: correct(project, offer, label, two_labels))
    if outcome.status == "conflict":
        raise conflict(outcome)
    turned = after.prediction is not None and after.prediction.known and after.prediction.label == label
    return CorrectAnswer(
        label=label,
        status=outcome.status,
        example=None if outcome.example is None else ExampleShape.of(outcome.example),
        before=_belief(before),
        after=_belief(after),
        turned=turned,
        sentence=_said(label, outcome.status, before, after, turned),
    )


@router.post("/predictions.csv", response_class=Response)
async def predictions(project: CurrentProject, files: Annotated[list[UploadFile], File()]) -> Response:
    """What many images are, as the CSV of ``exll predict --csv``."""
    rows = [await _row(project, file) for file in files]
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows({name: _harmless(value) for name, value in row.items()} for row in rows)
    disposition = 'attachment; filename="predictions.csv"'
    return Response(text.getvalue(), media_type="text/csv", headers={"Content-Disposition": disposition})


def _predicted(project: Project, asked: Asked) -> PredictAnswer:
    return PredictAnswer(
        asked=asked.image.digest,
        prediction=PredictionShape.of(project.live.current.predict(asked.image.vector)),
        taught_as=_taught_as(project, asked.image),
    )


def _offered(project: Project, asked: Asked) -> Offered:
    return Offered(project.keep(asked.image), asked.name)


def _explained(project: Project, asked: Asked) -> ExplainAnswer:
    eye, image = project.live.current.taught(), asked.image
    explanation = eye.explain(image.seen)
    prediction = PredictionShape.of(eye.predict_vectors(image.vector[None])[0])
    against = None if explanation.runner_up is None else str(explanation.runner_up)
    where = []
    if project.backbone.has_map:
        where = [_where(eye, image, str(explanation.label), other) for other in dict.fromkeys((None, against))]
    return ExplainAnswer(
        asked=image.digest,
        prediction=prediction,
        reason=explanation.reason,
        hit=_evidence(explanation.hit),
        near_hit=None if explanation.near_hit is None else _evidence(explanation.near_hit),
        near_miss=None if explanation.near_miss is None else _evidence(explanation.near_miss),
        where=where,
        image=f"/api/asked/{image.digest}/image",
        details=explanation.to_dict(),
        taught_as=_taught_as(project, image),
    )


def _evidence(evidence: Evidence) -> EvidenceShape:
    return EvidenceShape(
        prototype=evidence.prototype,
        label=str(evidence.label),
        support=evidence.support,
        share=evidence.share,
        distance=evidence.distance,
        membership=evidence.membership,
        examples=[
            Picture(
                example=int(remembered.name),
                similarity=remembered.similarity,
                image=image_url(int(remembered.name)),
                thumbnail=thumbnail_url(int(remembered.name)),
            )
            for remembered in evidence.examples
        ],
    )


def _where(eye: ImageLearner, image: SeenImage, label: str, against: str | None) -> WhereShape:
    found = eye.evidence_map(image.seen, label, against)
    query = urlencode({"label": label} | ({} if against is None else {"against": against}))
    return WhereShape(
        label=label,
        against=against,
        total=float(found.values.sum()),
        offset=found.offset,
        score=found.score,
        picture=f"/api/asked/{image.digest}/evidence?{query}",
    )


def _taught_as(project: Project, image: SeenImage) -> list[ExampleShape]:
    return [ExampleShape.of(example) for example in project.store.taught_as(image.digest)]


def _belief(belief: Belief) -> BeliefShape:
    prediction = None if belief.prediction is None else PredictionShape.of(belief.prediction)
    return BeliefShape(prediction=prediction, probability=belief.probability)


def _said(label: str, status: Literal["taught", "already"], before: Belief, after: Belief, turned: bool) -> str:
    if status == "already":
        return f'This very image was taught as "{label}" before; it was not taught twice.'
    change = f"from {_sure(before.probability)} to {_sure(after.probability)}"
    if turned:
        return f'Learned: the probability of "{label}" went {change}.'
    return (
        f'Learned, but one example cannot turn the answer yet: the probability of "{label}" went {change}. '
        "A few more examples like this one will."
    )


def _sure(probability: float) -> str:
    """As the pages say it: nobody is ever quite sure, even where a number was rounded to 1 or to 0."""
    if 0 < probability < 0.005:
        return "less than 1%"
    return "more than 99%" if probability >= 0.995 else f"{probability:.0%}"


async def _row(project: Project, file: UploadFile) -> dict[str, Any]:
    name, content = name_of(file), await content_of(file)
    model = project.live.current
    model.taught()
    try:
        prediction = await project.looking.run(lambda: model.predict(see(content, project.backbone).vector))
    except ImageError as error:
        return {"path": name, "error": str(error)}
    return {
        "path": name,
        "label": prediction.label,
        "probability": prediction.probability,
        "runner_up": prediction.runner_up,
        "known": prediction.known,
    }


def _harmless(value: Any) -> Any:
    """A spreadsheet takes a cell that begins so for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t")) else value
