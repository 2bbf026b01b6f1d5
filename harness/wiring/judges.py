"""The classifiers that scenarios may name: those of ours, and those that installed packages bring."""

from __future__ import annotations

from collections.abc import Sequence

from harness import catalog
from harness.errors import CatalogError, EnvironmentProblem
from harness.ports import Classifiers
from harness.schema.judging import Classifier

__all__ = ["CLASSIFIERS"]

_FOLDER = "classifiers"


class _Installed:
    """By file name in the folder, and by entry point."""

    def names(self) -> Sequence[str]:
        return tuple(sorted((*catalog.names(_FOLDER), *catalog.plug_ins(_FOLDER))))

    def find(self, name: str) -> type[Classifier]:
        if name in catalog.names(_FOLDER):
            ours: type[Classifier] = catalog.module(_FOLDER, name).CLASSIFIER
            return ours
        plug_ins = catalog.plug_ins(_FOLDER)
        if name not in plug_ins:
            raise CatalogError("classifier", name, tuple(self.names()))
        found = catalog.plug_in(_FOLDER, name)
        if isinstance(found, type) and issubclass(found, Classifier):
            return found
        dist = plug_ins[name].dist
        package = "?" if dist is None else dist.name
        problem = "is no subclass of harness.schema.judging.Classifier"
        raise EnvironmentProblem(f"classifier {name!r} of the package {package} {problem}")


CLASSIFIERS: Classifiers = _Installed()
