"""The ``harness`` command: one file a verb. ``main`` is imported by itself, so that help answers at once."""

__all__: list[str] = []
