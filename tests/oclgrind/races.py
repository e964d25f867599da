#!/usr/bin/env python3
"""The races on payload in a log of oclgrind --data-races: races.py LOG prints them and exits with 1 if there is any.

Oclgrind knows no relaxed atomics, no fences, and no order that these make, so it reports what is meant to be shared, and
plain words that are handed on by atomics. A race is left out if both of its accesses are lines of kma that touch the
heap's own data: all but those of blocks.cl, which zeroes and copies blocks. Whatever else is in the log, or is not
understood, is printed. (The heap's own data are Relacy's part, which knows all orders.)
"""
import re
import sys

OWN = re.compile(r"^kma/(platform|lockfree|heap)/.*\.cl$")
PAYLOAD = "kma/heap/common/blocks.cl"
PLACE = re.compile(r"^\tAt line \d+ \(column \d+\) of (.*):$", re.MULTILINE)


def reports(log):
    """The log's paragraphs: each begins with a line that is not indented."""
    return [part for part in re.split(r"\n(?=[^\s])", "\n" + log) if part.strip()]


def is_meant(report):
    """Whether it is a race on the heap's own data."""
    places = PLACE.findall(report)
    return "data race at " in report.strip().split("\n")[0] and len(places) == 2 and all(
        OWN.match(place) and place != PAYLOAD for place in places)


def main():
    with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
        found = reports(file.read())
    wrong = [report for report in found if not is_meant(report)]
    for report in wrong[:20]:
        print(report.strip("\n"), "\n")
    print(f"{len(found)} reports, {len(wrong)} of them on payload")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
