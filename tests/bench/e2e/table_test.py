#!/usr/bin/env python3
"""The arithmetic of the table: medians, ratios, targets, and when a latency is normal again."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from modes import Figure, Mode, Sizes  # noqa: E402
from overload import seconds_to_recover  # noqa: E402
from suite import all_groups  # noqa: E402
from table import make_rows  # noqa: E402


def row_of(figure, **rounds):
    mode = Mode("mode", {"figure": figure}, None)
    results = {("mode", "figure", server.replace("_", "-")): values for server, values in rounds.items()}
    return make_rows([mode], results)[0]


class RowsTest(unittest.TestCase):
    def test_ratios_are_medians_of_rounds(self):
        row = row_of(Figure("x"), opserve=[10, 20, 90], zero_copy=[10, 40, 100], gather=[5, 10, 9])
        self.assertEqual(row["opserve"], 20)
        self.assertEqual(row["ratios"], {"zero-copy": 0.9, "gather": 2})

    def test_another_commit_in_place_of_the_echoes(self):
        mode = Mode("mode", {"figure": Figure("x", (("gather", ">=", 0.9),))}, None)
        results = {("mode", "figure", "opserve"): [10, 30], ("mode", "figure", "before"): [20, 20]}
        row = make_rows([mode], results, ("before",))[0]
        self.assertEqual((row["before"], row["ratios"]), (20, {"before": 1}))
        self.assertEqual([target["met"] for target in row["targets"]], [None])

    def test_targets_of_echoes(self):
        figure = Figure("x", (("gather", ">=", 0.9), ("zero-copy", ">=", 0.75)))
        row = row_of(figure, opserve=[80], zero_copy=[100], gather=[100])
        self.assertEqual([target["met"] for target in row["targets"]], [False, True])

    def test_targets_of_oneself(self):
        row = row_of(Figure("x", (("self", "<=", 2),)), opserve=[1, 2, 3])
        self.assertEqual([target["met"] for target in row["targets"]], [True])

    def test_targets_of_another_mode(self):
        one, many = Mode("one", {"rate": Figure("x")}, None), Mode(
            "many", {"rate": Figure("x", ((("one", "rate"), ">=", 3),))}, None)
        results = {("one", "rate", "opserve"): [1, 2], ("many", "rate", "opserve"): [4, 5]}
        target = make_rows([one, many], results)[1]["targets"][0]
        self.assertEqual((target["reached"], target["met"]), (3.25, True))

    def test_a_target_without_its_peer_is_open(self):
        row = row_of(Figure("x", (("gather", ">=", 0.9),)), opserve=[80])
        self.assertIsNone(row["targets"][0]["met"])

    def test_names_are_distinct(self):
        names = [mode.name for group in all_groups(Sizes(), large=True) for mode in group.modes]
        self.assertEqual(len(names), len(set(names)))


def interval(begin, p99, count=10, failed=None):
    return {"begin_seconds": begin, "latency_us": {"p99": p99, "count": count}, "failed": failed or {}, "unsent": 0}


class RecoveryTest(unittest.TestCase):
    def test_counts_from_the_last_bad_interval(self):
        intervals = [interval(1, 900), interval(2, 900), interval(3, 10), interval(4, 900), interval(5, 10), interval(6, 10)]
        self.assertEqual(seconds_to_recover(intervals, since=2, limit=100), 3)

    def test_at_once(self):
        self.assertEqual(seconds_to_recover([interval(1, 900), interval(2, 10)], since=2, limit=100), 0)

    def test_never(self):
        self.assertIsNone(seconds_to_recover([interval(2, 10), interval(3, 900)], since=2, limit=100))

    def test_failures_are_not_normal(self):
        intervals = [interval(2, 10, failed={"DEADLINE_EXCEEDED": 1}), interval(3, 10)]
        self.assertEqual(seconds_to_recover(intervals, since=2, limit=100), 1)


if __name__ == "__main__":
    unittest.main()
