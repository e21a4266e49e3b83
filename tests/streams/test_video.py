import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from exll.errors import StreamError
from exll.installing import install_command
from exll.streams.stream import Stream, open_stream
from exll.streams.video import frames, list_frames

av = pytest.importorskip("av")

WIDTH, HEIGHT, STEP = 64, 48, 8


def record(path: Path, count: int = 8, codec: str = "mpeg4", rotation: int = 0, cut: int = 0, title: str = "") -> Path:
    """A video whose n-th frame is white in its first ``STEP * n`` columns; the first ``cut`` are not to be shown."""
    with av.open(str(path), "w", options={"avoid_negative_ts": "disabled"} if cut else {}) as container:
        stream = container.add_stream(codec, rate=10)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        if rotation:
            stream.set_display_rotation(rotation)
        if title:
            container.metadata["title"] = title
        container.start_encoding()  # so that a video without frames has a header too
        for n in range(count):
            picture = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
            picture[:, : STEP * n] = 255
            for packet in stream.encode(av.VideoFrame.from_ndarray(picture)):
                if cut:
                    packet.pts, packet.dts = packet.pts - cut, packet.dts - cut  # what lies before 0 is cut
                container.mux(packet)
        container.mux(stream.encode(None))
    return path


def numbers_seen(stream: Stream) -> list[int]:
    """Which frame each decoded picture is, read off its white columns."""
    return [round((np.asarray(image.convert("L")) > 128).mean(axis=0).sum() / STEP) for _, image in frames(stream)]


@pytest.mark.parametrize(
    ("name", "codec"),
    [("a.mp4", "mpeg4"), ("b.avi", "mpeg4"), ("c.mkv", "libx264"), ("d.MOV", "libx264"), ("e.mpg", "mpeg2video")],
)
def test_every_frame_is_listed_and_decoded_in_order(tmp_path: Path, name: str, codec: str) -> None:
    if codec not in av.codecs_available:
        pytest.skip(f"this PyAV cannot write {codec}")
    stream = open_stream(record(tmp_path / name, codec=codec), label="mug")
    assert [example.frame for example in stream.examples] == list(range(8))
    assert numbers_seen(stream) == list(range(8))


@pytest.mark.parametrize(
    ("name", "codec"),
    [("a.mp4", "mpeg4"), ("b.avi", "mpeg4"), ("c.mkv", "libx264"), ("d.webm", "libvpx"), ("e.mpg", "mpeg2video")],
)
def test_the_last_frames_are_the_same_whether_or_not_those_before_are_decoded(
    tmp_path: Path, name: str, codec: str
) -> None:
    if codec not in av.codecs_available:
        pytest.skip(f"this PyAV cannot write {codec}")
    rng, path = np.random.default_rng(0), tmp_path / name
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=10)
        stream.width, stream.height, stream.pix_fmt, stream.gop_size = WIDTH, HEIGHT, "yuv420p", 7
        if codec in ("mpeg4", "mpeg2video", "libx264"):
            stream.codec_context.max_b_frames = 2
        for n in range(40):
            picture = np.roll(rng.integers(0, 255, (HEIGHT, WIDTH, 3), np.uint8) // 4, n, axis=1)
            picture[:, : STEP * (n % 8)] += 150
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture)))
        container.mux(stream.encode(None))
    whole = open_stream(path, label="mug")
    straight = {example.frame: np.asarray(image) for example, image in frames(whole)}
    for first in (1, 13, 14, 39):
        later = list(frames(replace(whole, examples=whole.examples[first:])))
        assert [example.frame for example, _ in later] == list(range(first, 40))
        assert all((np.asarray(image) == straight[example.frame]).all() for example, image in later)


def test_a_frame_knows_its_video_and_its_number(tmp_path: Path) -> None:
    stream = open_stream(record(tmp_path / "clip.mp4"), label="mug", every=3)
    assert stream.kind == "video"
    assert [example.ref for example in stream.examples] == ["clip.mp4#0", "clip.mp4#3", "clip.mp4#6"]
    example = stream.examples[1]
    assert (example.label, example.video, example.instance) == ("mug", "clip.mp4", None)
    assert (example.frame, example.path, example.row) == (3, None, None)


def test_every_nth_frame_is_the_one_that_is_decoded(tmp_path: Path) -> None:
    stream = open_stream(record(tmp_path / "clip.mp4"), label="mug", every=3)
    assert numbers_seen(stream) == [0, 3, 6]
    assert [example for example, _ in frames(stream)] == stream.examples


def test_a_stream_can_go_on_from_its_middle(tmp_path: Path) -> None:
    stream = open_stream(record(tmp_path / "clip.mp4"), label="mug")
    assert numbers_seen(replace(stream, examples=stream.examples[5:])) == [5, 6, 7]


def test_frames_that_were_cut_out_are_not_counted(tmp_path: Path) -> None:
    stream = open_stream(record(tmp_path / "clip.mp4", cut=3), label="mug")
    assert [example.frame for example in stream.examples] == [0, 1, 2, 3, 4]
    assert numbers_seen(stream) == [3, 4, 5, 6, 7]


def test_listing_decodes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = record(tmp_path / "clip.mp4")
    opened = av.open

    class Undecodable:
        def __init__(self, *arguments: object, **options: object) -> None:
            self.container = opened(*arguments, **options)
            self.streams, self.demux = self.container.streams, self.container.demux

        def __enter__(self) -> "Undecodable":
            return self

        def __exit__(self, *_: object) -> None:
            self.container.close()

    monkeypatch.setattr(av, "open", Undecodable)
    assert len(list_frames(source, "mug")) == 8


@pytest.mark.parametrize(("rotation", "white_side"), [(90, "bottom"), (-90, "top"), (180, "right")])
def test_a_video_recorded_sideways_is_turned_upright(tmp_path: Path, rotation: int, white_side: str) -> None:
    # White is at the left as stored. Turned counterclockwise by 90 degrees, left becomes bottom.
    stream = open_stream(record(tmp_path / "clip.mp4", rotation=rotation), label="mug")
    image = [image for _, image in frames(stream)][2]
    assert image.size == ((WIDTH, HEIGHT) if rotation == 180 else (HEIGHT, WIDTH))
    light = np.asarray(image.convert("L")).astype(float)
    sides = {
        "top": light[:8].mean(),
        "bottom": light[-8:].mean(),
        "left": light[:, :8].mean(),
        "right": light[:, -8:].mean(),
    }
    assert max(sides, key=lambda side: sides[side]) == white_side


def test_a_name_with_a_colon_is_no_protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(tmp_path / "clip.mp4").rename(tmp_path / "http:clip.mp4")
    monkeypatch.chdir(tmp_path)
    assert len(open_stream("http:clip.mp4", label="mug")) == 8


def test_a_file_that_is_no_video_is_refused(tmp_path: Path) -> None:
    for content in (b"", b"no video at all" * 50):
        (tmp_path / "clip.mp4").write_bytes(content)
        with pytest.raises(StreamError, match=r"clip\.mp4 is not a video that can be read: Invalid data"):
            open_stream(tmp_path / "clip.mp4", label="mug")


def test_a_file_of_sound_is_refused(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "sound.mkv"), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), format="s16", layout="mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    with pytest.raises(StreamError, match=r"holds no video, only sound"):
        open_stream(tmp_path / "sound.mkv", label="mug")


def test_a_video_without_frames_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match=r"none\.avi holds no frames\."):
        open_stream(record(tmp_path / "none.avi", count=0), label="mug")


def test_a_video_needs_a_label(tmp_path: Path) -> None:
    source = record(tmp_path / "clip.mp4")
    for label in (None, "", "  "):
        with pytest.raises(StreamError, match="say with a label what it shows"):
            open_stream(source, label=label)


def test_the_label_is_trimmed_and_composed_like_any_other(tmp_path: Path) -> None:
    assert open_stream(record(tmp_path / "clip.mp4"), label=" ka\u0308se ").labels == ["k\u00e4se"]


@pytest.mark.parametrize("every", [0, -2])
def test_every_must_be_at_least_one(tmp_path: Path, every: int) -> None:
    with pytest.raises(StreamError, match=f"every must be 1 or more.*got {every}"):
        open_stream(record(tmp_path / "clip.mp4"), label="mug", every=every)


def test_a_video_comes_as_it_is_or_not_at_all(tmp_path: Path) -> None:
    stream = open_stream(record(tmp_path / "clip.mp4"), label="mug")
    assert stream.ordered("as-is").examples == stream.examples
    with pytest.raises(StreamError, match="decoded from front to back, so its order must be as-is; got 'iid'"):
        stream.ordered("iid")


def test_a_video_that_is_gone_when_it_is_decoded_is_named(tmp_path: Path) -> None:
    source = record(tmp_path / "clip.mp4")
    stream = open_stream(source, label="mug")
    source.unlink()
    with pytest.raises(StreamError, match=r"clip\.mp4 cannot be decoded"):
        next(frames(stream))


def test_only_a_video_has_frames() -> None:
    with pytest.raises(StreamError, match="only a video has frames to decode"):
        next(frames(Stream("folder", [], Path("data"))))


def test_a_missing_av_is_answered_with_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = record(tmp_path / "clip.mp4")
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(StreamError, match=re.escape(install_command("video"))):
        open_stream(source, label="mug")


def test_tags_that_are_no_utf8_do_not_matter(tmp_path: Path) -> None:
    source = record(tmp_path / "clip.mkv", title="XXXX")
    source.write_bytes(source.read_bytes().replace(b"XXXX", b"\xff\xfe\xe9\xff"))
    assert numbers_seen(open_stream(source, label="mug")) == list(range(8))


@pytest.mark.parametrize(
    "content", ["ffconcat version 1.0\nfile other.mp4\n", "#EXTM3U\n#EXTINF:1,\nother.mp4\n#EXT-X-ENDLIST\n"]
)
def test_a_list_of_other_files_is_no_video(tmp_path: Path, content: str) -> None:
    record(tmp_path / "other.mp4")
    (tmp_path / "list.mp4").write_text(content)
    with pytest.raises(StreamError, match="not a video that can be read"):
        open_stream(tmp_path / "list.mp4", label="mug")
