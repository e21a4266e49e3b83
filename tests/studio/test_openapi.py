"""Whatever fits the OpenAPI document, and much that does not, is answered without an error of ours."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from exll.studio.app import create_app
from exll.studio.project import Project
from served import Served, png, served

ENDLESS = "/api/events"
CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("openapi") / "p") as running:
        for kind in range(2):
            running.taught(f"kind {kind}", *(png(kind, seed) for seed in range(3)))
        yield running


@pytest.mark.fuzz
@pytest.mark.parametrize("mode", GenerationMode)
def test_no_request_meets_an_error_inside(studio: Served, mode: GenerationMode) -> None:
    document = schemathesis.openapi.from_url(f"{studio.address}api/openapi.json")
    asked = 0
    for found in document.exclude(path=ENDLESS).get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()

        @settings(max_examples=12, suppress_health_check=list(HealthCheck), database=None)
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: schemathesis.Case[Any]) -> None:
            nonlocal asked
            asked += 1
            case.call_and_validate(checks=CHECKS)

        with suppress(Unsatisfiable):  # a request without parameters has nothing that could be wrong
            ask()
    assert asked > 100
    assert studio.client.get("/healthz").status_code == 200


def test_the_document_describes_every_route_and_its_errors(tmp_path: Path) -> None:
    with Project(tmp_path / "p") as project:
        described = create_app(project).openapi()["paths"]
    assert {"/api/teach", "/api/predict", "/api/explain", "/api/correct", "/api/events"} <= set(described)
    del described["/healthz"]
    for operation in (operation for methods in described.values() for operation in methods.values()):
        assert {"400", "409", "413", "422", "503"} <= set(operation["responses"]), operation["operationId"]
