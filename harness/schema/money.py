"""US dollars, told by one rule wherever a person reads them, and by one for machines.

Whoever names a bound gets it back as it is, with every digit; that is no amount that was spent.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Final

__all__ = ["MICRO", "dollars_of", "told_usd"]

#: Costs are counted in millionths of a dollar.
MICRO: Final = Decimal(1_000_000)
_CENT: Final = Decimal("0.01")
#: Room for every digit of whatever a run can cost.
_DIGITS: Final = 100
#: So many digits say something where an amount is below a dollar.
_TOLD: Final = 3


def dollars_of(micro_usd: Decimal) -> Decimal:
    """For machines: dollars of millionths of them, rounded down to the millionth, however many there are."""
    return (micro_usd / MICRO).quantize(Decimal("0.000001"), ROUND_FLOOR, Context(prec=_DIGITS))


def told_usd(usd: Decimal | float, *, at_least: bool = False, at_most: bool = False) -> str:
    """For people: ``$1,234.56``, below a dollar three digits, ``$0.00227``; ``usd`` is not negative.

    Rounded down, so that what is spent at least stays so and gets ``>=``; up where it is ``at_most``.
    """
    exact, rounding = usd if isinstance(usd, Decimal) else Decimal(repr(usd)), ROUND_CEILING if at_most else ROUND_FLOOR
    told = Context(prec=_TOLD, rounding=rounding).plus(exact)
    told = told.normalize() if told < 1 else exact.quantize(_CENT, rounding, Context(prec=_DIGITS))
    return f"{'>= ' if at_least else ''}${told:,f}"
