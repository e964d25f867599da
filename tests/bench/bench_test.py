"""`kma bench` and bench/report: figures are complete and verified, wrong and slow heaps are found, and
the page sums up the figures. KMA_BENCH_SUITES: "all", or the quick ones."""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

ROOT = os.environ["KMA_SOURCE_DIR"]
ALL = os.environ.get("KMA_BENCH_SUITES") == "all"
SUITES = ["uniform", "mixed", "churn", "latency", "scaling", "fill", "steady", "sparse", "large", "access", "workgen",
          "adjacency", "lists", "init", "registers", "compile", "objects", "defragment", "collect", "compact", "host"]
CHOSEN = SUITES if ALL else ["mixed", "latency", "fill", "sparse", "adjacency", "registers", "host"]
COLUMNS = {"suite": str, "heap": str, "metric": str, "unit": str, "median": (int, float), "min": (int, float),
           "max": (int, float), "cv": (int, float), "rounds": int, "nulls": int}
# What these suites measure, once, is no heap: the CPU's own allocators, an object store, as it is and without its parts, and its
# defragmentation, and a collector in a heap of its own and its compaction.
ONCE = ["host", "objects", "defragment", "collect", "compact"]
PICTURES = [f"{name}.svg" for name in ("compact", "lists", "objects", "scaling", "sparse", "steady", "uniform")]
UNVERIFIED = ["empty_kernel", "address_range", "reset", "create", "registers", "stack", "source", "ptx", "copy"]


def bench(*arguments, **environment):
    """Runs kma bench; returns exit status, standard output and standard error."""
    done = subprocess.run([os.environ["KMA_TOOL"], "bench", *arguments], env={**os.environ, **environment}, text=True,
                          capture_output=True, timeout=350, check=False)
    return done.returncode, done.stdout, done.stderr


def block_of(suite, text):
    """The suite's title, table and notes in what kma bench prints."""
    found = re.search(rf"^{suite}(?:: .*)?\n(?:.+\n)+", text, re.MULTILINE)
    return found.group() if found else ""


def report(folder, *files):
    return subprocess.run([sys.executable, os.path.join(ROOT, "bench", "report"), folder, *files], text=True,
                          capture_output=True, timeout=100, check=False)


class Measured:
    """One run of the battery, which the tests look at."""
    made = None

    @classmethod
    def get(cls):
        if cls.made is None:
            cls.made = cls()
        return cls.made

    def __init__(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.json_file, csv_file = self.path("figures.json"), self.path("figures.csv")
        size = [] if ALL else ["--suite", ",".join(CHOSEN), "--heap-bytes", str(16 << 20)]
        cache = {"POCL_CACHE_DIR": self.path("cache")} if ALL else {}
        if ALL:
            os.mkdir(self.path("cache"))
        self.status, self.text, self.errors = bench("--quick", "--json", self.json_file, "--csv", csv_file, *size,
                                                    **cache)
        with open(self.json_file, encoding="utf-8") as file:
            self.figures = json.load(file)
        with open(csv_file, encoding="utf-8") as file:
            self.csv = file.read()
        self.results = self.figures["results"]

    def path(self, name):
        return os.path.join(self.scratch.name, name)


class Battery(unittest.TestCase):
    def setUp(self):
        self.run_ = Measured.get()
        self.assertEqual(self.run_.status, 0, self.run_.text + self.run_.errors)

    def test_the_head_says_what_was_measured_where(self):
        figures = self.run_.figures
        self.assertTrue(figures["passed"])
        self.assertIn(os.environ["KMA_DEVICE"].lower(),
                      (figures["device"]["platform"] + " / " + figures["device"]["name"]).lower())
        self.assertEqual(figures["driver"], figures["device"]["driver"])
        self.assertRegex(figures["date"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertTrue(figures["command"].startswith("kma bench --quick --json "), figures["command"])
        self.assertEqual(figures["options"], {"quick": True, "heap_bytes": (256 if ALL else 16) << 20})
        self.assertGreater(figures["empty_kernel_ms"], 0)

    def test_each_row_is_whole(self):
        for row in self.run_.results:
            for name, kind in COLUMNS.items():
                self.assertIsInstance(row[name], kind, row)
            self.assertLessEqual(row["min"], row["median"], row)
            self.assertLessEqual(row["median"], row["max"], row)
            self.assertGreaterEqual(row["rounds"], 1, row)
            self.assertIs(row["verified"], None if row["metric"] in UNVERIFIED else True, row)

    def test_nobody_got_null_where_there_was_room(self):
        for row in self.run_.results:
            if row["suite"] not in ("fill", "steady", "large") and row.get("state") != "aged":
                self.assertEqual(row["nulls"], 0, row)
        self.assertTrue(any(row["nulls"] > 0 for row in self.run_.results if row["suite"] == "fill"))

    def test_every_suite_measures_every_heap_and_an_empty_kernel(self):
        heaps = {row["heap"] for row in self.run_.results if row["suite"] == "latency"}
        self.assertIn("superblock", heaps)
        for suite in CHOSEN:
            rows = [row for row in self.run_.results if row["suite"] == suite]
            empty = {row["heap"] for row in rows if row["metric"] == "empty_kernel"}
            self.assertEqual(len(empty) if suite in ONCE else empty, 1 if suite in ONCE else heaps)
            measured = {row["heap"] for row in rows if row["metric"] != "empty_kernel"}
            if suite == "host":
                self.assertEqual([name.split()[0] for name in sorted(measured)], ["glibc", "mimalloc"],
                                 "install libmimalloc-dev, and configure and build again")
            elif suite == "collect":
                self.assertEqual({name.split()[0] for name in measured}, {"slab", "Boehm"}, "install libgc1")
            elif suite == "compact":
                self.assertEqual(measured, {"slab", "buffers"})
            elif suite == "defragment":
                self.assertEqual(measured, {"world"})
            elif suite == "objects":
                self.assertEqual(measured, {"world", "world, no rotation", "world, no coalescing", "world, no hints",
                                            "world, no hints, no rotation", "world, no hierarchy"})
            elif suite in ("sparse", "adjacency"):
                self.assertEqual(measured, heaps - {"bump"})
            elif suite == "large":
                self.assertEqual(measured & {"superblock", "bump", "slab"}, {"slab"} & heaps)
            elif suite != "registers" and not (suite == "steady" and "bump" in heaps - measured):
                self.assertEqual(measured, heaps, suite)

    def test_what_is_left_out_is_told(self):
        notes = "\n".join(self.run_.figures["notes"])
        self.assertIn("are more than half of", notes)
        self.assertIn("registers, superblock: this driver does not tell", notes)
        self.assertIn("sparse, bump: left out: the heap takes nothing back", notes)
        for note in self.run_.figures["notes"]:
            head, _, sentence = note.partition(": ")
            suite, _, heap = head.partition(", ")
            said = " ".join(block_of(suite, self.run_.text).split())
            if "are more than half of" in sentence:
                self.assertRegex(said, f"note: (all heaps|[^:]*{heap}[^:]*): .* left out: blocks of more than half")
            else:
                sentence = re.sub("^([a-z_]+=[^ ]+ )+", "", sentence)  # in the table parameters have other words
                self.assertRegex(said, f"note: (all heaps|[^:]*{heap}[^:]*): .*{re.escape(sentence)}")

    def test_each_suite_has_a_table_of_medians_with_ratios_to_the_best(self):
        for suite in CHOSEN:
            rows = [row for row in self.run_.results if row["suite"] == suite and row["metric"] != "empty_kernel"]
            block = block_of(suite, self.run_.text)
            self.assertTrue(block, suite)
            for row in rows:
                for word in row["heap"].split():
                    self.assertIn(word, " ".join(block.splitlines()[1:4]))  # the table's head has up to three lines
        heaps = list(dict.fromkeys(row["heap"] for row in self.run_.results if row["suite"] == "latency"))
        for suite, metric, size in ("latency", "pair", 16), ("mixed", "malloc", "4..64"), ("mixed", "free", "4..64"):
            medians = {row["heap"]: row["median"] for row in self.run_.results
                       if (row["suite"], row["metric"], row.get("bytes")) == (suite, metric, size)}
            best = min(median for heap, median in medians.items() if heap != "bump")
            # What all rows share, here the only size, stands in the title.
            cells = re.search(rf"^{metric}(?:, {size} B)?  (.*)$", block_of(suite, self.run_.text), re.MULTILINE)
            numbers = [float(text.replace(",", "")) for text in cells.group(1).split()]
            self.assertEqual(len(numbers), 2 * len(heaps), cells.group())
            for at, heap in enumerate(heaps):
                self.assertLess(abs(numbers[2 * at] / medians[heap] - 1), 0.006, cells.group())
                ratio = medians[heap] / best
                self.assertLess(abs(numbers[2 * at + 1] - ratio), 0.06 if ratio < 9 else 0.6, cells.group())
        self.assertLess(len(self.run_.text.splitlines()), 400)
        self.assertLessEqual(max(map(len, self.run_.text.splitlines())), 110)

    def test_the_table_with_commas_is_the_same(self):
        rows = list(csv.DictReader(io.StringIO(self.run_.csv)))
        self.assertEqual(len(rows), len(self.run_.results))
        for row, same in zip(rows, self.run_.results):
            for name, value in same.items():
                text = {None: "", True: "true"}.get(value) if value is None or value is True else value
                self.assertEqual(float(row[name]) if isinstance(text, (int, float)) else row[name], text, name)

    def test_large_blocks_get_all_of_a_slab_heap_once_it_is_empty(self):
        rows = [row for row in self.run_.results if row["suite"] == "large" and row["heap"] == "slab" and
                row["metric"] == "largest_when_empty"]
        self.assertEqual(len(rows), 1 if "large" in CHOSEN else 0)
        for row in rows:
            self.assertGreater(row["median"], 0.95, row)
            alone = [int(other["KiB"]) for other in self.run_.results
                     if other["suite"] == "large" and other["heap"] == "slab" and
                     other["metric"] == "alloc_time"]
            self.assertGreater(max(alone), 0.93 * row["heap_bytes"] / 1024, alone)

    def test_served_bytes_add_up(self):
        for row in self.run_.results:
            if row["metric"] in ("served", "again_served"):
                self.assertGreater(row["median"], 0.8, row)
                self.assertLessEqual(row["median"], 1, row)
            if row["metric"] == "address_range":
                self.assertGreaterEqual(row["median"], 1, row)


class ReplacedFile(unittest.TestCase):
    """Runs the battery with one of kma's files changed."""
    def bench_with(self, name, old, new, *arguments):
        with open(os.path.join(ROOT, "cl", name), encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text.count(old), 1, f"{name} has not one \"{old}\": the seeded bug must move with it")
        with tempfile.TemporaryDirectory() as scratch:
            wrong = os.path.join(scratch, "wrong.cl")
            with open(wrong, "w", encoding="utf-8") as file:
                file.write(text.replace(old, new))
            figures = os.path.join(scratch, "figures.json")
            status, told, errors = bench("--quick", "--heap-bytes", str(16 << 20), "--json", figures, "--replace",
                                         f"{name}={wrong}", *arguments)
            self.assertTrue(os.path.exists(figures), told + errors)
            with open(figures, encoding="utf-8") as file:
                return status, told, json.load(file)


class WrongHeaps(ReplacedFile):
    """They are fast, but they must not pass."""
    def refused(self, metrics, *change):
        status, text, figures = self.bench_with(*change)
        self.assertEqual(status, 1, text)
        self.assertFalse(figures["passed"])
        self.assertIn("\nFAILED: ", text)
        self.assertIn(" WRONG\n", text)
        self.assertTrue(text.endswith("; FAILED\n"), text)
        for row in figures["results"]:
            if row["metric"] != "empty_kernel":
                self.assertIs(row["verified"], row["metric"] not in metrics, row)

    def test_blocks_that_overlap(self):
        self.refused(["pair"], "kma/heap/bump/take.cl", "kma_fetch_add_u64(&heap->head, scan.total, KMA_RELAXED)",
                     "kma_load_u64(&heap->head, KMA_RELAXED)", "--heap", "bump", "--suite", "latency")

    def test_a_free_that_does_nothing(self):
        self.refused(["pair"], "kma/heap/common/free.cl", "    KMA_OF_KIND(_release)(heap, ptr);\n#endif\n}", "#endif\n}",
                     "--heap", "superblock", "--suite", "latency")

    def test_a_malloc_that_refuses_all(self):
        self.refused(["pair"], "kma/heap/common/allocate.cl", "return KMA_OF_KIND(_aligned_alloc)(heap, KMA_UNIT, bytes);",
                     "return (global void *)0;", "--heap", "bump", "--suite", "latency")

    def test_a_file_that_kma_does_not_have(self):
        status, text, errors = bench("--replace", "kma/heap/nothing.cl=" + os.devnull)
        self.assertEqual((status, text), (1, ""))
        self.assertIn("names no file of kma", errors)


class WrongEverywhere(ReplacedFile):
    def test_every_suite_that_looks_into_blocks_finds_those_that_overlap(self):
        suites = ["uniform", "mixed", "churn", "scaling", "fill", "steady", "access", "workgen", "lists"]
        status, text, figures = self.bench_with(
            "kma/heap/bump/take.cl", "kma_fetch_add_u64(&heap->head, scan.total, ", "kma_fetch_add_u64(&heap->head, "
            "(scan.total + 1) / 2, ", "--heap", "bump", "--suite", ",".join(suites))
        self.assertEqual(status, 1, text)
        self.assertEqual({row["suite"] for row in figures["results"] if row["verified"] is False}, set(suites))
        # One unit is not halved, and what needs no heap is right.
        for row in figures["results"]:
            if row.get("bytes") == 16 or row["metric"] in ("read_array", "two_passes"):
                self.assertIsNot(row["verified"], False, row)
        self.assertRegex(text, "\nFAILED: and [0-9]+ more\n")


    def failed(self, old, new, *suites):
        """The figures of wrong results that these suites have of a superblock heap with this change, and all figures."""
        status, text, figures = self.bench_with("kma/heap/superblock.cl", old, new, "--heap", "superblock", "--suite",
                                                ",".join(suites))
        self.assertEqual(status, 1, text)
        return [row for row in figures["results"] if row["verified"] is False], figures["results"]

    def test_blocks_that_are_too_short_are_found_where_blocks_come_and_go(self):
        failed, _ = self.failed("ulong room = bytes;", "ulong room = (bytes + 1) / 2;", "fill", "sparse", "adjacency")
        self.assertEqual({row["suite"] for row in failed}, {"fill", "sparse", "adjacency"})
        self.assertEqual({row["metric"] for row in failed if "load" in row}, {"pair"})
        self.assertEqual(len([row for row in failed if row["metric"] == "kernel_time"]), 12, failed)

    def test_a_null_where_there_is_room_is_a_wrong_result(self):
        failed, all_rows = self.failed("if (room > most ||", "if (room > 400 ||", "sparse", "adjacency")
        self.assertEqual({row["suite"] for row in failed}, {"sparse", "adjacency"})
        for row in all_rows:
            if row["metric"] == "kernel_time":
                self.assertIs(row["verified"], row["bytes"] == 64, row)
                self.assertEqual(row["nulls"] == 0, row["bytes"] == 64, row)


class SlowHeap(ReplacedFile):
    def test_a_line_is_stopped_and_that_is_told(self):
        status, text, figures = self.bench_with(
            "kma/heap/bump/take.cl", "    const kma_scan scan = kma_lanes_scan(group, units);\n",
            "    const kma_scan scan = kma_lanes_scan(group, units);\n"
            # Each step needs the one before: no processor does the 3 * 10^9 of a round within the two seconds.
            "    uint step = units;\n    for (uint i = 0; i < 3000000u; i++)\n        step = kma_mix32(step);\n"
            "    volatile uint last = step;\n    (void)last;\n", "--heap", "bump", "--suite", "latency")
        self.assertEqual(status, 0, text)
        pair = [row for row in figures["results"] if row["metric"] == "pair"]
        self.assertEqual([row["rounds"] for row in pair], [1])
        self.assertRegex("\n".join(figures["notes"]), "was stopped after 1 rounds: one took [0-9]+ ms")
        self.assertRegex(block_of("latency", text),
                         r"\nnote: bump: 1 item, 16 B, 1,000 pairs was stopped after 1 rounds: one took [0-9]+ ms\n")


class Report(unittest.TestCase):
    def made(self, figures, folder):
        """The page of these figures, and the files beside it."""
        path = Measured.get().path(folder + ".json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(figures, file)
        done = report(Measured.get().path(folder), path)
        self.assertEqual(done.returncode, 0, done.stderr)
        files = {}
        for name in os.listdir(Measured.get().path(folder)):
            with open(os.path.join(Measured.get().path(folder), name), encoding="utf-8") as file:
                files[name] = file.read()
        return files

    def test_the_page_has_what_was_measured_and_is_always_the_same(self):
        figures = Measured.get().figures
        files = self.made(figures, "page")
        page = files["README.md"]
        for said in figures["device"]["name"], figures["driver"], figures["date"], figures["command"]:
            self.assertIn(said, page)
        for suite in CHOSEN:
            if suite not in ("host", "registers"):  # a part of others; this driver does not tell
                self.assertIn(f"\n## {suite}\n", page)
        self.assertIn("mimalloc", page)
        flat = " ".join(page.split())
        self.assertIn("Every line was verified", flat)
        self.assertLess(len(page.splitlines()), 250)
        for note in figures["notes"]:  # each names a heap; the page merges these, and counts lines
            if "are more than half of" not in note:
                self.assertIn(note.partition(": ")[2], flat)
        self.assertIn(", bump, superblock, scatter, slab: this driver does not tell", flat)
        pictures = sorted(name for name in files if name.endswith(".svg"))
        self.assertEqual(pictures, PICTURES if ALL else ["sparse.svg"])
        for name in pictures:
            self.assertIn(f"]({name})", page)
            self.assertIn({"objects.svg": "world", "compact.svg": "compaction"}.get(name, "superblock"), files[name])
            self.assertLess(len(files[name]), 60000, name)
            xml.dom.minidom.parseString(files[name])
        self.assertEqual(files, self.made(figures, "page"))

    def test_what_is_written_by_hand_stays(self):
        figures = Measured.get().figures
        page = self.made(figures, "kept")["README.md"]
        mark = "<!-- by hand: bench/report keeps what follows -->\n"
        path = os.path.join(Measured.get().path("kept"), "README.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write("an older page\n\n" + mark + "\nMore.\n")
        self.assertEqual(self.made(figures, "kept")["README.md"], page + "\n" + mark + "\nMore.\n")

    def test_wrong_results_stand_out(self):
        figures = json.loads(json.dumps(Measured.get().figures))
        shown = [row for row in figures["results"] if row["suite"] == "latency" and row["metric"] == "pair"][0]
        shown["verified"] = False
        shown["nulls"] = 1234
        hidden = [row for row in figures["results"] if row["metric"] == "malloc_cold"][0]
        hidden["verified"] = False
        page = self.made(figures, "wrong")["README.md"]
        self.assertIn("**2 figures are of wrong results:**", page)
        self.assertIn(f"\n- latency, {shown['heap']}: pair, ", page)
        self.assertIn(f"\n- {hidden['suite']}, {hidden['heap']}: malloc_cold, ", page)
        self.assertRegex(page, r"\(1,234 NULLs\) \*\*WRONG\*\*")

    def test_an_h200_is_compared_with_others(self):
        figures = json.loads(json.dumps(Measured.get().figures))
        self.assertNotIn("CUDA", self.made(figures, "cpu")["README.md"])
        figures["device"]["name"] = "NVIDIA H200"
        page = self.made(figures, "gpu")["README.md"]
        self.assertIn("measured on one H200 with the authors' CUDA code", " ".join(page.split()))
        self.assertRegex(page, r"\n## latency\n\n[^\n]*\| \*RegEff\* \|")
        self.assertRegex(page, r"\n\| a pair, 1 work-item, 16 B, [^|]* \|[^\n]*\| 935 \|")

    def test_two_devices_make_no_page(self):
        figures = json.loads(json.dumps(Measured.get().figures))
        figures["device"]["name"] = "another"
        path = Measured.get().path("another.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(figures, file)
        done = report(Measured.get().path("none"), Measured.get().json_file, path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is of another, not of", done.stderr)


if __name__ == "__main__":
    unittest.main()
