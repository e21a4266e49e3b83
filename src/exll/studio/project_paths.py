"""Addresses of the other projects: what comes for ``/projects/NAME/...`` is answered as ``/...`` of that project."""

from starlette.types import ASGIApp, Receive, Scope, Send

from exll.studio.projects import FIRST, PREFIX, Projects, is_project_name, root_of


class ProjectPaths:
    """Takes the project off the path and notes it in the scope, before anybody else looks at the path. What a request
    used is given back when its answer has gone out whole, streams of events too."""

    def __init__(self, app: ASGIApp, projects: Projects) -> None:
        self.app = app
        self._projects = projects

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        name, path = split_path(scope["path"])
        used: list[str] = []
        scope = {**scope, "path": path, "exll.project": name, "exll.root": root_of(name), "exll.used": used}
        try:
            await self.app(scope, receive, send)
        finally:
            for taken in used:
                self._projects.leave(taken)


def split_path(path: str) -> tuple[str, str]:
    """
    >>> split_path("/projects/shelf/api/teach"), split_path("/projects/../api"), split_path("/map")
    (('shelf', '/api/teach'), ('', '/projects/../api'), ('', '/map'))
    """
    if not path.startswith(PREFIX):
        return FIRST, path
    name, slash, rest = path.removeprefix(PREFIX).partition("/")
    return (name, slash + rest or "/") if is_project_name(name) else (FIRST, path)
