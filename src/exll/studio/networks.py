"""Networks by their identity: each is loaded once, however many projects use it."""

import threading
from weakref import WeakValueDictionary

from exll.features.backbone import OnnxBackbone


class Networks:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: WeakValueDictionary[str, OnnxBackbone] = WeakValueDictionary()

    def open(self, source: str, looks: int | None = None, identity: str | None = None) -> OnnxBackbone:
        """The one with that identity where it is known; raises what ``OnnxBackbone`` raises."""
        with self._lock:
            found = None if identity is None else self._loaded.get(identity)
            if found is None or found.source != source:
                found = OnnxBackbone(source, looks=looks, identity=identity)
                found = self._loaded.setdefault(found.identity, found)
            return found
