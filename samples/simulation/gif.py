#!/usr/bin/env python3
"""Makes an animated GIF from the pictures that a simulation wrote with --frames.

usage: gif.py FOLDER PICTURE.gif [SCALE [MILLISECONDS]]      (needs Pillow: python3-pil)

Each pixel becomes SCALE x SCALE (default 1); each picture is shown for MILLISECONDS (default 80).
"""
import pathlib
import sys

from PIL import Image


def main():
    if not 3 <= len(sys.argv) <= 5:
        sys.exit(__doc__.strip())
    scale, milliseconds = (int(value) for value in (sys.argv[3:] + ["1", "80"][len(sys.argv) - 3:]))
    paths = sorted(pathlib.Path(sys.argv[1]).glob("step-*.png"))
    if not paths:
        sys.exit(f"gif.py: {sys.argv[1]} has no step-*.png; "
                 f"run a simulation with --frames {sys.argv[1]}")
    pictures = []
    for path in paths:
        with Image.open(path) as picture:
            size = (picture.width * scale, picture.height * scale)
            pictures.append(picture.resize(size, Image.Resampling.NEAREST).quantize(64))
    pictures[0].save(sys.argv[2], save_all=True, append_images=pictures[1:],
                     duration=milliseconds, loop=0, optimize=True)


main()
