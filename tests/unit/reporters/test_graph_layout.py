from __future__ import annotations

from itertools import combinations

import pytest

from harness.reporters._graph_layout import CHARACTER, LINE_HEIGHT, Drawing, draw
from harness.reporters._path_taken import PathTaken, follow
from harness.schema.graph import GraphEdge, GraphNode, RuleGraph
from harness.schema.run import RunView

NOWHERE = PathTaken(frozenset(), frozenset(), 0)


def cube(facts: str) -> RuleGraph:
    """Independent facts, each set by its own kind; each node has a call that leads nowhere and one that ends."""
    sets = [tuple(chosen) for size in range(len(facts) + 1) for chosen in combinations(facts, size)]
    edges = [
        GraphEdge(source=source, kind=f"set_{fact}", target=sets.index(tuple(sorted((*chosen, fact)))))
        for source, chosen in enumerate(sets)
        for fact in facts
        if fact not in chosen
    ]
    for node in range(len(sets)):
        edges.append(GraphEdge(source=node, kind="a_look_around_with_a_name_longer_than_a_flag", target=node))
        edges.append(GraphEdge(source=node, kind="what_ends_it_at_once_and_has_the_longest_name_of_all", code="ended"))
    nodes = tuple(GraphNode(facts=chosen, accepts=len(chosen) == len(facts), silence="quiet") for chosen in sets)
    return RuleGraph(nodes=nodes, edges=tuple(edges))


def rectangles(drawing: Drawing) -> list[tuple[float, float, float, float]]:
    """Of boxes, flags (with some air below) and labels: left, top, right, bottom."""
    found = [(box.x, box.y, box.x + box.width, box.y + box.height) for box in drawing.boxes]
    for box in drawing.boxes:
        if box.flag is not None:
            bottom = box.y + box.height
            found.append((box.x, bottom + 6, box.x + box.flag_width, bottom + 36))
    for arrow in drawing.arrows:
        width = len(arrow.label) * CHARACTER
        found.append((arrow.x + 10, arrow.y - 15, arrow.x + 10 + width, arrow.y - 4))
    return found


@pytest.mark.parametrize("facts", ["", "a", "ab", "abc"])
def test_boxes_flags_and_labels_never_meet_and_stay_on_the_paper(facts: str) -> None:
    rules = cube(facts)
    for end in range(len(rules.nodes)):
        path = PathTaken(frozenset({0, end}), frozenset(), end)
        drawing = draw(rules, path, "✗ a_code_that_is_a_good_deal_longer_than_its_box")
        placed = rectangles(drawing)
        for left, top, right, bottom in placed:
            assert left >= 0
            assert top >= 0
            assert right <= drawing.width
            assert bottom <= drawing.height
        for one, other in combinations(placed, 2):
            apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            assert apart, (one, other)


def test_text_fits_its_box(view: RunView) -> None:
    for summary in view.manifest.scenarios:
        for box in draw(summary.graph, NOWHERE, "").boxes:
            assert max(len(line.text) for line in box.lines) * CHARACTER < box.width
            assert len(box.lines) * LINE_HEIGHT < box.height
            assert all(box.y < y < box.y + box.height for y, _ in box.baselines)


def test_every_edge_runs_to_the_right_and_bends_only_after_its_label() -> None:
    drawing = draw(cube("abc"), NOWHERE, "")
    assert len(drawing.arrows) == 12
    for arrow in drawing.arrows:
        assert arrow.x + len(arrow.label) * CHARACTER < arrow.track < arrow.to_x
        assert arrow.path.startswith(f"M{arrow.x:.1f},{arrow.y:.1f} H{arrow.track:.1f} C")
        assert arrow.head.startswith(f"{arrow.to_x:.1f},{arrow.to_y:.1f} ")


def test_edges_that_arrive_at_one_box_do_not_arrive_at_one_point() -> None:
    arrivals = [(arrow.to_x, arrow.to_y) for arrow in draw(cube("abc"), NOWHERE, "").arrows]
    assert len(set(arrivals)) == len(arrivals)


def test_edges_arrive_in_the_order_in_which_they_set_out() -> None:
    turned = cube("abc").model_copy(update={"edges": cube("abc").edges[::-1]})
    drawing = draw(turned, NOWHERE, "")
    for box in drawing.boxes:
        into = [arrow for arrow in drawing.arrows if arrow.to_x == box.x and box.y < arrow.to_y < box.y + box.height]
        assert sorted(into, key=lambda one: one.y) == sorted(into, key=lambda one: one.to_y)


def test_calls_that_lead_nowhere_new_are_listed_and_endings_counted(view: RunView) -> None:
    start = draw(view.manifest.scenarios[0].graph, NOWHERE, "").boxes[0]
    assert [line.text for line in start.lines] == ["start", "↻ clock", "↻ workspace_read", "⊘ 6 codes"]


def test_one_ending_is_counted_as_one_code() -> None:
    rules = RuleGraph(
        nodes=(GraphNode(facts=(), accepts=False, silence="quiet"),),
        edges=(GraphEdge(source=0, kind="a", code="same"), GraphEdge(source=0, kind="b", code="same")),
    )
    assert [line.text for line in draw(rules, NOWHERE, "").boxes[0].lines] == ["start", "⊘ 1 code"]
    for edge in (0, 1):
        taken = draw(rules, PathTaken(frozenset({0}), frozenset({edge}), 0), "").boxes[0].lines
        assert [line.taken for line in taken] == [False, True]


def test_the_path_is_marked_and_lies_on_top(view: RunView) -> None:
    rules = view.manifest.scenarios[1].graph
    drawing = draw(rules, follow(rules, view.receipts[5]), "✓ passed")
    assert [arrow.taken for arrow in drawing.arrows] == [False] * 2 + [True] * 4
    assert [box.flag for box in drawing.boxes] == [None] * 5 + ["✓ passed"]
    assert [box.visited for box in drawing.boxes] == [True, True, False, True, True, True]
    assert [line.text for line in drawing.boxes[1].lines if line.taken] == ["↻ workspace_read"]


def test_the_code_that_ended_the_episode_is_marked_where_it_ended(view: RunView) -> None:
    rules = view.manifest.scenarios[0].graph
    drawing = draw(rules, follow(rules, view.receipts[1]), "✗ quota_reentry_before_callsite")
    assert [line.text for line in drawing.boxes[1].lines if line.taken] == ["⊘ 6 codes"]
    assert drawing.boxes[1].flag == "✗ quota_reentry_before_callsite"
    assert not any(line.taken for line in drawing.boxes[2].lines)
