"""The Markdown page of bench/report: tables, and links to the pictures."""
import json
import os

TITLES = {
    "uniform": "One size: a malloc by each work-item, then a free by each",
    "mixed": "Random sizes: a malloc by each work-item, then a free by each",
    "churn": "A hundred pairs of malloc and free by each work-item, in one kernel",
    "latency": "A lone work-item's pairs",
    "scaling": "More and more work-items",
    "fill": "How much of the heap is served",
    "steady": "The steady state: time and fragmentation over many kernels",
    "sparse": "Stray lanes: in each kernel a random share of the work-items takes a block, and frees it two kernels later",
    "large": "Large blocks: time and fragmentation over many kernels",
    "access": "Blocks written and read, against a plain array",
    "workgen": "Work generation: malloc against two passes with a prefix sum",
    "adjacency": "A dynamic graph: arrays of neighbours that double, and halve, as batches of edges come and go",
    "lists": "Ten small objects for each work-item: by malloc, in an arena, and in an array list",
    "compile": "What a program costs before its first result: built and launched once, by the host's clock",
    "objects": "The object store: so many objects of 64 bytes for each work-item, created, then deleted",
    "defragment": "The object store: two classes of 32-byte objects, some deleted by chance, packed until 2.2 % of the slots are empty",
    "collect": "A collection: objects marked from one root, the rest freed",
    "compact": "A compaction of a heap of which every second object is garbage, and with few work-items",
    "init": "A heap made, and reset, by the host's clock",
    "registers": "Registers and stack of a work-item",
    "host": "The CPU's own allocators, on as many threads as the device has compute units",
}
METRICS = {
    "malloc_cold": "first malloc on a fresh heap", "malloc": "malloc", "free": "free",
    "address_range": "range of addresses", "pair": "a pair", "used": "memory in use",
    "malloc_wall": "malloc, by the host's clock", "two_passes": "two passes",
    "null": "a NULL", "kernel_time": "a kernel", "insert": "a batch of insertions", "insert_total": "all insertions",
    "grow": "the kernel of a batch that grows arrays", "grow_total": "the kernels that grow arrays, together",
    "delete": "a batch of deletions", "delete_total": "all deletions",
    "shrink": "the kernel of a batch that shrinks arrays", "shrink_total": "the kernels that shrink arrays, together",
    "used_full": "memory in use after all insertions", "used_half": "memory in use after half of the deletions",
    "build_and_launch": "build and first launch", "source": "text of the program", "ptx": "PTX",
    "two_passes_wall": "two passes and the buffer, by the host's clock",
}
FIGURES = ("suite", "heap", "metric", "unit", "median", "min", "max", "cv", "rounds", "nulls", "verified")


def number(value):
    """With three digits that count, and no exponent."""
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
    """2^20 work-items as 1 Mi."""
    for unit, size in (("Mi", 1 << 20), ("Ki", 1 << 10)):
        if isinstance(value, int) and value >= size and value % size == 0:
            return f"{value // size} {unit}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def size(value):
    """Bytes, or a range of them."""
    text = count(value)
    return f"{text}B" if text.endswith("i") else f"{text} B"


def parameters(row):
    return tuple((name, value) for name, value in row.items() if name not in FIGURES and name != "of")


def in_words(key):
    words = []
    for name, value in key:
        words.append({"work_items": f"{count(value)} work-item{'s' if value != 1 else ''}", "bytes": size(value), "state": str(value),
                      "variance": f"variance {value}", "heap_bytes": f"heap of {size(value)}",
                      "pairs": f"{count(value)} pairs", "kernel": str(value), "vertices": f"{count(value)} vertices",
                      "edges": f"{count(value)} edges a batch", "batches": f"{value} batches", "sources": str(value),
                      "program": str(value), "debug": f"KMA_DEBUG {value}"}.get(name, f"{name} {value}"))
    return ", ".join(words)


def cell(row):
    text = number(row["median"])
    if row["rounds"] > 1 and row["cv"] >= 0.2:
        text += f" ±{100 * row['cv']:.0f} %"
    if row["nulls"] and row["suite"] not in ("fill", "steady", "large"):
        text += f" ({row['nulls']:,} NULLs)"
    return text + (" **WRONG**" if row["verified"] is False else "")


def table(head, lines):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] +
                     ["| " + " | ".join(line) + " |" for line in lines]) + "\n"


def peers(runs):
    """Others' figures, where the device is the one they were measured on."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers.json"), encoding="utf-8") as file:
        known = json.load(file)
    return known if known["device"] in runs[0]["device"]["name"] else None


def peer_cell(known, suite, key, metric):
    for line in known["lines"]:
        if line["suite"] == suite and all(dict(key).get(name, value) == value for name, value in line["of"].items()):
            if dict(key).get("state", "fresh") == "fresh":
                return line.get(metric, "")
    return ""


def metric_table(suite, metric, rows, others, known):
    """Lines are parameters, columns heaps; `others` are rows of the host's allocators for the same work."""
    heaps = list(dict.fromkeys(row["heap"] for row in rows + others))
    keys = list(dict.fromkeys(parameters(row) for row in rows))
    lines, any_peer = [], False
    for key in keys:
        plain = tuple(part for part in key if part[0] != "state")
        line = [in_words(key)]
        for heap in heaps:
            found = [row for row in rows if row["heap"] == heap and parameters(row) == key]
            found += [row for row in others if row["heap"] == heap and parameters(row) == plain and
                      ("state", "aged") not in key]
            line.append(cell(found[0]) if found else "")
        peer = peer_cell(known, suite, key, metric) if known else ""
        any_peer = any_peer or bool(peer)
        lines.append(line + [peer])
    head = [""] + heaps + ["others (CUDA)"]
    if not any_peer:
        head, lines = head[:-1], [line[:-1] for line in lines]
    unit = rows[0]["unit"]
    title = METRICS.get(metric, metric.replace("_", " "))
    return f"{title}{', ' + unit if unit else ''}:\n\n" + table(head, lines) + "\n"


def suite_text(suite, results, drawn, known):
    rows = [row for row in results if row["suite"] == suite and row["metric"] != "empty_kernel"]
    text = f"## {suite}\n\n{TITLES[suite]}.\n\n"
    for name, shows in drawn.get(suite, []):
        text += f"![{shows}]({name})\n\n"
    if suite in ("steady", "large"):  # of the curves, the table has the ends
        last = {}
        for row in rows:
            if "kernel" in row:
                key = (row["heap"], tuple(part for part in parameters(row) if part[0] != "kernel"))
                last[key] = max(last.get(key, 0), row["kernel"])
        rows = [{name: value for name, value in row.items() if name != "kernel"} for row in rows
                if row.get("kernel") in (None, last.get((row["heap"], tuple(
                    part for part in parameters(row) if part[0] != "kernel"))))]
    for metric in dict.fromkeys(row["metric"] for row in rows):
        others = [row for row in results if row["suite"] == "host" and row.get("of") == suite and
                  row["metric"] == metric]
        text += metric_table(suite, metric, [row for row in rows if row["metric"] == metric], others, known)
    return text


def text(runs, results, drawn):
    first = runs[0]
    device = first["device"]
    known = peers(runs)
    lines = [["device", f"{device['name']} ({device['platform']})"], ["driver", first["driver"]],
             ["compute units", str(device["compute_units"])], ["kma", f"{first['kma']}, {device['memory_path']}, "
                                                                      f"{device['lanes_path']}"]]
    for run in runs:
        lines.append(["date, command", f"{run['date']}, `{run['command']}`, heaps of "
                                       f"{size(run['options']['heap_bytes'])}"])
    lines.append(["an empty kernel", f"{number(first['empty_kernel_ms'])} ms"])
    page = f"# Benchmarks: {device['name']}\n\nWritten by `bench/report`; [what each suite measures](../README.md).\n\n"
    page += table(["", ""], lines) + "\n"
    page += ("Medians; ± is the coefficient of variation, where it is 20 % or more. Times of kernels are by the device's "
             "clock and contain the launch. NULLs are those of all rounds of a line.")
    if known:
        page += f" The column \"others\" is {known['source']}."
    wrong = [row for row in results if row["verified"] is False]
    page += "\n\n" + (f"**{len(wrong)} figures are of wrong results.**" if wrong else
                      "Every line was verified: contents, and that no blocks overlap.") + "\n\n"
    for suite in TITLES:
        if suite != "host" and any(row["suite"] == suite and row["metric"] != "empty_kernel" for row in results):
            page += suite_text(suite, results, drawn, known)
    notes = {}  # of each suite and sentence, which heaps it is about
    for note in (note for run in runs for note in run["notes"]):
        head, _, sentence = note.partition(": ")
        suite, _, heap = head.partition(", ")
        heaps = notes.setdefault((suite, sentence), [])
        heaps += [heap] if heap and heap not in heaps else []
    if notes:
        page += "## Notes\n\n" + "".join(f"- {suite}{', ' if heaps else ''}{', '.join(heaps)}: {sentence}\n"
                                         for (suite, sentence), heaps in notes.items())
    return page.rstrip("\n") + "\n"
