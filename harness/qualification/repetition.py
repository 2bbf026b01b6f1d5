"""What of k trials passes: at least one (pass@k), or all of them (pass^k)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import comb, fsum, nextafter

from harness.schema.qualification import InARow

__all__ = ["in_a_row", "mean", "mean_in_a_row", "pass_at_k", "pass_hat_k"]


def pass_at_k(passes: int, n: int, k: int) -> float | None:
    """The chance that of ``k`` of the ``n`` trials at least one passed; unbiased. None where ``k`` > ``n``.

    Raises ValueError where ``k`` < 1 or ``passes`` are no part of ``n``.
    """
    _demand(passes, n, k)
    return None if k > n else _share(comb(n, k) - comb(n - passes, k), comb(n, k))


def pass_hat_k(passes: int, n: int, k: int) -> float | None:
    """The chance that ``k`` of the ``n`` trials all passed; unbiased. None where ``k`` > ``n``.

    The ``k``-th power of the rate is another number and too large. Raises ValueError as ``pass_at_k`` does.
    """
    _demand(passes, n, k)
    return None if k > n else _share(comb(passes, k), comb(n, k))


def in_a_row(passes: int, n: int, k: int) -> InARow:
    """Both for one scenario. Raises ValueError as ``pass_at_k`` does."""
    reason = f"k > n: {n} judged" if k > n else None
    return InARow(k=k, pass_at_k=pass_at_k(passes, n, k), pass_hat_k=pass_hat_k(passes, n, k), reason=reason)


def mean_in_a_row(rows: Mapping[str, InARow], k: int) -> InARow:
    """The mean over scenarios, each of the same weight; ``rows`` are theirs for ``k``, by scenario.

    None where one of them has no such number: a mean of the others would leave it out in silence.
    """
    at, hat = [row.pass_at_k for row in rows.values()], [row.pass_hat_k for row in rows.values()]
    wanting = next((f"{name}: {row.reason}" for name, row in rows.items() if row.reason is not None), None)
    if wanting is not None or not rows:
        return InARow(k=k, pass_at_k=None, pass_hat_k=None, reason=wanting or "no scenario")
    return InARow(k=k, pass_at_k=mean(one or 0.0 for one in at), pass_hat_k=mean(one or 0.0 for one in hat))


def mean(shares: Iterable[float]) -> float:
    """Of at least one: 0 only where all are, and 1 only where all are."""
    found = tuple(shares)
    return _inside(fsum(found) / len(found), is_none=not any(found), is_all=min(found) == 1)


def _share(part: int, whole: int) -> float:
    return _inside(part / whole, is_none=part == 0, is_all=part == whole)


def _inside(share: float, *, is_none: bool, is_all: bool) -> float:
    """What floating point rounds to none or to all of something, and is not, is as near to that as can be."""
    low, high = 0.0 if is_none else nextafter(0.0, 1.0), 1.0 if is_all else nextafter(1.0, 0.0)
    return min(max(share, low), high)


def _demand(passes: int, n: int, k: int) -> None:
    if not 0 <= passes <= n or k < 1:
        raise ValueError(f"{k} of {n} trials with {passes} passes: there is no such chance")
