"""A video with one label: its frames, decoded in the order they were recorded."""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from exll.errors import StreamError
from exll.installing import install_command
from exll.streams.example import Example

if TYPE_CHECKING:
    from PIL.Image import Image

    from exll.streams.stream import Stream

FORMATS = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpeg,mpegvideo,mpegts,flv,asf,ogg"  # FFmpeg's names
WITH_TIMES = ("mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm")  # their packets say when each is shown, others guess
VIDEO_SUFFIXES = frozenset({".mp4", ".mkv", ".avi", ".mov", ".webm", ".m4v", ".mpg"})


def list_frames(source: Path, label: str, every: int = 1) -> list[Example]:
    """Every n-th frame as an example; the packets are counted and no pixel is decoded."""
    count = _count(source)
    if not count:
        raise StreamError(f"{source} holds no frames.")
    return [Example(f"{source.name}#{n}", label, video=source.name, frame=n) for n in range(0, count, every)]


def frames(stream: "Stream") -> Iterator[tuple[Example, "Image"]]:
    """The stream's examples with their pictures, in the order of the video and the way up it was recorded.

    Frames are counted as packets when the stream is opened. In a few old formats a packet need not be a frame; then
    the last examples may have no picture and do not come.
    """
    if stream.kind != "video":
        raise StreamError(f"only a video has frames to decode; {stream.source} is a stream of kind {stream.kind!r}.")
    av = _av()
    wanted = {example.frame: example for example in stream.examples}
    first = min((example.frame or 0 for example in stream.examples), default=0)
    n = -1
    try:
        with _open(av, stream.source) as container:
            pictures = container.streams.video[0]
            pictures.thread_type = "AUTO"
            for n, frame in _decoded(container, pictures, first):
                if n in wanted:
                    yield wanted.pop(n), _upright(frame)
                if not wanted:
                    return
    except av.FFmpegError as error:
        raise StreamError(f"{stream.source} cannot be decoded after frame {n}: {error.strerror}.") from error


def _decoded(container: Any, pictures: Any, first: int) -> Iterator[tuple[int, Any]]:
    """Frames with their numbers, from the last key frame before the first that is wanted; from the front in a file that
    does not say which frame is shown when."""
    if first and container.format.name in WITH_TIMES:
        packets = [packet for packet in container.demux(pictures) if packet.size and not packet.is_discard]
        number_of = {time: n for n, time in enumerate(sorted(packet.pts or 0 for packet in packets))}
        keys = [packet.pts or 0 for packet in packets if packet.is_keyframe and number_of[packet.pts or 0] <= first]
        known = bool(keys) and len(number_of) == len(packets)
        container.seek(max(keys) if known else 0, stream=pictures)
        if known:
            yield from ((number_of[frame.pts], frame) for frame in container.decode(pictures) if frame.pts in number_of)
            return
    yield from enumerate(container.decode(pictures))


def _count(source: Path) -> int:
    av = _av()
    try:
        with _open(av, source) as container:
            if not container.streams.video:
                raise StreamError(f"{source} holds no video, only sound or data.")
            # The header's own count is not used: it is missing in some formats and counts frames that were cut out.
            return sum(
                1 for packet in container.demux(container.streams.video[0]) if packet.size and not packet.is_discard
            )
    except av.FFmpegError as error:
        raise StreamError(f"{source} is not a video that can be read: {error.strerror}.") from error


def _upright(frame: Any) -> "Image":
    """The frame as a picture, turned as the camera noted: phones record sideways and write the angle beside it."""
    from PIL.Image import Transpose

    image: Image = frame.to_image()
    turns = {1: Transpose.ROTATE_90, 2: Transpose.ROTATE_180, 3: Transpose.ROTATE_270}  # counterclockwise, as the angle
    turn = turns.get(round(frame.rotation / 90) % 4)
    return image if turn is None else image.transpose(turn)


def _open(av: ModuleType, source: Path) -> Any:
    """A container of a kind that holds its own frames, and nothing but the file itself: FFmpeg also knows lists that
    name other files or addresses. Tags may be in any encoding; nobody reads them here."""
    # FFmpeg takes what stands before a colon for a protocol, unless the path begins at the root.
    options = {"protocol_whitelist": "file", "format_whitelist": FORMATS}
    return av.open(str(source.absolute()), options=options, metadata_errors="replace")


def _av() -> ModuleType:
    try:
        import av
    except ImportError as error:
        raise StreamError(f"Reading videos needs PyAV: {install_command('video')}.") from error
    return av
