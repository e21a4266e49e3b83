"""Settings of a project: those that hold at once, its preset, and its network, for which all photos are read again."""

import asyncio
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from exll.features.backbone import DEFAULT
from exll.features.known_networks import known_networks
from exll.learner.preset import preset_description, preset_names
from exll.studio.errors import ConflictError, UnusableError
from exll.studio.project import Project
from exll.studio.rereading import Rereading
from exll.studio.routes.requests import PROBLEMS, AllProjects, CurrentProject, ProjectName, change
from exll.studio.settings import MOST_THUMBNAILS, change_settings, settings_of
from exll.studio.store import Store

router = APIRouter(prefix="/api/project", tags=["project"], responses=PROBLEMS)
Name = Annotated[str, Field(min_length=1, max_length=100)]


class Wanted(BaseModel):
    """What is left out stays as it is."""

    false_alarms: float | None = Field(
        None, gt=0, lt=1, description="the share of known things that may be called unusual or unknown"
    )
    thumbnails: int | None = Field(
        None, ge=0, le=MOST_THUMBNAILS, description="photos per prototype in the exported model"
    )
    inbox: bool | None = Field(None, description="whether unusual photos that were asked about are kept in the Inbox")


class Settings(BaseModel):
    false_alarms: float
    thumbnails: int
    inbox: bool


class NetworkShape(BaseModel):
    name: str
    description: str
    to_add: str = Field(description="the command that adds it; empty where it can be chosen")


class PresetShape(BaseModel):
    name: str
    description: str = Field(description="one sentence; empty where its package says nothing")


class ReadingShape(BaseModel):
    """How far a change of the network is."""

    network: str
    done: int
    photos: int
    running: bool
    error: str = Field(description="why it broke off; the old network is in use then")


class AllSettings(Settings):
    network: str
    networks: list[NetworkShape]
    preset: str
    presets: list[PresetShape]
    reading: ReadingShape | None = Field(description="the change of the network that is under way or was last")


class WantedNetwork(BaseModel):
    network: Name


class WantedPreset(BaseModel):
    preset: Name


@router.get("/settings")
async def all_settings(project: CurrentProject) -> AllSettings:
    return await project.reading.run(_all_settings, project)


@router.post("/settings")
async def set_settings(project: CurrentProject, wanted: Wanted) -> Settings:
    """These hold at once and stay with the project; the event 'settings' tells of them."""
    return Settings(**await change(project, lambda: change_settings(project, **wanted.model_dump())))


@router.post("/network")
async def set_network(
    project: CurrentProject, projects: AllProjects, name: ProjectName, wanted: WantedNetwork
) -> AllSettings:
    """Read all photos again with another network, in the background; until that has ended, the old one answers. The
    event 'reading' says how far it is. Then the streams of events end, and requests wait while all is learned again."""
    if wanted.network not in (network.name for network in _choices() if not network.to_add):
        raise UnusableError("there is no such network here.", "Choose one that 'exll backbone list' names.")
    _check_not_reading(project)
    if wanted.network != project.backbone.name:
        project.rereading = Rereading(projects, name, wanted.network)
        projects.background.submit(project.rereading.run)
    return await project.reading.run(_all_settings, project)


@router.post("/network/cancel")
async def keep_network(project: CurrentProject) -> AllSettings:
    """Stop reading photos with another network; what was read is of use when that network is chosen again."""
    if project.rereading is not None:
        project.rereading.cancel()
    return await project.reading.run(_all_settings, project)


@router.post("/preset")
async def set_preset(projects: AllProjects, name: ProjectName, wanted: WantedPreset) -> WantedPreset:
    """Another learner for the same examples: the project is closed, opened, and all is learned again. The answer comes
    when that is done."""
    if wanted.preset not in preset_names():
        raise UnusableError("there is no such preset.", f"Choose one of {', '.join(preset_names())}.")
    project = await projects.use(name)
    try:
        _check_not_reading(project)
    finally:
        projects.leave(name)  # it is to be closed

    def renew(folder: Path) -> None:
        store = Store(folder)
        try:
            if store.metadata("preset") != wanted.preset:
                store.renew("preset", wanted.preset)
        finally:
            store.close()

    await asyncio.wrap_future(projects.reopen(name, renew, f"the preset {wanted.preset}"))
    return wanted


def _check_not_reading(project: Project) -> None:
    if project.rereading is not None and project.rereading.running:
        raise ConflictError("the network is being changed.", "Wait until that is done, or cancel it.")


def _all_settings(project: Project) -> AllSettings:
    reading = project.rereading
    return AllSettings(
        **settings_of(project),
        network=project.backbone.name,
        networks=_choices(),
        preset=project.preset,
        presets=[PresetShape(name=name, description=preset_description(name)) for name in preset_names()],
        reading=None if reading is None else ReadingShape(**reading.to_dict()),
    )


def _choices() -> list[NetworkShape]:
    known = [NetworkShape(name=n.name, description=n.description, to_add=n.to_add) for n in known_networks()]
    places = [i for i, network in enumerate(known) if network.name == DEFAULT and not network.to_add]
    for i in places:
        quick = NetworkShape(name=f"{DEFAULT}-int8", description="the default in 8-bit numbers: faster", to_add="")
        known.insert(i + 1, quick)
    return known
