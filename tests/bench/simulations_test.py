"""bench/simulations on the smallest simulations: figures, sizes, tables and pictures; gif.py.
KMA_SAMPLES_DIR: the programs' folder."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

ROOT = os.environ["KMA_SOURCE_DIR"]
BIN = os.environ["KMA_SAMPLES_DIR"]


def python(script, *arguments):
    return subprocess.run([sys.executable, "-B", os.path.join(ROOT, script), *arguments], text=True, capture_output=True,
                          timeout=200, check=False)


class Simulations(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name
        self.file = os.path.join(self.scratch, "figures.json")

    def simulations(self, *arguments):
        done = python("bench/simulations", *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with open(self.file, encoding="utf-8") as file:
            return json.load(file)

    def test_times_and_sizes_and_their_tables(self):
        times = self.simulations("run", BIN, self.file, "nbody", "--small", "--rounds", "1")
        self.assertEqual([row["version"] for row in times], ["objects", "arrays", "pointers"])
        for row in times:
            self.assertEqual((row["kind"], row["program"], row["steps"], row["numbers"]), ("time", "nbody", 10, {"bodies": 2000}))
            self.assertGreater(row["kernels_ms"], 0)
        self.assertGreater(times[0]["enumeration_ms"], 0)
        again = self.simulations("run", BIN, self.file, "nbody", "--small", "--rounds", "1")
        self.assertEqual(again, times)  # what is there is not measured anew
        sizes = self.simulations("largest", BIN, self.file, "400000", "nbody/arrays", "nbody/objects")[len(times):]
        by_hand = next(row["size"] for row in sizes if row["version"] == "arrays")
        self.assertLessEqual(by_hand * 28, 400000)  # seven floats
        self.assertGreater(by_hand * 28, 380000)
        for row in sizes:
            self.assertGreater(row["size"], by_hand / 4, row)  # beside the objects there are 64 KiB, and the log
        printed = python("bench/simulations", "draw", self.scratch, self.file).stdout
        for said in times[0]["device"], "| nbody | objects |", f"--bodies {by_hand}":
            self.assertIn(said, printed)
        for picture in "times.svg", "largest.svg":
            path = os.path.join(self.scratch, picture)
            self.assertLess(os.path.getsize(path), 60000, picture)
            xml.dom.minidom.parse(path)

    def test_what_cannot_be_run_is_told(self):
        done = python("bench/simulations", "run", self.scratch, self.file, "nbody")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("nbody", done.stderr)
        self.assertIn("usage:", python("bench/simulations").stderr)
        self.assertIn("there is nothing in", python("bench/simulations", "draw", self.scratch, self.file).stderr)

    def test_pictures_become_one_that_moves(self):
        frames, moving = os.path.join(self.scratch, "frames"), os.path.join(self.scratch, "life.gif")
        done = subprocess.run([os.path.join(BIN, "wator"), "--width", "8", "--height", "8", "--steps", "2", "--no-verify", "--frames", frames],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(python("samples/simulation/gif.py", frames, moving, "2", "100").returncode, 0)
        with open(moving, "rb") as file:
            self.assertEqual(file.read(10), b"GIF89a" + (16).to_bytes(2, "little") * 2)
        self.assertIn("has no step-*.png", python("samples/simulation/gif.py", self.scratch, moving).stderr)


unittest.main()
