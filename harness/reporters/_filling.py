"""Fills a page with cards, drawings and conversations as far as there is room for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Protocol, TypeVar, cast

from markupsafe import Markup

from harness.reporters._cards import Art, Card, Section
from harness.reporters._page_template import environment
from harness.reporters._rates import RateRow, Rates, cut, worst_first
from harness.reporters._room import Room

__all__ = ["filled", "fitting_rates", "fitting_sections"]

_T = TypeVar("_T")

#: What holds a scenario in the page besides what is said of it, in bytes.
_SECTION = 200
#: With less room than this, no card is tried.
_CARD_MIN = 2000


class _Parts(Protocol):
    """The macros of ``html_parts.jinja`` that make what there may be no room for."""

    def art(self, one: Art) -> Markup: ...

    def episode(self, card: Card, *, pictured: bool, talked: bool) -> Markup: ...

    def refusals(self, section: Section) -> Markup: ...

    def about(self, section: Section) -> Markup: ...


class _Overview(Protocol):
    """That of ``html_overview.jinja`` which makes a row of the matrix."""

    def rate_row(self, row: RateRow) -> Markup: ...


def fitting_rates(found: Rates, size: int) -> Rates:
    """All rows where ``size`` bytes hold them; else those that passed the least, the others in one."""
    overview = cast("_Overview", environment().get_template("html_overview.jinja").make_module())
    worst = worst_first(found.rows)
    sizes = [len(overview.rate_row(row).encode()) for row in worst]
    return found if sum(sizes) <= size else cut(found, _fitting(worst, sizes, size))


def fitting_sections(sections: Sequence[Section], size: int) -> tuple[Section, ...]:
    """All scenarios where ``size`` bytes hold what is said of them; else first those that did not pass throughout."""
    parts = cast("_Parts", environment().get_template("html_parts.jinja").make_module())
    by_need = sorted(sections, key=lambda section: section.passed)
    kept = {one.key for one in _fitting(by_need, [len(parts.about(one).encode()) + _SECTION for one in by_need], size)}
    return tuple(section for section in sections if section.key in kept)


def _fitting(things: Sequence[_T], sizes: Sequence[int], size: int) -> list[_T]:
    """As many from the first on as there is room for."""
    return [thing for thing, so_far in zip(things, accumulate(sizes), strict=True) if so_far <= size]


def filled(sections: Sequence[Section], words: Mapping[str, object], size: int) -> Mapping[str, Markup]:
    """Cards, drawings and tables by their places in the page, as many as ``size`` bytes hold.

    Episodes that did not pass come first; conversations get what is left.
    """
    # macros are attributes that only the template knows
    parts = cast("_Parts", environment().get_template("html_parts.jinja").make_module(dict(words)))
    room = Room(size)
    cards = [card for section in sections for card in section.cards]
    cards.sort(key=lambda card: card.row.receipt.verdict == "pass")
    pictured = {card.place for card in cards if _fill(room, card, parts)}
    for section in sections:
        if section.refusals:
            room.add({f"ways-{section.key}": parts.refusals(section)})
    for card in cards:
        if card.row.transcript is not None and room.shown[card.place] and room.left > _CARD_MIN:
            room.add({card.place: parts.episode(card, pictured=card.place in pictured, talked=True)})
    return room.shown


def _fill(room: Room, card: Card, parts: _Parts) -> bool:
    """Add a card, without its drawing where there is no room for that; whether it has it."""
    if room.left < _CARD_MIN:
        return False
    art = card.art
    drawn = {} if art is None or art.id in room.shown else {art.id: parts.art(art)}
    if room.add({card.place: parts.episode(card, pictured=True, talked=False), **drawn}):
        return True
    room.add({card.place: parts.episode(card, pictured=False, talked=False)})
    return False
