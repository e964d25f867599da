"""The pictures of bench/report: curves of suites with too many lines for a table."""

import os
import re

import matplotlib

from page import count as words

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib import ticker  # noqa: E402

# Text is kept as text, and ids are not random: the same input gives the same bytes.
plt.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "kma",
        "font.size": 9,
        "font.sans-serif": ["DejaVu Sans"],
        "axes.grid": True,
        "grid.alpha": 0.3,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
    }
)
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
MARKERS = "osD^vP*"
ALL_NAMES = []  # heaps, then other allocators: one colour for a name in all pictures


def names_of(rows):
    return sorted({row["heap"] for row in rows}, key=ALL_NAMES.index)


def ordered(values):
    return sorted(set(values))


def style(name):
    at = ALL_NAMES.index(name)
    return {
        "color": COLOURS[at % len(COLOURS)],
        "marker": MARKERS[at % len(MARKERS)],
        "markersize": 3.5,
        "linewidth": 1.2,
    }


def panels(rows, columns, width=3.2, height=2.6):
    figure, axes = plt.subplots(
        rows, columns, figsize=(width * columns + 0.4, height * rows + 0.5), squeeze=False
    )
    return figure, axes


def slim(text):
    """Shortens an SVG text: tenths of a point, no metadata, no indentation."""

    def rounded(attribute):
        return re.sub(
            r"-?\d+\.\d{2,}",
            lambda found: f"{float(found[0]):.1f}".removesuffix(".0"),
            attribute[0],
        )

    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r' (d|x|y|transform|width|height)="[^"]*"', rounded, text)
    return re.sub(r"\n\s*", "\n", text)


def save(figure, path):
    figure.savefig(path, format="svg", metadata={"Date": None})
    plt.close(figure)
    with open(path, encoding="utf-8") as file:
        text = slim(file.read())
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def finish(figure, axes, path):
    """Puts one legend below all panels, and writes the file."""
    handles = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    width, height = figure.get_size_inches()
    columns = max(1, min(len(handles), int(12 * width / (8 + max(map(len, handles))))))
    lines = -(-len(handles) // columns)
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncol=columns)
    figure.tight_layout(rect=(0, (0.25 + 0.2 * lines) / height, 1, 1))
    save(figure, path)


def powers(axis, values):
    """Makes the axis of sizes or counts logarithmic, with about eight labels."""
    axis.set_xscale("log", base=2)
    apart = (values[-1] / values[0]) ** 0.125
    shown = values[:1]
    for value in values:
        if value >= apart * shown[-1] and value != shown[-1]:
            shown.append(value)
    axis.set_xticks(shown)
    axis.set_xticklabels(
        [
            (
                f"{value >> 20}M"
                if value >= 1 << 20
                else f"{value >> 10}K" if value >= 1 << 10 and value % 1024 == 0 else str(value)
            )
            for value in shown
        ]
    )
    axis.minorticks_off()


def logarithmic(axis):
    """Makes the vertical axis of times logarithmic, with enough labels for a short one."""
    axis.set_yscale("log")
    low, high = axis.get_ylim()
    axis.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if high < 300 * low else (1,)))
    axis.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_locator(ticker.NullLocator())


def curves(axis, rows, names, x, most=32):
    """Draws one line for each heap, of at most `most` points."""
    for name in names:
        points = sorted((row[x], row["median"]) for row in rows if row["heap"] == name)
        step = -(-len(points) // most)
        if points:
            axis.plot(*zip(*points[::step]), label=name, **style(name))


def uniform(results, path):
    """Times by size, for the number of work-items with the most sizes."""
    rows = [
        row
        for row in results
        if row["suite"] == "uniform" and row.get("state") and row["metric"] in ("malloc", "free")
    ]
    if not rows:
        return None
    sizes_of = {
        n: len({row["bytes"] for row in rows if row["work_items"] == n})
        for n in ordered(row["work_items"] for row in rows)
    }
    n = max(sizes_of, key=lambda n: (sizes_of[n], n))
    rows = [row for row in rows if row["work_items"] == n]
    states = [state for state in ("fresh", "aged") if any(row["state"] == state for row in rows)]
    names = names_of(rows)
    figure, axes = panels(1, 2 * len(states), 2.6)
    panel = iter(axes[0])
    for metric in ("malloc", "free"):
        for state in states:
            axis = next(panel)
            here = [row for row in rows if row["metric"] == metric and row["state"] == state]
            curves(axis, here, names, "bytes")
            logarithmic(axis)
            powers(axis, ordered(row["bytes"] for row in here))
            axis.set_title(f"{metric}, {state} heap")
            axis.set_xlabel("bytes")
            axis.set_ylabel("ms")
    finish(figure, axes, path)
    return f"time of malloc and free by size, {words(n)} work-items"


def scaling(results, path):
    rows = [row for row in results if row["suite"] == "scaling" and "bytes" in row]
    if not rows:
        return None
    names, sizes = names_of(rows), ordered(row["bytes"] for row in rows)
    figure, axes = panels(1, len(sizes), 4.2)
    for axis, size in zip(axes[0], sizes):
        here = [row for row in rows if row["bytes"] == size and row["metric"] == "malloc"]
        curves(axis, here, names, "work_items")
        powers(axis, ordered(row["work_items"] for row in here))
        logarithmic(axis)
        axis.set_title(f"malloc of {size} B")
        axis.set_xlabel("work-items")
        axis.set_ylabel("ms")
    finish(figure, axes, path)
    return "time of malloc by number of work-items"


def steady(results, path):
    """Fragmentation for the load with the widest range of sizes, and of a heap that fills up."""
    rows = [row for row in results if row["suite"] == "steady" and "kernel" in row]
    mixed = [row for row in rows if row["bytes"] == "64..960"]
    up = [row for row in rows if row["p_free"] == 0]
    names = names_of(rows)
    drawn = [
        (part, metric, title)
        for part, metric, title in (
            (mixed, "internal_fragmentation", "64..960 B: internal"),
            (mixed, "external_fragmentation", "64..960 B: external"),
            (up, "used", "filling up: in use"),
            (up, "internal_fragmentation", "filling up: internal"),
        )
        if any(row["metric"] == metric for row in part)
    ]
    if not drawn:
        return None
    figure, axes = panels(1, len(drawn), 2.6)
    for axis, (part, metric, title) in zip(axes[0], drawn):
        here = [row for row in part if row["metric"] == metric]
        curves(axis, here, names, "kernel", most=20)
        axis.set_ylim(-0.02, 1.02)
        axis.set_title(title)
        axis.set_xlabel("kernels")
    finish(figure, axes, path)
    return "fragmentation over the kernels, and a heap that fills up"


def sparse(results, path):
    rows = [row for row in results if row["suite"] == "sparse" and "share" in row]
    if not rows:
        return None
    names, kinds = names_of(rows), list(dict.fromkeys((row["bytes"], row["state"]) for row in rows))
    figure, axes = panels(1, len(kinds), 2.6)
    for axis, (size, state) in zip(axes[0], kinds):
        here = [row for row in rows if row["state"] == state and row["bytes"] == size]
        shares = list(dict.fromkeys(row["share"] for row in here))
        for name in names:
            figures = {row["share"]: row["median"] for row in here if row["heap"] == name}
            at = [share for share in shares if share in figures]
            axis.plot(
                [shares.index(share) for share in at],
                [figures[share] for share in at],
                label=name,
                **style(name),
            )
        axis.set_xticks(range(len(shares)), shares)
        logarithmic(axis)
        axis.set_title(f"{size} B, {state} heap")
        axis.set_xlabel("lanes that take a block")
        axis.set_ylabel("ms a kernel")
    finish(figure, axes, path)
    return "time of a kernel by the share of lanes that take a block"


def lists(results, path):
    ways = ("malloc", "arena", "grow_local", "grow_local_with_room")
    rows = [
        row
        for row in results
        if row["suite"] == "lists" and row.get("bytes") == 4 and row["metric"] in ways
    ]
    if not rows:
        return None
    names = names_of(rows)
    figure, axes = panels(1, len(ways), 2.6)
    for axis, way in zip(axes[0], ways):
        here = [row for row in rows if row["metric"] == way]
        curves(axis, here, names, "work_items")
        logarithmic(axis)
        powers(axis, ordered(row["work_items"] for row in here))
        axis.set_title(way.replace("_", " "))
        axis.set_xlabel("work-items")
        axis.set_ylabel("ms")
    low, high = min(axis.get_ylim()[0] for axis in axes[0]), max(
        axis.get_ylim()[1] for axis in axes[0]
    )
    for axis in axes[0]:
        axis.set_ylim(low, high)  # one scale for all ways
    finish(figure, axes, path)
    return "time to make ten objects of 4 bytes for each work-item (thesis, figures 6.3 to 6.5)"


def objects(results, path):
    rows = [
        dict(row, median=row["median"] * 1e6 / (row["work_items"] * row["each"]))
        for row in results
        if row["suite"] == "objects" and "each" in row
    ]
    if not rows:
        return None
    figure, axes = panels(1, 2, 3.2)
    for axis, metric in zip(axes[0], ("new", "delete")):
        here = [row for row in rows if row["metric"] == metric]
        curves(axis, here, names_of(rows), "each")
        logarithmic(axis)
        powers(axis, ordered(row["each"] for row in here))
        axis.set_title(metric)
        axis.set_xlabel("objects for each work-item")
        axis.set_ylabel("ns an object")
    finish(figure, axes, path)
    return (
        "time of an object of 64 bytes, by the number of objects for each work-item "
        "(DynaSOAr, figures 12(d) and 13(a))"
    )


def compact(results, path):
    """The speed-up of each step relative to one work-item."""
    rows = [
        row
        for row in results
        if row["suite"] == "compact" and row.get("work_items", 0) > 0 and "references" in row
    ]
    steps = list(dict.fromkeys(row["metric"] for row in rows))
    alone = {row["metric"]: row["median"] for row in rows if row["work_items"] == 1}
    if not alone:
        return None
    figure, axes = panels(1, 1, 5.2, 3.2)
    axis = axes[0][0]
    for at, step in enumerate(steps):
        points = sorted(
            (row["work_items"], alone[step] / row["median"])
            for row in rows
            if row["metric"] == step
        )
        axis.plot(
            *zip(*points),
            label=step,
            color=COLOURS[at % len(COLOURS)],
            marker=MARKERS[at % len(MARKERS)],
            markersize=3.5,
            linewidth=1.2,
        )
    logarithmic(axis)
    powers(axis, ordered(row["work_items"] for row in rows))
    axis.set_xlabel("work-items")
    axis.set_ylabel("times as fast as one work-item")
    finish(figure, axes, path)
    return "speed-up of a compaction and its steps over one work-item"


DRAW = {
    "uniform": uniform,
    "scaling": scaling,
    "steady": steady,
    "sparse": sparse,
    "lists": lists,
    "objects": objects,
    "compact": compact,
}


def draw_all(results, folder):
    """Draws SUITE.svg for each suite with curves. Returns each suite's files and titles."""
    ALL_NAMES[:] = dict.fromkeys(
        [row["heap"] for row in results if row["suite"] != "host"]
        + [row["heap"] for row in results]
    )
    measured = {row["suite"] for row in results if row["metric"] != "empty_kernel"}
    drawn = {}
    for suite, function in DRAW.items():
        if suite in measured and (title := function(results, os.path.join(folder, f"{suite}.svg"))):
            drawn[suite] = [(f"{suite}.svg", title)]
    return drawn
