"""The projects of this studio: list, make and remove them."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from exll.studio.projects import FIRST, LONGEST_NAME, Entry
from exll.studio.routes.requests import PROBLEMS, AllProjects, ProjectName

router = APIRouter(prefix="/api/projects", tags=["projects"], responses=PROBLEMS)


class ProjectEntry(BaseModel):
    name: str
    root: str = Field(description="what all its addresses begin with: /projects/NAME; empty for the first one")
    first: bool = Field(description="whether the studio was started with it")
    used_at: float = Field(description="when something was last written in it, in seconds since 1970")

    @classmethod
    def of(cls, entry: Entry) -> "ProjectEntry":
        return cls(name=entry.title, root=entry.root, first=entry.name == FIRST, used_at=entry.used_at)


class ProjectsAnswer(BaseModel):
    current: str = Field(description="root of the project that was asked")
    projects: list[ProjectEntry]


class NamedProject(BaseModel):
    name: str = Field(min_length=1, max_length=LONGEST_NAME)


@router.get("")
async def list_projects(projects: AllProjects, current: ProjectName) -> ProjectsAnswer:
    found = await projects.entries()
    root = next((entry.root for entry in found if entry.name == current), "")
    return ProjectsAnswer(current=root, projects=[ProjectEntry.of(entry) for entry in found])


@router.post("")
async def make_project(projects: AllProjects, wanted: NamedProject) -> ProjectEntry:
    """A new, empty project, with the network and the preset of the first."""
    return ProjectEntry.of(await projects.make(wanted.name))


@router.post("/sample")
async def make_sample(projects: AllProjects, current: ProjectName) -> ProjectEntry:
    """Draw household objects and teach them: in this project if it is empty, otherwise in a project "sample". This runs
    in the background; the event 'importing' of that project reports the progress."""
    return ProjectEntry.of(await projects.sample(current))


@router.post("/remove")
async def remove_project(projects: AllProjects, wanted: NamedProject) -> ProjectsAnswer:
    """Remove a project: its folder is moved to projects/.removed and can be moved back. Nothing is deleted."""
    await projects.remove(wanted.name)
    return ProjectsAnswer(current="", projects=[ProjectEntry.of(entry) for entry in await projects.entries()])
