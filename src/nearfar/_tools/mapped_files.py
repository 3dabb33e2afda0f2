"""Values in files, memory-mapped where they are used: the blocks of a scratch folder."""

from __future__ import annotations

import mmap
import os
import pickle
import threading
from contextlib import suppress
from typing import Any

from nearfar.errors import FileError

ALIGNED = 64  # bytes; where an array starts in a file
# all pages at once, where the system can: one by one they cost more than the work on them
READ_ALL: dict[str, Any] = (
    {"flags": mmap.MAP_SHARED | mmap.MAP_POPULATE, "prot": mmap.PROT_READ}
    if hasattr(mmap, "MAP_POPULATE")
    else {"access": mmap.ACCESS_READ}
)


class Room:
    """Bytes of files that may stay mapped: to map a file anew for every step costs more than many a step."""

    def __init__(self, size: int) -> None:
        self.left = size
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        """Whether there was room for so many bytes; it is taken."""
        with self._lock:
            fits = size <= self.left
            self.left -= size if fits else 0
            return fits

    def give_back(self, size: int) -> None:
        """So many bytes are free again."""
        with self._lock:
            self.left += size


class Stored:
    """A value in a file, memory-mapped wherever it is used; the file goes when nobody needs it any more.

    It stays mapped where ``room`` allows. The pages belong to the cache of the system, which takes them back when it
    needs them.
    """

    def __init__(self, value: Any, path: str, room: Room | None = None) -> None:
        self.path = path
        self._room, self._taken = room, 0
        self._mapped: memoryview | None = None
        self._spans: list[tuple[int, int]] = []
        buffers: list[pickle.PickleBuffer] = []
        self._head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
        try:
            with open(path, "wb") as file:
                for buffer in buffers:
                    file.write(bytes(-file.tell() % ALIGNED))
                    start = file.tell()
                    file.write(buffer.raw())
                    self._spans.append((start, file.tell()))
        except OSError as error:
            raise FileError(
                f"{os.path.dirname(path)}: cannot write to the scratch folder ({error.strerror}); make room there, "
                "or choose a folder on a larger disk"
            ) from error

    def open(self) -> Any:
        """The value; its arrays lie in the file, read when they are looked at, and cannot be changed."""
        if not any(stop > start for start, stop in self._spans):  # an empty file cannot be mapped
            return pickle.loads(self._head, buffers=[b"" for _ in self._spans])
        mapped = self._mapped
        if mapped is None:
            mapped = self._map()
            if self._room is not None and self._room.take(len(mapped)):
                self._taken, self._mapped = self._taken + len(mapped), mapped
        return pickle.loads(self._head, buffers=[mapped[start:stop] for start, stop in self._spans])

    def _map(self) -> memoryview:
        try:
            with open(self.path, "rb") as file:
                return memoryview(mmap.mmap(file.fileno(), 0, **READ_ALL))
        except OSError as error:
            raise FileError(
                f"{self.path}: the block is no longer there ({error.strerror}); use what is computed inside the "
                "with block of the scratch folder"
            ) from error

    def __del__(self) -> None:
        if getattr(self, "_taken", 0) and self._room is not None:
            self._room.give_back(self._taken)
        with suppress(OSError, AttributeError, TypeError):  # also while Python shuts down
            os.remove(self.path)
