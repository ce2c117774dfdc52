"""Rounds of figures as rows, and the rows as text."""

import statistics

from peers import ECHOES


def rounded(value):
    return "-" if value is None else f"{value:.4g}" if value < 1000 else f"{value:.0f}"


def median(values):
    return statistics.median(values) if values else None


def median_ratio(ours, theirs):
    """Of the rounds: neighbours in time are compared, so that a drift of the machine meets both."""
    return median([a / b for a, b in zip(ours, theirs) if b])


def target_rows(row, figure, values):
    """Each target of a figure: text and whether it is met (None where it cannot be told)."""
    for what, relation, bound in figure.targets:
        if what == "self":
            reached, text = row["opserve"], ""
        elif what in ECHOES:
            reached, text = row["ratios"].get(what), f" of {what}"
        else:
            reached = median_ratio(values(*row["key"], "opserve"), values(*what, "opserve"))
            text = " of unary"
        met = None if reached is None else reached >= bound if relation == ">=" else reached <= bound
        yield {"target": f"{relation} {bound:g}{text}", "reached": reached, "met": met}


def make_rows(modes, results, others=ECHOES):
    """`results`: {(mode, figure, server): values, one a round}. `others`: the servers that ours is compared with."""

    def values(mode, figure, server):
        return results.get((mode, figure, server), [])

    rows = []
    for mode in modes:
        for name, figure in mode.figures.items():
            ours = values(mode.name, name, "opserve")
            if not ours:
                continue
            row = {"key": (mode.name, name), "unit": figure.unit, "opserve": median(ours), "rounds": {"opserve": ours},
                   "ratios": {}}
            for other in others:
                theirs = values(mode.name, name, other)
                row[other] = median(theirs)
                row["rounds"][other] = theirs
                if theirs and len(theirs) == len(ours):
                    row["ratios"][other] = median_ratio(ours, theirs)
            row["targets"] = list(target_rows(row, figure, values))
            rows.append(row)
    return rows


def show(rows, others=ECHOES):
    text = [["", "unit", "opserve", *others, *(f"/ {other}" for other in others), "target", "reached", "met"]]
    mode = None
    for row in rows:
        if row["key"][0] != mode:
            mode = row["key"][0]
            text.append([mode] + [""] * (len(text[0]) - 1))
        cells = ["  " + row["key"][1], row["unit"], rounded(row["opserve"]), *(rounded(row[other]) for other in others),
                 *(rounded(row["ratios"].get(other)) for other in others)]
        for target in row["targets"] or [None]:
            met = {None: "", True: "yes", False: "NO"}[target and target["met"]]
            text.append(cells + ([target["target"], rounded(target["reached"]), met] if target else ["", "", ""]))
            cells = [""] * len(cells)
    widths = [max(len(line[i]) for line in text if line[1] or i) for i in range(len(text[0]))]
    for line in text:
        if not any(line[1:]):
            print(line[0])
        else:
            cells = [cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths))]
            print("  ".join(cells).rstrip())
