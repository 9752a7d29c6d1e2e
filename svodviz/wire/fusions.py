"""Candidate pairs of items for fusion, as data for the page: fused, or the reason why not.


A fused pair computes its value in one item. Items are referred to by position, `saved` is bytes,
`change` nanoseconds, the score is a share of the program's time. A fusion descends from both of its
items, so selecting it highlights both. The iterations of a loop share one row, that of the first
one; `times` is their number.
"""

from typing import TYPE_CHECKING

from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible
from svodviz.wire.items import loop_rows
from svodviz.wire.reasons import number_rows
from svodviz.wire.scene import rounded

if TYPE_CHECKING:
    from compiler.schedule.analysis.opportunities import FusionOpportunity
    from compiler.schedule.printer import Schedule
    from svodviz.data import records


def fusion_rows(schedule: "Schedule", entities: Entities) -> "list[records.FusionRow]":
    """The table of fusion opportunities."""
    place = {item.item_id: position for position, item in enumerate(schedule.items)}
    names = _names(schedule)
    rows: dict[tuple[object, ...], records.FusionRow] = {}
    for number, it in enumerate(schedule.opportunities):
        row = _row(f"schedule:fusion {number}", it, schedule, place, entities)
        same = row["type"], row["saved"], row["taken"], row["value"], row["reason"]
        first = rows.setdefault((names[it.first], names[it.second], *same), row)
        first["times"] += 1
    return list(rows.values())


def _names(schedule: "Schedule") -> dict[int, str | int]:
    """The name that all iterations of an item in a loop share; of any other item its number."""
    repeated = {position for loop in loop_rows(schedule) for position in loop["items"]}
    return {
        item.item_id: item.operation.name if position in repeated else item.item_id
        for position, item in enumerate(schedule.items)
    }


def _row(
    name: str, opportunity: "FusionOpportunity", schedule: "Schedule", place: dict[int, int],
    entities: Entities,
) -> "records.FusionRow":  # fmt: skip
    ends = (opportunity.first, opportunity.second)
    return {
        "e": entities.number(name, [schedule.entity(it) for it in ends]),
        "from": place[ends[0]],
        "to": place[ends[1]],
        "type": visible(opportunity.fusion_type),
        "score": rounded(opportunity.score),
        "change": rounded(opportunity.change),
        "saved": opportunity.bytes_saved,
        "taken": opportunity.taken,
        "value": visible(opportunity.value),
        "reason": visible(opportunity.reason),
        "numbers": number_rows(opportunity.reason),
        "times": 0,
    }
