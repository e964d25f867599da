"""The Markdown page of bench/report: for each suite one summary table.

All other figures stay in the files that `kma bench --json` and `--csv` write.
"""

import json
import os
import re
import textwrap

KI, MI = 1 << 10, 1 << 20
SIZES = (16, 64, 256, KI, 4 * KI)
PAIRS = ("1 malloc, 1 free", "4 mallocs, 4 frees")
LISTS = ("malloc", "arena", "arena_with_room", "grow_local", "grow_local_with_room", "grow")

# What a suite's table shows: (metrics, parameters that a row must have). A tuple allows each of its
# values. MOST allows the largest value; of work_items, the largest one of the row's size.
MOST = "most"
SUMMARY = {
    "uniform": [
        (("malloc", "free"), {"state": "fresh", "bytes": SIZES, "work_items": MOST}),
        (("malloc",), {"state": "aged", "bytes": (16, 256, 4 * KI), "work_items": MOST}),
        (("address_range",), {"state": "fresh", "bytes": (16, KI), "work_items": 128 * KI}),
    ],
    "mixed": [
        (("malloc", "free"), {"bytes": ("4..64", "4..1024"), "work_items": MOST}),
        (("malloc", "free"), {"bytes": "4..4096", "work_items": 128 * KI}),
    ],
    "churn": [
        (("pair",), {"variance": "none", "work_items": (KI, 64 * KI)}),
        (("pair",), {"variance": "high+", "work_items": 64 * KI}),
    ],
    "latency": [(("pair",), {})],
    "scaling": [],
    "fill": [
        (("served_at_first_null",), {"bytes": (16, 256, 4 * KI)}),
        (("pair",), {"load": 0.85, "heap_bytes": MOST}),
        (("null",), {"heap_bytes": MOST}),
    ],
    "steady": [
        (("kernel_time",), {"p_alloc": (0.75, 0.6)}),
        (("internal_fragmentation",), {"bytes": "64..960"}),
    ],
    "sparse": [(("kernel_time",), {"bytes": 64})],
    "large": [(("kernel_time", "external_fragmentation", "largest_when_empty", "alloc_time"), {})],
    "access": [(("write", "write_array", "read", "read_array"), {})],
    "workgen": [(("malloc", "two_passes"), {"work_items": MOST})],
    "adjacency": [(("insert_total", "delete_total", "used_full"), {"by": "malloc"})],
    "lists": [(LISTS, {"work_items": 16 * KI, "bytes": 4})],
    "compile": [(("build_and_launch", "ptx"), {"debug": 0, "program": PAIRS})],
    "objects": [(("new", "delete"), {"each": (1, 256, 1000)})],
    "defragment": [(("defragment", "copy"), {})],
    "collect": [(("collection",), {})],
    "compact": [
        (("compaction",), {"work_items": 0}),
        (("copy",), {}),
    ],
    "init": [(("create", "reset"), {})],
    "registers": [(("registers",), {"kernel": ("allocate", "release", "pairs")})],
}
METRICS = {
    "address_range": "range of addresses",
    "pair": "a pair",
    "null": "a NULL",
    "kernel_time": "a kernel",
    "served_at_first_null": "served at the first NULL",
    "alloc_time": "malloc, alone",
    "insert_total": "all insertions",
    "delete_total": "all deletions",
    "used_full": "memory after all insertions",
    "build_and_launch": "build and first launch",
    "ptx": "PTX",
}
FIGURES = (
    "suite",
    "heap",
    "metric",
    "unit",
    "median",
    "min",
    "max",
    "cv",
    "rounds",
    "nulls",
    "verified",
)
TIMES = ("ms", "us", "ns")
BY_HAND = "<!-- by hand: bench/report keeps what follows -->\n"
TOO_LARGE = re.compile(r" is left out: its [0-9]+ MiB are more than half of ")


def number(value):
    """Formats with three significant digits and no exponent."""
    if value == 0:
        return "0"
    digits = 3
    rest = abs(value)
    while rest >= 10 and digits > 0:
        rest /= 10
        digits -= 1
    while rest < 1 and digits < 9:
        rest *= 10
        digits += 1
    text = f"{value:,.{max(digits - 1, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def count(value):
    """Formats 2^20 as 1 Mi."""
    for unit, size in (("Mi", MI), ("Ki", KI)):
        if isinstance(value, int) and value >= size and value % size == 0:
            return f"{value // size} {unit}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def size_in_words(value):
    """Formats a number of bytes, or a range of them."""
    text = count(value)
    return f"{text}B" if text.endswith("i") else f"{text} B"


def parameters(row):
    return tuple(
        (name, value) for name, value in row.items() if name not in FIGURES and name != "of"
    )


def in_words(key):
    words = []
    for name, value in key:
        words.append(
            {
                "work_items": f"{count(value)} work-item{'s' if value != 1 else ''}",
                "bytes": size_in_words(value),
                "state": str(value),
                "variance": f"variance {value}",
                "heap_bytes": f"heap of {size_in_words(value)}",
                "pairs": f"{count(value)} pairs",
                "kernel": str(value),
                "vertices": f"{count(value)} vertices",
                "shape": str(value),
                "edges": f"{count(value)} edges a batch",
                "batches": f"{value} batches",
                "sources": str(value),
                "program": str(value),
                "debug": f"KMA_DEBUG {value}",
                "objects": f"{count(value)} objects",
                "deleted": f"{value} % deleted",
                "references": f"references {value}",
            }.get(name, f"{name} {value}")
        )
    return ", ".join(words)


def table(head, lines):
    return (
        "\n".join(
            ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
            + ["| " + " | ".join(line) + " |" for line in lines]
        )
        + "\n"
    )


def is_of(row, wanted, rows):
    """Whether the row has these parameters; `rows` has all rows of its metric."""

    def same(other, names):
        return all(other.get(name) == row.get(name) for name in names)

    for name, value in wanted.items():
        if value == MOST:
            names = {"bytes", "state", "load"} & row.keys() if name == "work_items" else ()
            if row.get(name, 0) != max(other.get(name, 0) for other in rows if same(other, names)):
                return False
        elif row.get(name) not in (value if isinstance(value, tuple) else (value,)):
            return False
    return True


def shown(suite, rows):
    """The rows of the suite's table, in the order of SUMMARY."""
    found = []
    for metrics, wanted in SUMMARY[suite]:
        for metric in metrics:
            own = [row for row in rows if row["metric"] == metric]
            if suite in ("steady", "large"):
                own = at_the_end(own)
            own = [row for row in own if is_of(row, wanted, own)]
            if isinstance(wanted.get("bytes"), tuple):
                own.sort(key=lambda row: wanted["bytes"].index(row["bytes"]))
            found += own
    return found


def at_the_end(rows):
    """The last points of a curve over kernels; or else the rows about the whole run."""
    if all("kernel" in row for row in rows):
        last = max((row["kernel"] for row in rows), default=0)
        rows = [row for row in rows if row["kernel"] == last]
    else:
        rows = [row for row in rows if "kernel" not in row]
    return [{name: value for name, value in row.items() if name != "kernel"} for row in rows]


def read_peers(runs):
    """Other allocators' figures, if they were measured on this device; else None."""
    with open(
        os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers.json"), encoding="utf-8"
    ) as file:
        known = json.load(file)
    return known if known["device"] in runs[0]["device"]["name"] else None


def peers_of(known, suite, metric, key):
    """The figures of this line by allocator."""
    if known is None or dict(key).get("state", "fresh") != "fresh":
        return {}
    for line in known["lines"]:
        if line["suite"] == suite and all(
            dict(key).get(name, value) == value for name, value in line["of"].items()
        ):
            each = [text.rsplit(" ", 1) for text in line.get(metric, "").split("; ") if text]
            return {
                f"*{'bump, CUDA' if name == 'bump' else name}*": figure for name, figure in each
            }
    return {}


def cell(row, best):
    text = number(row["median"])
    if best and row["median"] >= 1.05 * best:
        text += f" ×{row['median'] / best:.{1 if row['median'] < 10 * best else 0}f}"
    if row["rounds"] > 1 and row["cv"] >= 0.2:
        text += f" ±{100 * row['cv']:.0f} %"
    if row["nulls"] and row["suite"] not in ("fill", "steady", "large"):
        text += f" ({row['nulls']:,} NULLs)"
    return text + (" **WRONG**" if row["verified"] is False else "")


def suite_table(suite, rows, hosts, known):
    """One line for each metric and parameters, one column for each heap. `hosts`: their rows."""
    lines, heaps, peers = {}, [], []
    for row in rows:
        lines.setdefault((row["metric"], parameters(row), row["unit"]), {})[row["heap"]] = row
        heaps += [row["heap"]] if row["heap"] not in heaps else []
    for (metric, key, _), found in lines.items():
        plain = tuple(part for part in key if part[0] != "state")
        for row in hosts:
            if (
                row["metric"] == metric
                and parameters(row) == plain
                and ("state", "aged") not in key
            ):
                found[row["heap"]] = row
                heaps += [row["heap"]] if row["heap"] not in heaps else []
        for name in peers_of(known, suite, metric, key):
            peers += [name] if name not in peers else []
    peers.sort(key=lambda name: (name.startswith("*bump"), name))
    text = []
    for (metric, key, unit), found in lines.items():
        reusing = [
            row["median"]
            for row in found.values()
            if row["suite"] != "host" and row["heap"] != "bump"
        ]
        best = min(reusing) if unit in TIMES and len(reusing) > 1 else None
        cells = [
            (
                cell(
                    found[heap], None if heap == "bump" or found[heap]["suite"] == "host" else best
                )
                if heap in found
                else ""
            )
            for heap in heaps
        ]
        figures = peers_of(known, suite, metric, key)
        name = METRICS.get(metric, metric.replace("_", " "))
        text.append(
            [", ".join(part for part in (name, in_words(key)) if part), unit]
            + cells
            + [figures.get(name, "") for name in peers]
        )
    return table(["", "unit"] + heaps + peers, text)


def suite_text(suite, results, drawn, known):
    rows = shown(suite, [row for row in results if row["suite"] == suite])
    hosts = [row for row in results if row["suite"] == "host" and row.get("of") == suite]
    text = f"## {suite}\n\n"
    if rows:
        text += suite_table(suite, rows, hosts, known) + "\n"
    return text + "".join(f"![{shows}]({name})\n\n" for name, shows in drawn.get(suite, []))


def notes_text(runs):
    """The suites' notes; lines left out for too large blocks are only counted."""
    heaps_of, too_large = {}, {}
    for note in dict.fromkeys(note for run in runs for note in run["notes"]):
        head, _, sentence = note.partition(": ")
        suite, _, heap = head.partition(", ")
        if TOO_LARGE.search(note):
            too_large.setdefault(suite, set()).add(sentence)
            continue
        heaps = heaps_of.setdefault((suite, sentence), [])
        heaps += [heap] if heap and heap not in heaps else []
    lines = [
        f"- {', '.join([suite] + heaps)}: {sentence}"
        for (suite, sentence), heaps in heaps_of.items()
    ]
    lines += [
        f"- {suite}: left out for blocks of more than half of the heap: {len(sentences)} lines"
        for suite, sentences in too_large.items()
    ]
    filled = [textwrap.fill(line, 100, subsequent_indent="  ") for line in lines]
    return "## Notes\n\n" + "\n".join(filled) + "\n" if lines else ""


def head_text(runs, results, known):
    first = runs[0]
    device = first["device"]
    lines = [
        [
            "device",
            f"{device['name']} ({device['platform']}), {device['compute_units']} compute units",
        ],
        ["driver", first["driver"]],
        ["kma", f"{first['kma']}, {device['memory_path']}, {device['lanes_path']}"],
    ]
    for run in runs:
        measured = dict.fromkeys(row["suite"] for row in run["results"])
        lines.append(
            [
                run["date"],
                f"`{run['command']}`, heaps of {size_in_words(run['options']['heap_bytes'])}: "
                f"{', '.join(suite for suite in measured if suite in SUMMARY)}",
            ]
        )
    lines.append(["an empty kernel", f"{number(first['empty_kernel_ms'])} ms"])
    wrong = [row for row in results if row["verified"] is False]
    said = (
        "Written by `bench/report` from what `kma bench --json` wrote, which has all figures. "
        "[What each suite measures, and how to read this page](../README.md)."
    )
    said += "" if wrong else " Every line was verified: contents, and that no blocks overlap."
    said += f" Columns in italics: CUDA allocators, {known['source']}." if known else ""
    text = (
        f"# Benchmarks: {device['name']}\n\n{textwrap.fill(said, 100, break_on_hyphens=False)}\n\n"
    )
    text += table(["", ""], lines) + "\n"
    if wrong:
        text += f"**{len(wrong)} figures are of wrong results:**\n\n"
        text += (
            "".join(
                f"- {row['suite']}, {row['heap']}: {row['metric']}, {in_words(parameters(row))}\n"
                for row in wrong
            )
            + "\n"
        )
    return text


def text(runs, results, drawn):
    known = read_peers(runs)
    page = head_text(runs, results, known)
    for suite in SUMMARY:
        if any(row["suite"] == suite and row["metric"] != "empty_kernel" for row in results):
            page += suite_text(suite, results, drawn, known)
    return (page + notes_text(runs)).rstrip("\n") + "\n"


def by_hand(path):
    """The text of an earlier page from the mark BY_HAND on."""
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        _, mark, rest = file.read().partition(BY_HAND)
    return "\n" + mark + rest if mark else ""
