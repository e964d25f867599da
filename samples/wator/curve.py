#!/usr/bin/env python3
"""Plots the numbers of `wator --curve FILE.csv`: fish, sharks, and the share of empty slots.

usage: curve.py FILE.csv PICTURE.svg      (needs matplotlib: python3-matplotlib)
"""
import csv
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "kma", "font.size": 9,
                     "axes.grid": True, "grid.alpha": 0.3})


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    if not rows:
        sys.exit(f"curve.py: {sys.argv[1]} has no steps")
    steps = [row["step"] for row in rows]
    figure, (above, below) = plt.subplots(
        2, 1, sharex=True, figsize=(6.4, 4.4), height_ratios=(3, 2))
    above.plot(steps, [row["fish"] / 1e6 for row in rows], color="#009e73", label="fish")
    above.plot(steps, [row["sharks"] / 1e6 for row in rows], color="#d55e00", label="sharks")
    above.set_ylabel("millions")
    above.legend(frameon=False)
    below.fill_between(steps, [row["fragmentation"] for row in rows], color="#999999", linewidth=0)
    below.set_ylim(0, 1)
    below.set_ylabel("slots in blocks\nthat are empty")
    below.set_xlabel("step")
    figure.tight_layout()
    figure.savefig(sys.argv[2], format="svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
