"""Modules that are imported with their first use: a search must not pay for what only an answer needs."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class Late(ModuleType):
    """Stands for the module of its name."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)
