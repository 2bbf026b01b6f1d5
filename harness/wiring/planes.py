"""Control planes by reference: which one is installed or comes with harness, and opening it on a workspace."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from harness import catalog, provision
from harness.errors import CatalogError, PlaneMissingError
from harness.ports import ControlPlane, Executor
from harness.provision import InstalledPlane
from harness.schema.process import PlaneIdentity
from harness.wiring.built_in import built_in
from harness.wiring.places import Settings
from harness.workspace import Workspace

__all__ = ["installed_plane", "opener", "plane_identity"]


def installed_plane(place: Settings, ref: str) -> InstalledPlane:
    """What is installed for ``name==version``. Raises CatalogError, ProvisionError, PlaneMissingError."""
    name, version = provision.parse_ref(ref)
    if name not in catalog.names("controlplanes"):
        raise CatalogError("control plane", name, catalog.names("controlplanes"))
    found = provision.find(name, version, place.home)
    if found is None:
        raise PlaneMissingError(ref, place.home, provision.damage(name, version, place.home))
    return found


def plane_identity(place: Settings, ref: str) -> PlaneIdentity:
    """Which control plane a reference means here."""
    module = built_in(ref)
    if module is not None:
        identity: PlaneIdentity = module.IDENTITY
        return identity
    return installed_plane(place, ref).identity


def opener(
    place: Settings,
    ref: str,
    executor_for: Callable[[InstalledPlane, Workspace], Executor],
    find: Callable[[str], InstalledPlane],
) -> Callable[[Workspace], ControlPlane]:
    """Opens the plane of a reference on a workspace, with an environment and an empty home of its own.

    ``find`` gives what is installed for a reference.

    Raises CatalogError, ProvisionError, PlaneMissingError where there is no such plane here.
    """
    own = built_in(ref)
    return _from_installation(place, find(ref), executor_for) if own is None else _in_process(own)


def _in_process(module: ModuleType) -> Callable[[Workspace], ControlPlane]:
    def open_on(workspace: Workspace) -> ControlPlane:
        opened: ControlPlane = module.open_plane(workspace.cwd)
        return opened

    return open_on


def _from_installation(
    place: Settings, plane: InstalledPlane, executor_for: Callable[[InstalledPlane, Workspace], Executor]
) -> Callable[[Workspace], ControlPlane]:
    module = catalog.module("controlplanes", plane.identity.name)

    def open_on(workspace: Workspace) -> ControlPlane:
        opened: ControlPlane = module.open_plane(
            plane,
            executor=executor_for(plane, workspace),
            cwd=workspace.cwd,
            process_home=workspace.process_home,
            search_path=place.search_path,
        )
        return opened

    return open_on
