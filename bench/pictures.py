"""The pictures of bench/report: one function for each suite that has one."""
import os

import matplotlib

from page import count as words

matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib import ticker

# Texts stay texts, and ids do not depend on chance: the same input gives the same bytes.
plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "kma", "font.size": 9, "axes.grid": True,
                     "grid.alpha": 0.3, "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False})
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
MARKERS = "osD^vP*"


def names_of(rows):
    return sorted({row["heap"] for row in rows}, key=place)


def ordered(values):
    return sorted(set(values), key=lambda value: (isinstance(value, str), value if not isinstance(value, str) else
                                                  (int(value.split("..")[-1]) if ".." in value else 0, value)))


ALL_NAMES = []  # of heaps, then of what they are compared with: each has its colour in all pictures


def place(name):
    return ALL_NAMES.index(name)


def style(name):
    at = place(name)
    return {"color": COLOURS[at % len(COLOURS)], "marker": MARKERS[at % len(MARKERS)], "markersize": 3.5,
            "linewidth": 1.2}


def panels(rows, columns, width=3.2, height=2.6):
    figure, axes = plt.subplots(rows, columns, figsize=(width * columns + 0.4, height * rows + 0.5), squeeze=False)
    return figure, axes


def finish(figure, axes, path):
    handles = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncol=min(len(handles), 6))
    figure.tight_layout(rect=(0, 0.45 / figure.get_size_inches()[1], 1, 1))
    figure.savefig(path, format="svg", metadata={"Date": None})
    plt.close(figure)


def powers(axis, values):
    """An axis of sizes or counts: each value is named, unless there are many."""
    axis.set_xscale("log", base=2)
    shown = values if len(values) <= 8 else values[::4]
    axis.set_xticks(shown)
    axis.set_xticklabels([f"{value >> 20}M" if value >= 1 << 20 else f"{value >> 10}K" if value >= 1 << 10 and
                          value % 1024 == 0 else str(value) for value in shown])
    axis.minorticks_off()


def logarithmic(axis):
    """A vertical axis of times, with enough numbers however short it is."""
    axis.set_yscale("log")
    low, high = axis.get_ylim()
    axis.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if high < 300 * low else (1,)))
    axis.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_formatter(ticker.NullFormatter())


def curves(axis, rows, names, x, **more):
    for name in names:
        points = sorted((row[x], row["median"]) for row in rows if row["heap"] == name)
        if points:
            axis.plot(*zip(*points), label=more.get("suffix", "{}").format(name), **{**style(name),
                                                                   "linestyle": more.get("line", "-")})


def uniform(results, folder):
    drawn = []
    for state in ("fresh", "aged"):
        rows = [row for row in results if row["suite"] == "uniform" and row.get("state") == state and "bytes" in row]
        if not rows:
            continue
        if state == "fresh":
            rows += [row for row in results if row["suite"] == "host" and row.get("of") == "uniform"]
        names, counts = names_of(rows), ordered(row["work_items"] for row in rows)
        figure, axes = panels(2, len(counts), 2.6)
        for column, n in enumerate(counts):
            for line, metric in enumerate(("malloc", "free")):
                axis = axes[line][column]
                here = [row for row in rows if row["work_items"] == n and row["metric"] == metric]
                curves(axis, here, names, "bytes")
                logarithmic(axis)
                powers(axis, ordered(row["bytes"] for row in here))
                axis.set_title(f"{metric}, {words(n)} work-items")
                axis.set_xlabel("bytes")
                axis.set_ylabel("ms")
        name = f"uniform_{state}.svg"
        finish(figure, axes, os.path.join(folder, name))
        drawn.append((name, f"time of malloc and free by size, {'on a fresh heap' if state == 'fresh' else 'aged'}"))
    return drawn


def bars(axis, groups, names, value):
    width = 0.8 / max(len(names), 1)
    for at, name in enumerate(names):
        heights = [value(group, name) for group in groups]
        axis.bar([i + (at - (len(names) - 1) / 2) * width for i in range(len(groups))],
                 [height if height is not None else 0 for height in heights], width, label=name,
                 color=COLOURS[place(name) % len(COLOURS)])
    axis.set_xticks(range(len(groups)))


def median(rows, **wanted):
    for row in rows:
        if all(row.get(name) == value for name, value in wanted.items()):
            return row["median"]
    return None


def mixed(results, folder):
    rows = [row for row in results if row["suite"] == "mixed" or row.get("of") == "mixed"]
    rows = [row for row in rows if "bytes" in row]
    if not rows:
        return []
    names = names_of(rows)
    groups = list(dict.fromkeys((row["work_items"], row["bytes"]) for row in rows))
    figure, axes = panels(1, 2, 4.6)
    for axis, metric in zip(axes[0], ("malloc", "free")):
        bars(axis, groups, names, lambda group, name: median(rows, work_items=group[0], bytes=group[1], heap=name,
                                                             metric=metric))
        axis.set_xticklabels([f"{words(n)}\n{size} B" for n, size in groups])
        logarithmic(axis)
        axis.set_ylabel("ms")
        axis.set_title(metric)
    finish(figure, axes, os.path.join(folder, "mixed.svg"))
    return [("mixed.svg", "time of malloc and free of random sizes")]


def churn(results, folder):
    rows = [row for row in results if (row["suite"] == "churn" or row.get("of") == "churn") and "variance" in row]
    if not rows:
        return []
    names, kinds = names_of(rows), list(dict.fromkeys(row["variance"] for row in rows))
    figure, axes = panels(1, len(kinds), 2.6)
    for axis, kind in zip(axes[0], kinds):
        here = [row for row in rows if row["variance"] == kind]
        curves(axis, here, names, "work_items")
        powers(axis, ordered(row["work_items"] for row in here))
        logarithmic(axis)
        axis.set_title(f"variance: {kind}")
        axis.set_xlabel("work-items")
        axis.set_ylabel("ns a pair")
    finish(figure, axes, os.path.join(folder, "churn.svg"))
    return [("churn.svg", "nanoseconds a pair of malloc and free")]


def scaling(results, folder):
    rows = [row for row in results if row["suite"] == "scaling" and "bytes" in row]
    if not rows:
        return []
    names, sizes = names_of(rows), ordered(row["bytes"] for row in rows)
    figure, axes = panels(1, len(sizes), 4.2, 3.2)
    for axis, size in zip(axes[0], sizes):
        here = [row for row in rows if row["bytes"] == size]
        curves(axis, [row for row in here if row["metric"] == "malloc"], names, "work_items", suffix="{}: malloc")
        curves(axis, [row for row in here if row["metric"] == "free"], names, "work_items", suffix="{}: free", line=":")
        powers(axis, ordered(row["work_items"] for row in here))
        logarithmic(axis)
        axis.set_title(f"{size} B")
        axis.set_xlabel("work-items")
        axis.set_ylabel("ms")
    finish(figure, axes, os.path.join(folder, "scaling.svg"))
    return [("scaling.svg", "time of malloc and free by number of work-items")]


def fill(results, folder):
    rows = [row for row in results if row["suite"] == "fill" and row["metric"] in ("served", "again_served")]
    if not rows:
        return []
    names, sizes = names_of(rows), ordered(row["bytes"] for row in rows)
    figure, axes = panels(1, 2, 4.2)
    for axis, metric, title in zip(axes[0], ("served", "again_served"), ("filled", "freed and filled again")):
        bars(axis, sizes, names, lambda size, name: median(rows, bytes=size, heap=name, metric=metric))
        axis.set_xticklabels([str(size) for size in sizes])
        axis.set_ylim(0, 1.05)
        axis.set_title(title)
        axis.set_xlabel("bytes")
        axis.set_ylabel("bytes served / bytes of the heap")
    finish(figure, axes, os.path.join(folder, "fill.svg"))
    return [("fill.svg", "share of the heap that is served")]


def steady(results, folder):
    rows = [row for row in results if row["suite"] == "steady" and "kernel" in row]
    drawn = []
    loads = list(dict.fromkeys((row["p_alloc"], row["p_free"], row["bytes"]) for row in rows if row["p_free"] != 0))
    names = names_of(rows)
    if loads:
        figure, axes = panels(2, len(loads), 2.4, 2.4)
        for column, load in enumerate(loads):
            for axis, metric in zip(axes[:, column], ("internal_fragmentation", "external_fragmentation")):
                curves(axis, [row for row in rows if (row["p_alloc"], row["p_free"], row["bytes"]) == load and
                              row["metric"] == metric], names, "kernel")
                axis.set_ylim(-0.02, 1.02)
                axis.set_title(f"p {load[0]}/{load[1]}, {load[2]} B", fontsize=8)
                axis.set_xlabel("kernels")
                axis.set_ylabel(metric.split("_")[0])
        finish(figure, axes, os.path.join(folder, "steady.svg"))
        drawn.append(("steady.svg", "internal and external fragmentation over the kernels"))
    up = [row for row in rows if row["p_free"] == 0]
    if up:
        figure, axes = panels(1, 4, 2.6)
        for axis, metric, unit in zip(axes[0], ("kernel_time", "used", "internal_fragmentation",
                                                "external_fragmentation"), ("ms", "share", "share", "share")):
            curves(axis, [row for row in up if row["metric"] == metric], names, "kernel")
            axis.set_title(metric.replace("_", " "))
            axis.set_xlabel("kernels")
            axis.set_ylabel(unit)
        finish(figure, axes, os.path.join(folder, "fill_up.svg"))
        drawn.append(("fill_up.svg", "a heap that fills up: time, use and fragmentation over the kernels"))
    return drawn


def sparse(results, folder):
    rows = [row for row in results if row["suite"] == "sparse" and "share" in row]
    if not rows:
        return []
    names, states, sizes = (names_of(rows), list(dict.fromkeys(row["state"] for row in rows)),
                            list(dict.fromkeys(row["bytes"] for row in rows)))
    figure, axes = panels(len(states), len(sizes), 3.6)
    for line, state in zip(axes, states):
        for axis, size in zip(line, sizes):
            here = [row for row in rows if row["state"] == state and row["bytes"] == size]
            shares = list(dict.fromkeys(row["share"] for row in here))
            bars(axis, shares, names, lambda share, name: median(here, share=share, heap=name))
            axis.set_xticklabels(shares)
            logarithmic(axis)
            axis.set_title(f"{size} B, {state} heap")
            axis.set_xlabel("share of the work-items that take a block")
            axis.set_ylabel("ms a kernel")
    finish(figure, axes, os.path.join(folder, "sparse.svg"))
    return [("sparse.svg", "time of a kernel in which a share of the work-items takes blocks and frees earlier ones")]


def adjacency(results, folder):
    rows = [row for row in results if row["suite"] == "adjacency" and "sources" in row]
    if not rows:
        return []
    names, kinds = names_of(rows), list(dict.fromkeys((row["sources"], row["by"]) for row in rows))
    metrics = ("insert_total", "grow_total", "delete_total", "shrink_total")
    figure, axes = panels(1, len(kinds), 3)
    for axis, (sources, by) in zip(axes[0], kinds):
        bars(axis, metrics, names, lambda metric, name: median(rows, sources=sources, by=by, metric=metric, heap=name))
        axis.set_xticklabels([metric.removesuffix("_total") for metric in metrics])
        axis.set_title(f"{sources}, by {by}")
        axis.set_ylabel("ms, all batches")
    finish(figure, axes, os.path.join(folder, "adjacency.svg"))
    return [("adjacency.svg", "time of all batches of insertions and deletions, and of their kernels that use the heap")]


def compile_times(results, folder):
    rows = [row for row in results if row["suite"] == "compile" and row["metric"] == "build_and_launch"]
    if not rows:
        return []
    names, flavours = names_of(rows), ordered(row["debug"] for row in rows)
    figure, axes = panels(1, len(flavours), 4.2)
    for axis, debug in zip(axes[0], flavours):
        here = [row for row in rows if row["debug"] == debug]
        programs = list(dict.fromkeys(row["program"] for row in here))
        bars(axis, programs, names, lambda program, name: median(here, program=program, heap=name))
        axis.set_xticklabels([program.replace(", ", "\n") for program in programs])
        logarithmic(axis)
        axis.set_title(f"KMA_DEBUG {debug}")
        axis.set_ylabel("ms")
    finish(figure, axes, os.path.join(folder, "compile.svg"))
    return [("compile.svg", "time to build a program and launch it for the first time")]


def lists(results, folder):
    rows = [row for row in results if row["suite"] == "lists" and "bytes" in row]
    if not rows:
        return []
    names, sizes = names_of(rows), ordered(row["bytes"] for row in rows)
    ways = ("malloc", "arena", "arena_with_room", "grow_local", "grow_local_with_room", "grow_max")
    figure, axes = panels(len(sizes), len(ways), 2.6)
    for line, size in enumerate(sizes):
        for axis, way in zip(axes[line], ways):
            here = [row for row in rows if row["bytes"] == size and row["metric"] == way]
            curves(axis, here, names, "work_items")
            logarithmic(axis)
            powers(axis, ordered(row["work_items"] for row in here))
            axis.set_title(f"{way.replace('_', ' ')}, {size} B")
            axis.set_xlabel("work-items")
            axis.set_ylabel("ms")
        low, high = min(axis.get_ylim()[0] for axis in axes[line]), max(axis.get_ylim()[1] for axis in axes[line])
        for axis in axes[line]:
            axis.set_ylim(low, high)  # so that ways can be compared
    finish(figure, axes, os.path.join(folder, "lists.svg"))
    return [("lists.svg", "time to make ten objects for each work-item, by number of work-items (thesis, figures 6.3 to 6.5)"),
            *lists_order(rows, names, folder)]


def lists_order(rows, names, folder):
    orders = {"read_side_by_side": "each work-item's\nside by side", "read_interleaved": "neighbours'\nside by side"}
    lines = list(dict.fromkeys((row["work_items"], row["bytes"]) for row in rows if row["metric"] in orders))
    if not lines:
        return []
    figure, axes = panels(1, len(lines), 2.2)
    for axis, (n, size) in zip(axes[0], lines):
        bars(axis, list(orders), names, lambda metric, name: median(rows, work_items=n, bytes=size, heap=name, metric=metric))
        axis.set_xticklabels(orders.values())
        axis.set_title(f"{words(n)} work-items, {size} B", fontsize=8)
        axis.set_ylabel("ms")
    finish(figure, axes, os.path.join(folder, "lists_order.svg"))
    return [("lists_order.svg", "time to read them, by the order in which they lie (thesis, figures 5.4 to 5.7)")]


def objects(results, folder):
    rows = [dict(row, figure=row["median"] * 1e6 / (row["work_items"] * row["each"])) for row in results
            if row["suite"] == "objects" and "each" in row]
    if not rows:
        return []
    names = names_of(rows)
    figure, axes = panels(1, 2, 3.2)
    for axis, metric in zip(axes[0], ("new", "delete")):
        here = [dict(row, median=row["figure"], min=row["min"] * row["figure"] / row["median"],
                     max=row["max"] * row["figure"] / row["median"]) for row in rows if row["metric"] == metric]
        curves(axis, here, names, "each")
        logarithmic(axis)
        powers(axis, ordered(row["each"] for row in here))
        axis.set_title(metric)
        axis.set_xlabel("objects for each work-item")
        axis.set_ylabel("ns an object")
    finish(figure, axes, os.path.join(folder, "objects.svg"))
    return [("objects.svg", "time of an object of 64 bytes, by how many each of the work-items creates (paper, figures 12(d) and 13(a))")]


def compact(results, folder):
    """How many times as fast steps are with more work-items as with one."""
    rows = [row for row in results if row["suite"] == "compact" and row.get("work_items", 0) > 0 and "references" in row]
    steps = list(dict.fromkeys(row["metric"] for row in rows))
    alone = {row["metric"]: row["median"] for row in rows if row["work_items"] == 1}
    if not alone:
        return []
    figure, axes = panels(1, 1, 5.2, 3.2)
    axis = axes[0][0]
    for at, step in enumerate(steps):
        points = sorted((row["work_items"], alone[step] / row["median"]) for row in rows if row["metric"] == step)
        axis.plot(*zip(*points), label=step, color=COLOURS[at % len(COLOURS)], marker=MARKERS[at % len(MARKERS)],
                  markersize=3.5, linewidth=1.2)
    logarithmic(axis)
    powers(axis, ordered(row["work_items"] for row in rows))
    axis.set_xlabel("work-items")
    axis.set_ylabel("times as fast as one work-item")
    finish(figure, axes, os.path.join(folder, "compact.svg"))
    return [("compact.svg", "speed-up of a compaction and its steps over one work-item")]


def compared(suite, metrics, title):
    def draw(results, folder):
        rows = [row for row in results if row["suite"] == suite and row["metric"] in metrics]
        if not rows:
            return []
        names = names_of(rows)
        lines = list(dict.fromkeys((row["work_items"], row["bytes"]) for row in rows))
        figure, axes = panels(1, len(lines), max(2.6, 5.2 / len(lines)))
        for axis, line in zip(axes[0], lines):
            bars(axis, metrics, names, lambda metric, name: median(rows, work_items=line[0], bytes=line[1], heap=name,
                                                                   metric=metric))
            axis.set_xticklabels([metric.replace("_", "\n") for metric in metrics])
            axis.set_title(f"{words(line[0])} work-items, {line[1]} B", fontsize=8)
            axis.set_ylabel("ms")
        finish(figure, axes, os.path.join(folder, f"{suite}.svg"))
        return [(f"{suite}.svg", title)]
    return draw


def draw_all(results, folder):
    """Draws them, and returns which there are of each suite, with what they show."""
    draw = {"uniform": uniform, "mixed": mixed, "churn": churn, "scaling": scaling, "fill": fill, "steady": steady,
            "access": compared("access", ("write", "write_array", "read", "read_array"),
                               "time to write and read blocks, and a plain array"),
            "workgen": compared("workgen", ("malloc", "two_passes"), "time to make output of random sizes"),
            "sparse": sparse, "adjacency": adjacency, "lists": lists, "compile": compile_times, "objects": objects,
            "compact": compact}
    measured = {row["suite"] for row in results if row["metric"] != "empty_kernel"}
    ALL_NAMES[:] = dict.fromkeys([row["heap"] for row in results if row["suite"] != "host"] +
                                 [row["heap"] for row in results])
    return {suite: drawn for suite, function in draw.items()
            if suite in measured and (drawn := function(results, folder))}
