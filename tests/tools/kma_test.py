"""Runs the tool `kma` as its users do. The environment names it (KMA_TOOL), a clang (KMA_CLANG), the device (KMA_DEVICE),
and a driver that answers with errors (KMA_BROKEN_DRIVER)."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

CASES = ["free writes nothing into the block, or poison", "what was freed is served again, all of it and no more"]
HEAPS = ["superblock", "bump", "scatter", "slab"]


def kma(*arguments, **environment):
    """Runs kma with these arguments; returns exit status, standard output and standard error."""
    done = subprocess.run([os.environ["KMA_TOOL"], *arguments], env={**os.environ, **environment}, text=True,
                          capture_output=True, timeout=200, check=False)
    return done.returncode, done.stdout, done.stderr


def compiles(path, *options):
    """Whether clang takes an OpenCL C file without a warning; what it says otherwise."""
    done = subprocess.run([os.environ["KMA_CLANG"], "-x", "cl", "--target=x86_64-linux-gnu", "-fsyntax-only", "-Wall",
                           "-Wextra", "-Wno-unused-function", "-Werror", *options, path],
                          text=True, capture_output=True, timeout=60, check=False)
    return "" if done.returncode == 0 else done.stderr


class Devices(unittest.TestCase):
    def test_text_and_json_tell_of_the_selected_device(self):
        status, text, _ = kma("devices")
        self.assertEqual(status, 0)
        self.assertIn(" (selected)\n", text)
        status, text, _ = kma("devices", "--json")
        self.assertEqual(status, 0)
        selected = [one for one in json.loads(text) if one["selected"]]
        self.assertEqual(len(selected), 1)
        device = selected[0]
        self.assertIn(os.environ["KMA_DEVICE"].lower(), (device["platform"] + " / " + device["name"]).lower())
        self.assertTrue(device["usable"])
        self.assertEqual(device["obstacle"], "")
        self.assertIn("1.2", device["opencl_c"])
        self.assertGreaterEqual(device["max_buffer_bytes"], 1 << 27)
        self.assertIn(device["memory_path"], ["OpenCL C 1.2: volatile words and fences", "C11 atomics at device scope",
                                              "PTX with orders at gpu scope"])
        self.assertIn(device["lanes"], range(1, 65))

    def test_the_path_follows_the_environment(self):
        device = [one for one in json.loads(kma("devices", "--json", KMA_CL_STD="CL1.2")[1]) if one["selected"]][0]
        self.assertEqual(device["memory_path"], "OpenCL C 1.2: volatile words and fences")

    def test_no_device_at_all(self):
        with tempfile.TemporaryDirectory() as empty:
            status, text, errors = kma("devices", OCL_ICD_VENDORS=empty, OCL_ICD_FILENAMES="")
        self.assertEqual((status, text), (1, ""))
        self.assertIn("no OpenCL device found: install", errors)

    def test_broken_drivers_are_left_out(self):
        with tempfile.TemporaryDirectory() as drivers:
            for one in pathlib.Path(os.environ.get("OCL_ICD_VENDORS", "/etc/OpenCL/vendors")).glob("*.icd"):
                shutil.copy(one, drivers)
            pathlib.Path(drivers, "broken.icd").write_text(os.environ["KMA_BROKEN_DRIVER"])
            status, text, errors = kma("devices", OCL_ICD_VENDORS=drivers, KMA_BROKEN_DEVICES="1")
        self.assertEqual(status, 0, errors)
        self.assertIn(" (selected)\n", text)
        self.assertRegex(text, "kma cannot run here +its driver answers clCreateContext with error -5\n")
        self.assertCountEqual(errors.splitlines(),
                              ["kma: left out: Broken platform: its driver answers clGetDeviceIDs with error -6",
                               "kma: left out: Broken devices: its driver answers clGetDeviceInfo with error -2"])

    def test_a_name_that_no_device_has(self):
        status, text, errors = kma("--device", "no such", "check")
        self.assertEqual((status, text), (1, ""))
        self.assertIn('no OpenCL device matches "no such"', errors)
        status, text, _ = kma("devices", "--device", "no such")  # the list helps to mend the name
        self.assertEqual(status, 0)
        self.assertNotIn("(selected)", text)


class Selftest(unittest.TestCase):
    def test_text_and_json(self):
        status, text, _ = kma("selftest")
        self.assertEqual(status, 0, text)
        self.assertRegex(text, "\n32-bit atomics +passed ")
        self.assertIn("\nkma works here as far as these checks can tell", text)
        status, text, _ = kma("selftest", "--json", "--build-options=-DKMA_HAS_ATOMIC64=0")
        self.assertEqual(status, 0, text)
        report = json.loads(text)
        self.assertTrue(report["passed"])
        verdicts = {one["name"]: one["verdict"] for one in report["checks"]}
        self.assertEqual(verdicts["32-bit atomics"], "passed")
        self.assertEqual(verdicts["64-bit atomics"], "not applicable")


class Check(unittest.TestCase):
    def test_a_line_for_each_case_and_the_table(self):
        status, text, _ = kma("check", "--scale", "0.05", *CASES)
        self.assertEqual(status, 0, text)
        head, _, table = text.partition("\ncase ")
        for case in CASES:
            self.assertRegex(head, f"\n{case} +ok +[0-9.]+ s\n")
            self.assertRegex(table, f"\n{case} +(ok|exempt) +ok +ok +ok +[0-9]+ +[0-9.]+\n")
        self.assertLess(head.index("(selected)"), head.index(CASES[0]))
        self.assertRegex(table, "\n2 cases, 0 failed: passed\n$")

    def test_the_line_comes_when_the_case_ends(self):
        with subprocess.Popen([os.environ["KMA_TOOL"], "check", "--scale", "0.05", "what *", "a *"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
            for line in run.stdout:
                if re.search(r" ok +[0-9.]+ s\n$", line):
                    break
            run.kill()  # there are a dozen cases more, of half a minute
            self.assertNotIn(" failed: ", run.stdout.read())

    def test_json(self):
        status, text, lines = kma("check", "--json", "--scale", "0.05", CASES[1])
        self.assertEqual(status, 0)
        self.assertRegex(lines, f"\n{CASES[1]} +ok +[0-9.]+ s\n")
        results = json.loads(text)
        self.assertTrue(results["passed"])
        self.assertEqual([one["name"] for one in results["cases"]], [CASES[1]])
        self.assertEqual(results["cases"][0]["heaps"], {"bump": "exempt", "superblock": "ok", "scatter": "ok", "slab": "ok"})
        self.assertGreater(results["cases"][0]["checks"], 0)
        self.assertTrue(results["device"]["selected"])

    def test_failures_are_told(self):
        status, text, _ = kma("check", CASES[0], KMA_CL_STD="CL9.9")  # nothing compiles
        self.assertEqual(status, 1)
        self.assertRegex(text, f"\n{CASES[0]} +FAILED +[0-9.]+ s\n")
        self.assertRegex(text, f"\n{CASES[0]} +FAILED +FAILED ")
        self.assertIn(f"\nFAILED: {CASES[0]}: ", text)
        self.assertRegex(text, "\n1 cases, 1 failed: FAILED\n$")
        status, text, _ = kma("check", "--json", CASES[0], KMA_CL_STD="CL9.9")
        self.assertEqual(status, 1)
        self.assertFalse(json.loads(text)["passed"])

    def test_a_case_that_is_not_there(self):
        status, text, errors = kma("check", "no such case")
        self.assertEqual((status, text), (1, ""))
        self.assertIn('no case of the conformance suite is named "no such case"', errors)


class Soak(unittest.TestCase):
    def test_every_heap_as_text(self):
        status, text, _ = kma("soak", "--pairs", "20000", "--work-items", "1000")
        self.assertEqual(status, 0, text)
        for heap in HEAPS:
            self.assertRegex(text, f"\n{heap}, .* [0-9]+ +[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+ +0\n")
        self.assertRegex(text, "\npassed\n$")

    def test_json_of_one_heap(self):
        status, text, _ = kma("soak", "--json", "--pairs", "20000", "--work-items", "100", "--heap", "superblock")
        self.assertEqual(status, 0, text)
        report = json.loads(text)
        self.assertTrue(report["passed"])
        self.assertEqual(report["work_items"], 128)  # whole work-groups
        self.assertEqual(len(report["heaps"]), 1)
        self.assertGreaterEqual(report["heaps"][0]["pairs"], 20000)
        self.assertEqual((report["heaps"][0]["wrong"], report["heaps"][0]["findings"]), (0, []))

    def test_a_heap_that_is_not_there(self):
        status, text, errors = kma("soak", "--heap", "superblock,none")
        self.assertNotEqual(status, 0)
        self.assertIn("none not in {", text + errors)


class Files(unittest.TestCase):
    def test_the_folder_of_cl_dir_suffices_to_compile(self):
        status, folder, _ = kma("cl-dir")
        self.assertEqual(status, 0)
        with tempfile.TemporaryDirectory() as scratch:
            path = os.path.join(scratch, "a.cl")
            with open(path, "w", encoding="utf-8") as file:
                file.write('#include "kma/kma.cl"\nkernel void a(global kma_heap *heap) { kma_free(heap, 0); }\n')
            self.assertEqual(compiles(path, "-cl-std=CL1.2", "-I", folder.rstrip("\n")), "")

    def test_what_emit_writes_compiles_alone(self):
        with tempfile.TemporaryDirectory() as scratch:
            for heap in HEAPS:
                path = os.path.join(scratch, heap + ".cl")
                self.assertEqual(kma("emit", "--heap", heap, "-o", path), (0, "", ""))
                with open(path, encoding="utf-8") as file:
                    self.assertEqual(file.read(), kma("emit", "--heap", heap)[1])
                for options in ["-cl-std=CL1.2"], ["-cl-std=CL3.0"], ["-cl-std=CL1.2", "-DKMA_DEBUG=1"]:
                    self.assertEqual(compiles(path, *options), "")

    def test_a_file_that_cannot_be_written(self):
        status, _, errors = kma("emit", "-o", "/no/such/folder/kma.cl")
        self.assertEqual(status, 1)
        self.assertIn("cannot write /no/such/folder/kma.cl", errors)


class Usage(unittest.TestCase):
    def test_wrong_usage_is_refused_and_names_what_there_is(self):
        for arguments, says in (([], "A subcommand is required"), (["emit", "--heap", "none"], "superblock,bump"),
                                (["check", "--scale", "-1"], "--scale"), (["devices", "--nonsense"], "--nonsense")):
            status, text, errors = kma(*arguments)
            self.assertNotEqual(status, 0)
            self.assertIn(says, text + errors)

    def test_help_and_version(self):
        status, text, _ = kma("--help")
        self.assertEqual(status, 0)
        for command in "devices", "selftest", "check", "soak", "bench", "cl-dir", "emit":
            self.assertIn("\n  " + command, text)
        self.assertRegex(kma("--version")[1], r"^kma [0-9]+\.[0-9]+\.[0-9]+\n$")


if __name__ == "__main__":
    unittest.main()
