#!/usr/bin/env python3
"""What acre-bench and scripts/bench-compare promise; no time is looked at.

usage: bench.py ACRE_BENCH PROJECT_FOLDER
"""

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

BENCH, PROJECT = sys.argv[1:3]
COMPARE = os.path.join(PROJECT, "scripts", "bench-compare")
FIGURE = re.compile(r"figure (\S+) (-?[0-9]+\.[0-9]{3}) (\S+)")
WHO = ["acre", "acre-sub-slices", "acre-adaptive", "acre-exclusive", "acre-direct", "model",
       "mimalloc", "jemalloc"]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def documented():
    """=> a pattern for each figure of the README's table, with its tails."""
    with open(os.path.join(PROJECT, "bench", "README.md"), encoding="utf-8") as file:
        text = file.read()
    rows = re.findall(r"^\| `([a-z][^`]*\.[^`]*\.[^`]*)` \|([^|]*)\|", text, re.MULTILINE)
    patterns = []
    for name, tails in rows:
        pattern = re.escape(name).replace("<who>", "(?:" + "|".join(WHO) + ")")
        pattern = pattern.replace("<trace>", "[a-z0-9_-]+")
        pattern = re.sub(r"\\{(.*?)\\}", lambda m: "(?:" + m[1].replace(",", "|") + ")", pattern)
        ends = r"(?:\.p99|\.p999|\.max)?" if "yes" in tails else ""
        patterns.append(re.compile(pattern + ends))
    return patterns


def measure(folder, *options):
    """=> the figure lines as (name, number, unit), and the JSON."""
    path = os.path.join(folder, "bench.json")
    result = run(BENCH, "--quick", *options, "--json", path)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    last = list(itertools.takewhile(FIGURE.fullmatch, reversed(lines)))
    assert last and not any(line.startswith("figure") for line in lines[:-len(last)]), lines
    with open(path, encoding="utf-8") as file:
        return [FIGURE.fullmatch(line).groups() for line in reversed(last)], json.load(file)


class Options(unittest.TestCase):
    def test_help_is_told_on_the_output(self):
        result = run(BENCH, "--help")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("usage: acre-bench", result.stdout)

    def test_what_is_no_option_is_refused_before_anything_runs(self):
        for wrong in (["--fast"], ["--filter"], ["w1"], ["--quick=yes"]):
            result = run(BENCH, *wrong)
            self.assertEqual((result.returncode, result.stdout), (2, ""), wrong)
            self.assertIn("usage: acre-bench", result.stderr)

    def test_a_file_that_cannot_be_is_told_before_anything_runs(self):
        for option in ("--json", "--trace"):
            result = run(BENCH, "--quick", "--filter", "replay", option, "/nonexistent/file")
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn("/nonexistent/file", result.stderr)

    def test_a_filter_that_lets_nothing_through_is_an_error(self):
        result = run(BENCH, "--quick", "--filter", "no.such.figure")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("no figure", result.stderr)


class Figures(unittest.TestCase):
    FILTERS = ["w1.1k", "w4", "miss.1k", "reuse", "slice", "pages.100", "pages-add.1k", "release",
               "threads", "report-pools", "report-live.1k", "relocation-plan.1k",
               "relocation-need.1k", "clock", "streams_overlap"]

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_every_workload_has_documented_figures_and_writes_the_same_as_json(self):
        patterns = documented()
        self.assertGreater(len(patterns), 20)
        for text in self.FILTERS:
            with self.subTest(filter=text):
                figures, written = measure(self.folder.name, "--filter", text)
                self.assertEqual([(f["name"], f"{f['value']:.3f}", f["unit"])
                                  for f in written["figures"]], figures)
                for figure in written["figures"]:
                    self.assertIn(text, figure["name"])
                    self.assertTrue(any(p.fullmatch(figure["name"]) for p in patterns),
                                    f"bench/README.md lacks {figure['name']}")
                    self.assertLessEqual(figure["low"], figure["value"])
                    self.assertLessEqual(figure["value"], figure["high"])

    def test_a_run_says_where_and_of_what_it_is(self):
        _, written = measure(self.folder.name, "--filter", "timer")
        for key in ("version", "commit", "date", "processor", "compiler", "build"):
            self.assertRegex(written[key], "...")
        self.assertEqual((written["quick"], written["repetitions"]), (True, 3))
        self.assertLessEqual(set(written["missing"]), {"mimalloc", "jemalloc"})

    def test_whoever_is_not_missing_takes_part(self):
        figures, written = measure(self.folder.name, "--filter", "w1.1k")
        present = {name.removeprefix("w1.1k.").split(".")[0] for name, _, _ in figures}
        self.assertEqual(present, set(WHO) - set(written["missing"]))

    def test_peers_can_be_left_out(self):
        figures, written = measure(self.folder.name, "--filter", "w1.1k", "--no-peers")
        self.assertEqual(set(written["missing"]), {"mimalloc", "jemalloc"})
        self.assertNotIn("malloc", " ".join(name for name, _, _ in figures))

    def test_what_needs_no_clock_is_what_the_library_promises(self):
        figures, _ = measure(self.folder.name, "--filter", "1k.acre.")
        value = {name: float(number) for name, number, _ in figures}
        self.assertEqual(value["reuse.1k.acre.percent"], 100)
        self.assertEqual(value["reuse.1k.acre.ratio"], 1)
        figures, _ = measure(self.folder.name, "--filter", "slice.100k.acre.bytes")
        self.assertLessEqual(float(figures[0][1]), 96)


class Compare(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, **figures):
        path = os.path.join(self.folder.name, name)
        run_of = {"commit": name, "date": "2026-01-01", "figures": [
            {"name": figure, "value": middle, "low": low, "high": high, "unit": unit}
            for figure, (low, middle, high, unit) in figures.items()]}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(run_of, file)
        return path

    def test_only_what_moved_by_more_than_its_spread_for_the_worse_is_named(self):
        before = self.write("before", slow=(9, 10, 11, "ns"), noisy=(5, 10, 15, "ns"),
                            fast=(9, 10, 11, "ns"), share=(99, 100, 100, "percent"),
                            gone=(1, 1, 1, "ns"), same=(1, 1, 1, "ratio"))
        now = self.write("now", slow=(12.9, 13, 13.1, "ns"), noisy=(18, 19, 19, "ns"),
                         fast=(6, 7, 8, "ns"), share=(80, 80, 80, "percent"),
                         new=(1, 1, 1, "ns"), same=(1, 1, 1, "ratio"))
        result = run(COMPARE, now, "--baseline", before)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(re.findall("^worse: (.*)$", result.stdout, re.MULTILINE),
                         ["slow", "share"])
        self.assertIn("2 figures within their spread, 1 better, 2 worse, 1 of before not measured",
                      result.stdout)

    def test_several_runs_count_as_one_with_a_wider_spread(self):
        before = self.write("before", near=(9, 10, 11, "ns"), far=(9, 10, 11, "ns"))
        one = self.write("one", near=(14, 14, 14, "ns"), far=(14, 14, 14, "ns"))
        other = self.write("other", near=(9, 9, 9, "ns"), far=(15, 15, 15, "ns"))
        third = self.write("third", near=(15, 15, 15, "ns"), far=(16, 16, 16, "ns"))
        result = run(COMPARE, one, other, third, "--baseline", before)
        self.assertEqual(re.findall("^worse: (.*)$", result.stdout, re.MULTILINE), ["far"],
                         result.stderr)

    def test_a_tail_alone_is_named_but_is_no_failure(self):
        before = self.write("before", **{"w1.1k.acre.ns.max": (1, 1, 1, "ns")})
        now = self.write("now", **{"w1.1k.acre.ns.max": (9, 9, 9, "ns")})
        result = run(COMPARE, now, "--baseline", before)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("worse tail: w1.1k.acre.ns.max", result.stdout)

    def test_a_run_is_no_worse_than_itself(self):
        path = os.path.join(self.folder.name, "bench.json")
        measure(self.folder.name, "--filter", "w1.1k")
        result = run(COMPARE, path, "--baseline", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(" 0 better, 0 worse, 0 of before not measured", result.stdout)

    def test_what_is_no_run_is_told(self):
        path = os.path.join(self.folder.name, "other.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write("{}")
        for wrong in (path, "/nonexistent/file"):
            result = run(COMPARE, wrong, "--baseline", wrong)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn(wrong, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
