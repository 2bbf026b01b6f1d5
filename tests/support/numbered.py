"""Marks a test with the numbered cases of the runner's specification that it shows; ``tests/README.md`` lists them."""

from __future__ import annotations

import pytest

__all__ = ["case"]

#: ``@case(43)``, ``@case(43, 44)``; on a parameter: ``pytest.param(..., marks=case(43))``.
case = pytest.mark.case
