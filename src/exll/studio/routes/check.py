"""Check: examples whose label the others contradict, images under two labels, and the map of prototypes."""

from typing import Annotated

from fastapi import APIRouter, Query

from exll.estimator import ExLLClassifier
from exll.explain.suspects import Suspects, nearest_examples
from exll.explain.topology import Topology, colours, topology_of
from exll.studio.actions import keep
from exll.studio.project import Project
from exll.studio.routes.requests import PROBLEMS, CurrentProject, changed
from exll.studio.routes.shapes import (
    Changed,
    ContradictionShape,
    ExampleShape,
    MapAnswer,
    MapEdge,
    MapPrototype,
    Numbers,
    SuspectsAnswer,
    SuspectShape,
)
from exll.types import Label

TYPICAL = 24  # examples of a prototype that the map names, the most typical first
COMPARED = 5  # examples of either class that a doubtful one is shown with

router = APIRouter(prefix="/api", tags=["check"], responses=PROBLEMS)


@router.get("/suspects")
async def suspects(project: CurrentProject, limit: Annotated[int, Query(ge=1, le=500)] = 60) -> SuspectsAnswer:
    """Examples whose label is probably wrong, the most doubtful first. Each is judged by a model that never saw it.
    Examples that were marked as right (``keep``) are left out."""
    return await project.studying.run(_suspects, project, limit)


@router.post("/suspects/keep")
async def keep_examples(project: CurrentProject, wanted: Numbers) -> Changed:
    """Mark the labels of examples as right. This holds until the label changes or the step is undone."""
    return await changed(project, lambda: keep(project, wanted.ids))


@router.get("/map")
async def topology(project: CurrentProject) -> MapAnswer:
    """Prototypes laid out in two dimensions, with their most typical examples and the edges between them."""
    return await project.studying.run(_map, project)


def _suspects(project: Project, limit: int) -> SuspectsAnswer:
    model = project.live.current
    if not model.knows_something:
        return SuspectsAnswer(suspects=[], not_shown=0, contradictions=[], kept=0, judged=0)
    found, nearest = model.remembered("suspects", _judged)
    kept = project.store.kept()
    doubtful = [suspect for suspect in found.contradicted() if int(suspect.name) not in kept]
    named = {int(suspect.name) for suspect in doubtful}
    named |= {int(name) for contradiction in found.contradictions for name in contradiction.names}
    live = {number: e for number, e in project.store.numbered(named).items() if not e.deleted}
    groups = [[live[n] for n in map(int, c.names) if n in live] for c in found.contradictions]
    found_now = [
        SuspectShape(
            example=ExampleShape.of(example),
            would_be=str(suspect.would_be),
            doubt=suspect.doubt,
            wrong=suspect.wrong,
            like_own=nearest[suspect.name, suspect.label],
            like_other=nearest[suspect.name, suspect.would_be],
        )
        for suspect in doubtful
        # what was relabelled since the model learned it is no longer in doubt
        if (example := live.get(int(suspect.name))) is not None and example.label == suspect.label
    ]
    return SuspectsAnswer(
        suspects=found_now[:limit],
        not_shown=max(0, len(found_now) - limit),
        contradictions=[
            ContradictionShape(
                examples=[ExampleShape.of(example) for example in group],
                like=[nearest.get((str(example.id), example.label), []) for example in group],
            )
            for group in groups
            if len({e.label for e in group}) > 1 and not {e.id for e in group} <= kept
        ],
        kept=len(kept),
        judged=len(found.ranked),
    )


def _judged(classifier: ExLLClassifier) -> tuple[Suspects, dict[tuple[str, Label], list[int]]]:
    """And for every example in question, those most like it of the classes that it may belong to."""
    found = classifier.suspects()
    asked = [(s.name, label) for s in found.contradicted() for label in (s.label, s.would_be)]
    asked += [pair for c in found.contradictions for pair in zip(c.names, c.labels, strict=True)]
    nearest = nearest_examples(classifier.learner_, asked, COMPARED)
    return found, {pair: [int(name) for name in names] for pair, names in nearest.items()}


def _map(project: Project) -> MapAnswer:
    model = project.live.current
    if not model.knows_something:
        return MapAnswer(method="pca", labels=[], colours=[], prototypes=[], edges=[], summary="nothing taught yet")
    found, typical = model.remembered("map", _laid_out)
    labels = [str(label) for label in found.labels]
    strongest = max((count for _, _, count in found.edges), default=1)
    return MapAnswer(
        method=found.method,
        labels=labels,
        colours=colours(len(labels)),
        prototypes=[
            MapPrototype(
                label=labels[found.class_of[j]],
                support=int(support),
                examples=typical[j],
                x=float(found.positions[j, 0]),
                y=float(1 - found.positions[j, 1]),
            )
            for j, support in enumerate(found.supports)
        ],
        edges=[MapEdge(one=one, other=other, strength=count / strongest) for one, other, count in found.edges],
        summary=found.summary(),
    )


def _laid_out(classifier: ExLLClassifier) -> tuple[Topology, list[list[int]]]:
    """The map, and for every prototype the numbers of the examples nearest its centre."""
    learner = classifier.learner_
    centres, ids, _ = learner.centres
    nearest = [learner.closest_records(int(i), centre, TYPICAL) for i, centre in zip(ids, centres, strict=True)]
    return topology_of(learner), [[int(record.name) for record, _ in records] for records in nearest]
