"""Whether the scripts of this folder do what the table rests on: what is generated of a device file, and what a run
makes of mutants that are found, survive, are reached by nobody or are excused."""
import contextlib
import io
import itertools
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import generate
import run

SAMPLE = """#if KMA_DEBUG
#define NOTHING if (debug)
static inline void guard(int a) { if (a) a = 1; }
#elif KMA_DEBUG > 1
static inline void guard_more(int a) { if (a) a = 1; }
#endif
#if !KMA_DEBUG
#else
static inline void guard_else(int a) { if (a) a = 1; }
#endif
#define kma_x_cas kma_cas_u32
static inline uint kma_x(global word *at, uint a, uint b) // if (comment)
{
    for (uint i = 0; i < a; i++)
        if (a != 0 && kma_x_cas(at, 0, min(a, b), KMA_ACQ_REL) == 0)
            return a > b ? a : b;
    return kma_fetch_add_u32(at, 1, KMA_RELEASE);
}
"""

# A finder of a world with the mutants 1 to 3, which reaches 1 and 2 and finds 1.
FINDER = """
import sys
if "--reached" in sys.argv:
    print("mutants right reached: 1 2")
elif sys.argv[sys.argv.index("--mutant") + 1] == "1":
    print("defect: two owners (file:1)\\niteration 7; again")
else:
    print("no defect")
    sys.exit(1)
"""


class GenerateTest(unittest.TestCase):
    def setUp(self):
        self.copy = generate.Copy("kma/x.cl", SAMPLE, itertools.count(1))
        generate.weaken_orders(self.copy)
        generate.split_operations(self.copy, generate.aliases_of([SAMPLE]))
        generate.force_conditions(self.copy)
        generate.drop_operands(self.copy)
        generate.drop_bounds(self.copy)

    def test_names(self):
        cas = "kma_x_cas(at, 0, min(a, b), KMA_ACQ_REL)"
        add = "kma_fetch_add_u32(at, 1, KMA_RELEASE)"
        expected = [f"{cas} -> acquire only", f"{cas} -> release only", f"{cas} -> a store", f"{add} -> relaxed",
                    f"{add} -> two steps", "i < a -> true", "i < a -> false", f"a != 0 && {cas} == 0 -> true",
                    f"a != 0 && {cas} == 0 -> false", "a > b -> true", "a > b -> false", "&& a != 0 -> true",
                    f"&& {cas} == 0 -> true", "min(a, b) -> its first argument", "min(a, b) -> its second argument"]
        self.assertCountEqual([mutant["name"] for mutant in self.copy.mutants], [f"x.cl kma_x: {one}" for one in expected])

    def test_only_insertions(self):
        copy = self.copy.text()
        self.assertEqual(copy.count("\n"), SAMPLE.count("\n"))
        self.assertIn("(shim::is(12) || (a != 0))", copy)
        for mutant in self.copy.mutants:
            self.assertRegex(copy, rf"\b{mutant['number']}\b")

    def test_by_hand(self):
        generate.change_by_hand(self.copy, {"mine": ["i < a", "i <= a"]})
        self.assertIn("? (i <= a) : (", self.copy.text())
        with self.assertRaisesRegex(SystemExit, "has the text 0 times"):
            generate.change_by_hand(self.copy, {"mine": ["i < aa", "i <= a"]})

    def test_overlap(self):
        self.copy.wrap(SAMPLE.index("> b ?"), SAMPLE.index("a : b") + 1, "(", ")")
        with self.assertRaisesRegex(SystemExit, "covers a part"):
            self.copy.text()


class RunTest(unittest.TestCase):
    def run_with(self, numbers, excused=(), stamp="right"):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            mutants = [{"number": n, "name": f"m{n}", "file": "x.cl", "line": 1, "hand": False} for n in numbers]
            (folder / "mutants.json").write_text(json.dumps({"stamp": stamp, "mutants": mutants}))
            command = [sys.executable, "-c", FINDER]
            (folder / "finders.json").write_text(json.dumps([{"name": "f", "command": command, "iterations": [1, 1, 1, 0]}]))
            arguments = ["run.py", str(folder / "mutants.json"), str(folder / "finders.json")]
            said = io.StringIO()
            with mock.patch.object(sys, "argv", arguments), contextlib.redirect_stdout(said), \
                    mock.patch.object(run, "read_equivalent", lambda: {name: ("equivalent", "why") for name in excused}):
                return run.main(), said.getvalue()

    def test_found(self):
        status, said = self.run_with([1])
        self.assertEqual(status, 0)
        self.assertIn("f, iteration 7: two owners", said)

    def test_survivor(self):
        status, said = self.run_with([1, 2])
        self.assertEqual(status, 1)
        self.assertIn("SURVIVES: 2 m2", said)

    def test_unreached(self):
        status, said = self.run_with([3])
        self.assertEqual(status, 1)
        self.assertIn("reached by NO FINDER", said)

    def test_excused(self):
        self.assertEqual(self.run_with([1, 2], excused=["m2"])[0], 0)

    def test_stale_excuses(self):
        for excused in ("m1", "m9"):
            status, said = self.run_with([1], excused=[excused])
            self.assertEqual(status, 1)
            self.assertIn("STALE", said)

    def test_sample(self):
        mutants = [{"name": f"m{n}", "file": file} for n in range(50) for file in ("x.cl", "y.cl")]

        def sampled(changed):
            with mock.patch.object(run, "changed_files", lambda source: changed), contextlib.redirect_stdout(io.StringIO()):
                is_sampled = run.sampler(10, 1, ".")
            return [sum(is_sampled(one) for one in mutants if one["file"] == file) for file in ("x.cl", "y.cl")]

        self.assertEqual(sampled({"x.cl"})[0], 50)
        self.assertLess(sampled({"x.cl"})[1], 15)
        self.assertEqual(len(set(sampled(None) + sampled(set()))), 1)

    def test_no_history(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(run.changed_files(folder))

    def test_other_build(self):
        with self.assertRaisesRegex(SystemExit, "another list of mutants"):
            self.run_with([1], stamp="other")


if __name__ == "__main__":
    unittest.main()
