"""Ask: what an image is. And the way to ask about an image once more without sending it again."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, TypeVar

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from pydantic import BaseModel, Field

from exll.features.regions import PixelBox
from exll.studio.analysed_image import AnalysedImage, analyse
from exll.studio.errors import UnusableError
from exll.studio.inbox import offer
from exll.studio.pictures import MEDIA_TYPES, SHOWN_BY_BROWSERS, for_browsers
from exll.studio.project import Project
from exll.studio.recent_images import RecentImage
from exll.studio.routes.requests import PROBLEMS, BoxField, CurrentProject, FalseAlarmsField, content_of, name_of
from exll.studio.routes.shapes import ExampleShape, PredictionShape

Result = TypeVar("Result")

router = APIRouter(prefix="/api", tags=["ask"], responses=PROBLEMS)
OneFile = Annotated[UploadFile | None, File(description="an image; for one that was asked about before, send 'asked'")]
AskedId = Annotated[str | None, Form(max_length=64, description="the id of an image that was asked about a moment ago")]


class PredictAnswer(BaseModel):
    asked: str = Field(description="id of this image, valid for a while, for explain, correct and evidence")
    prediction: PredictionShape
    taught_as: list[ExampleShape]
    looks: list[tuple[float, float, float, float]] = Field(
        description="what the network sees: left, top, right and bottom as shares of the upright image"
    )
    probabilities: dict[str, float] | None = Field(description="of every class; null without all_classes")


@router.post("/predict")
async def predict(
    request: Request,
    project: CurrentProject,
    box: BoxField,
    false_alarms: FalseAlarmsField,
    file: OneFile = None,
    asked: AskedId = None,
    all_classes: Annotated[bool, Form(description="also give the probability of every class")] = False,
    inbox: Annotated[bool, Form(description="whether it may be kept in the Inbox")] = True,
    camera: Annotated[bool, Form(description="a frame of a live camera: the Inbox keeps only a few per scene")] = False,
) -> PredictAnswer:
    """Label and probability, or unknown. The image stays in memory for a while; one that is unusual or unknown may be
    kept in the Inbox."""
    predicted = partial(_predicted, false_alarms=false_alarms, all_classes=all_classes)
    answer = await about_image(project, file, asked, box, predicted)
    if inbox:
        address = "" if request.client is None else request.client.host
        offer(project, answer.asked, answer.prediction, address, camera)
    return answer


@router.get("/asked/{asked}/image", response_class=Response)
async def asked_picture(project: CurrentProject, asked: str) -> Response:
    """An image that was asked about a moment ago; as WebP if some browsers cannot show its format."""
    image = project.recent_images.of(asked).image
    if image.format in SHOWN_BY_BROWSERS:
        return Response(image.content, media_type=MEDIA_TYPES[image.format])
    content, media_type = await project.looking.run(for_browsers, image.content, image.format)
    return Response(content, media_type=media_type)


async def about_image(
    project: Project,
    file: UploadFile | None,
    asked: str | None,
    box: PixelBox | None,
    answer: Callable[[Project, RecentImage], Result],
) -> Result:
    """Answer about an image that is sent along, or that was asked about a moment ago. In one go: handing work from
    thread to thread costs more than some answers."""
    if (file is None) == (asked is None):
        raise UnusableError("send either the image as 'file' or the id of one asked about before as 'asked'.")
    if file is None:
        assert asked is not None
        if box is not None:
            raise UnusableError("a box is for an image that is sent along.", "Send the image again as 'file'.")
        with project.recent_images.answering():
            return await project.looking.run(answer, project, project.recent_images.of(asked))
    content, name = await content_of(file), name_of(file)

    def analyse_and_answer() -> Result:
        recent = RecentImage(name, analyse(content, project.backbone, box))
        project.recent_images.keep(recent)
        return answer(project, recent)

    with project.recent_images.answering():
        return await project.looking.run(analyse_and_answer)


def taught_as(project: Project, image: AnalysedImage) -> list[ExampleShape]:
    """Where this image was taught."""
    return [ExampleShape.of(example) for example in project.store.taught_as(image.digest)]


def _predicted(project: Project, recent: RecentImage, false_alarms: float, all_classes: bool) -> PredictAnswer:
    learner, vector = project.live.current.taught(), recent.image.vector[None]  # one snapshot: all of one moment
    (prediction,) = learner.predict_vectors(vector, false_alarms=false_alarms)
    probabilities = None
    if all_classes:
        (shares,) = learner.classifier.predict_proba(vector)
        probabilities = {
            str(label): min(1.0, float(share)) for label, share in zip(learner.classifier.classes_, shares, strict=True)
        }
    return PredictAnswer(
        asked=recent.image.digest,
        prediction=PredictionShape.of(prediction),
        taught_as=taught_as(project, recent.image),
        looks=list(recent.image.seen.boxes),
        probabilities=probabilities,
    )
