"""Context managers that close at the end of their block."""

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """A context manager whose end calls `close`."""

    @abstractmethod
    def close(self) -> None:
        """Ends its work and releases its files or connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
