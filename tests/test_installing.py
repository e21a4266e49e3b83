"""What to type to install more fits how exll was installed."""

from pathlib import Path

from exll.installing import command_for


def test_a_checkout_is_installed_from_again(tmp_path: Path) -> None:
    origin: dict[str, object] = {"url": tmp_path.as_uri(), "dir_info": {"editable": True}}
    assert command_for(origin, "heic") == f'pip install -e "{tmp_path}[heic]"'
    assert command_for({**origin, "dir_info": {}}, "heic") == f'pip install "{tmp_path}[heic]"'


def test_what_came_from_elsewhere_comes_from_the_registry(tmp_path: Path) -> None:
    gone: dict[str, object] = {"url": (tmp_path / "gone").as_uri(), "dir_info": {"editable": True}}
    wheel: dict[str, object] = {"url": "https://example.org/exll.whl"}
    for origin in ({}, gone, wheel):
        assert command_for(origin, "heic") == 'pip install "exll[heic]"'
