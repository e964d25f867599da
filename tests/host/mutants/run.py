"""Wakes one mutant at a time and looks for a test that fails: python3 run.py MUTANTS_JSON FINDERS_JSON [options]

Every mutant must be found by one of the finders, or stand in equivalent.toml with a reason. An entry there that no
mutant has, or whose mutant is found after all, fails the run too."""
import argparse
import concurrent.futures
import itertools
import json
import pathlib
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import tomllib
import zlib

HERE = pathlib.Path(__file__).parent
LEVELS = 3  # of thoroughness, as each finder's numbers of iterations
EXCUSED_PART = 25  # of these schedules, so small a part tries those in equivalent.toml: enough to notice wrong excuses


class Finder:
    def __init__(self, entry, stamp):
        self.stamp = stamp
        self.name = entry["name"]
        self.command = entry["command"]
        self.to_reach, *self.iterations = entry["iterations"]
        self.exploring = threading.Lock()
        self.reached = None

    def run(self, *options, timeout=600):
        return subprocess.run([*self.command, *options], capture_output=True, text=True, timeout=timeout)

    def reaches(self, mutant):
        """Whether it comes to the mutant. The first question runs it with no mutant awake: then it must find nothing."""
        with self.exploring:
            if self.reached is None:
                self.reached = self.explore()
        return mutant["number"] in self.reached

    def explore(self):
        done = self.run("--reached", *(["--iterations", str(self.to_reach)] if self.to_reach else []))
        if done.returncode != 0:
            raise SystemExit(f"{self.name} finds a defect though no mutant is awake:\n{done.stdout}{done.stderr}")
        its_stamp, numbers = re.search("mutants (.*) reached:(.*)", done.stdout).groups()
        if its_stamp != self.stamp:
            raise SystemExit(f"{self.name} was built for another list of mutants: build {self.command[0]}")
        return {int(number) for number in numbers.split()}

    def finds(self, mutant, iterations):
        """What it says of the mutant, or None."""
        done = self.run("--mutant", str(mutant["number"]), "--iterations", str(iterations), "--expect-failure")
        if done.returncode == 0:
            return first_line(done.stdout)
        if done.returncode == 1 and "no defect" in done.stdout:
            return None
        if done.returncode == -signal.SIGSEGV:  # where the scenario's own handler has no stack left
            return ("crash", 0)
        raise SystemExit(f"{self.name} on mutant {mutant['number']}, {mutant['name']}: exit status {done.returncode}\n"
                         f"{done.stdout}{done.stderr}")


def first_line(text):
    """What was found, in the scenario's words if it has some, and in which iteration."""
    lines = text.splitlines()
    iteration = next((int(found.group(1)) for line in lines if (found := re.match(r"iteration (\d+)", line))), 0)
    said = re.sub(r"USER ASSERT FAILED \((.*)\)$", r"\1", lines[0].removeprefix("defect: "))
    return said.split(" (")[0].lower(), iteration


class Search:
    def __init__(self, finders, before):
        self.finders = finders
        self.before = before  # by name: the finder of the last run, and its iteration

    def find(self, mutant, levels, part=1):
        """Sets mutant["found"]: (finder, what it said, iteration), or None. `part` of the schedules of each level."""
        start = time.monotonic()
        mutant["found"] = self.find_as_before(mutant)
        able = [] if mutant["found"] else [finder for finder in self.finders if finder.reaches(mutant)]
        mutant["reached"] = [finder.name for finder in able]
        for level, finder in itertools.product(range(levels), able):
            if mutant["found"]:
                break
            schedules = -(-finder.iterations[level] // part)
            if schedules and (found := finder.finds(mutant, schedules)):
                mutant["found"] = (finder.name, *found)
        mutant["seconds"] = time.monotonic() - start
        return mutant

    def find_as_before(self, mutant):
        """The same again if the schedules are repeatable, as Relacy's are; on threads with a little luck."""
        name, iteration = self.before.get(mutant["name"], ("", 0))[:2]
        for finder in self.finders:
            if finder.name == name and finder.reaches(mutant) and (found := finder.finds(mutant, iteration + 20)):
                return (name, *found)
        return None


def judge(mutants, equivalent, names):
    """Prints what is wrong with `mutants`, or with the excuses for any of `names`; returns how much that is."""
    problems = 0
    for mutant in mutants:
        if mutant["name"] in equivalent:
            if mutant["found"]:
                problems += 1
                print(f"STALE: equivalent.toml excuses a mutant that {mutant['found'][0]} finds: {mutant['name']}")
        elif not mutant["found"]:
            problems += 1
            reached = ", ".join(mutant["reached"]) or "NO FINDER"
            print(f"SURVIVES: {mutant['number']} {mutant['name']} ({mutant['file']}:{mutant['line']})\n"
                  f"  reached by {reached}; {mutant['seconds']:.1f} s")
    for name in sorted(set(equivalent) - names):
        problems += 1
        print(f"STALE: equivalent.toml excuses a mutant that there is not: {name}")
    return problems


def read_equivalent():
    entries = tomllib.loads((HERE / "equivalent.toml").read_text())
    return {name: (kind, entry["why"]) for kind in entries for entry in entries[kind] for name in entry["mutants"]}


def changed_files(source):
    """The device files of git's checkout `source` that differ from origin's main branch, else from the tenth commit before
    this one. None where git cannot tell: no checkout, or one without history."""
    def git(*arguments):
        try:
            done = subprocess.run(["git", "-C", source, *arguments], capture_output=True, text=True)
        except FileNotFoundError:
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    head = git("rev-parse", "HEAD")
    bases = (git("merge-base", "HEAD", "origin/HEAD"), git("rev-parse", "--verify", "--quiet", "HEAD~10"))
    base = next((base for base in bases if base and base != head), None)
    names = git("diff", "--name-only", base) if base else None
    if names is None:
        return None
    return {re.sub("^(cl|samples/graph)/", "", name) for name in names.splitlines() if name.endswith(".cl")}


def sampler(every, every_changed, source):
    """Whether a mutant is in the sample. It goes by names, which makes it the same one each time."""
    changed = changed_files(source) if every_changed else None
    if every_changed:
        print("no history: no file counts as changed" if changed is None else f"changed: {', '.join(sorted(changed)) or 'none'}")

    def is_sampled(mutant):
        one_of = every_changed if changed and mutant["file"] in changed else every
        return zlib.crc32(mutant["name"].encode()) % one_of == 0

    return is_sampled


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mutants", type=pathlib.Path)
    parser.add_argument("finders", type=pathlib.Path)
    parser.add_argument("--only", choices=["hand", "generated"])
    parser.add_argument("--match", default="", help="only mutants whose name contains this")
    parser.add_argument("--every", type=int, default=1, help="only one mutant of so many, chosen by their names")
    parser.add_argument("--every-changed", type=int, help="the same for files that git says were changed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--levels", type=int, default=LEVELS, help="how thoroughly to search, 1 to 3")
    parser.add_argument("--excused-levels", type=int, default=1, help="the same for those in equivalent.toml")
    parser.add_argument("--found", type=pathlib.Path,
                        help="JSON: by mutant its finder, iteration and message; read first, written at the end")
    return parser.parse_args()


def main():
    options = arguments()
    listed = json.loads(options.mutants.read_text())
    mutants = listed["mutants"]
    equivalent = read_equivalent()
    finders = [Finder(entry, listed["stamp"]) for entry in json.loads(options.finders.read_text())]
    before = json.loads(options.found.read_text()) if options.found and options.found.exists() else {}
    is_sampled = sampler(options.every, options.every_changed, HERE)
    chosen = [mutant for mutant in mutants if options.match in mutant["name"] and is_sampled(mutant) and
              options.only in (None, "hand" if mutant["hand"] else "generated")]
    start = time.monotonic()
    print(f"{len(chosen)} mutants of {len(mutants)}, {len(finders)} finders")
    search = Search(finders, before)

    def find(mutant):
        if mutant["name"] in equivalent:
            return search.find(mutant, options.excused_levels, EXCUSED_PART)
        return search.find(mutant, options.levels)

    found = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(find, mutant) for mutant in chosen]):
            mutant = done.result()
            if mutant["found"]:
                finder, said, iteration = mutant["found"]
                found[mutant["name"]] = (finder, iteration, said)
                told = f"{finder}, iteration {iteration}: {said}"
            elif mutant["name"] not in equivalent:
                told = "NOT FOUND"
            else:
                continue
            print(f"{mutant['seconds']:6.1f} s  {mutant['name']}\n          {told}", flush=True)
    names = {mutant["name"] for mutant in mutants}
    problems = judge(chosen, equivalent, names)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{len(found)} found, {len(chosen) - len(found)} not, {problems} problems; {time.monotonic() - start:.0f} s, of a "
          f"processor {used.ru_utime + used.ru_stime:.0f} s")
    if options.found:
        rows = {name: row for name, row in {**before, **found}.items() if name in names}
        options.found.write_text(json.dumps(rows, indent=0, sort_keys=True))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
