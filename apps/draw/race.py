#!/usr/bin/env python3
"""Makes the animation in README.md: two algorithms on one network, timed by `replay`.

usage: race.py PROGRAM FILE.svg [--still MICROSECONDS]

Every node fills as its blocks arrive, and a link lights up while messages want it: blue for one, orange to red for several.
Messages and times are those of `wormcube replay --json` and `wormcube show --json`. SMIL animates the SVG, without a script.
A viewer without animation shows the moment of --still, by default the end of the first algorithm.
"""
# SPDX-License-Identifier: Apache-2.0
import json
import subprocess
import sys
from collections import defaultdict

OPERATION, NETWORK, BYTES, SIDE = "allgather", "torus:8x8", "4K", 8
RACERS = (("bruck", "6 steps; its messages share links"), ("swing", "6 steps; partners are near"))
PLAY, HOLD, TICK = 10.0, 3.0, 25  # seconds for the slower one, seconds after it, microseconds per tick of the clock
CELL, NODE, PANEL, LEFT, TOP = 40, 22, 380, 50, 120
COLOURS = ("#58a6ff", "#f0a33c", "#f0763c", "#e5484d")  # one message, two, three, more
IDLE = "#30404f"


def of_program(program, *words):
    done = subprocess.run([program, *words, "--json", "-"], check=True, capture_output=True, encoding="utf-8")
    return json.loads(done.stdout)


class Racer:
    """One algorithm: arrivals of blocks at each node, and messages that want each link, as lists of (us, value)."""

    def __init__(self, program, name):
        call = (OPERATION, "--on", NETWORK, "--algorithm", name, "--bytes", BYTES)
        replay = of_program(program, "replay", *call, "--messages", "on")
        steps = of_program(program, "show", *call)["steps"]
        self.name, self.end = name, replay["time_ps"] / 1e6
        route = {(step["step"], message["from"], message["to"]): [hop["link_name"] for hop in message["route"]]
                 for step in steps for message in step["messages"]}
        blocks, wanted = defaultdict(lambda: [(0.0, 1)]), defaultdict(list)
        for message in sorted(replay["messages"], key=lambda one: one["delivered_ps"]):
            came = message["delivered_ps"] / 1e6
            arrived = blocks[message["to"]]
            arrived.append((came, arrived[-1][1] + message["bytes"] // replay["block_bytes"]))
            for link in route[message["step"], message["from"], message["to"]]:
                wanted[link] += [((message["posted_ps"] + replay["model"]["startup_ps"]) / 1e6, 1), (came, -1)]
        self.blocks = dict(blocks)
        self.wanted = {}
        for link, changes in wanted.items():
            value, line = 0, [(0.0, 0)]
            for at, change in sorted(changes):
                value += change
                line.append((at, value))
            self.wanted[link] = line


def animated(attribute, line, text, still, length):
    """The attribute's value in the still image, and the element that animates it."""
    last, values = {}, []
    for at, value in line:
        last[round(at / length, 4)] = text(value)
    for at, value in last.items():
        if not values or values[-1][1] != value:
            values.append((at, value))
    now = [value for at, value in values if at * length <= still + 1e-9][-1]
    times, texts = ";".join(f"{at:g}" for at, _ in values), ";".join(value for _, value in values)
    return now, (f'<animate attributeName="{attribute}" calcMode="discrete" dur="{PLAY + HOLD:g}s" repeatCount="indefinite" '
                 f'keyTimes="{times}" values="{texts}"/>')


def colour(messages):
    return COLOURS[min(messages, len(COLOURS)) - 1] if messages else IDLE


def neighbours(node):
    y, x = divmod(node, SIDE)
    return [(y + dy) % SIDE * SIDE + (x + dx) % SIDE for dy, dx in ((0, 1), (0, -1), (1, 0), (-1, 0))]


def segments(link):
    """A directed link as path data. Its lane lies to the right of its direction; wraparound links are two stubs."""
    a, b = (int(name) for name in link.split("->"))
    (y1, x1), (y2, x2) = divmod(a, SIDE), divmod(b, SIDE)
    sign = lambda n: (n > 0) - (n < 0)
    dx, dy = (sign(x2 - x1), sign(y2 - y1)) if abs(x2 - x1) + abs(y2 - y1) == 1 else (-sign(x2 - x1), -sign(y2 - y1))
    half, lane = NODE // 2, 4
    at = lambda x, y: (x * CELL - dy * lane, y * CELL + dx * lane)
    (ax, ay), (bx, by), reach = at(x1, y1), at(x2, y2), CELL - NODE
    if abs(x2 - x1) + abs(y2 - y1) == 1:
        return f"M{ax + dx * half} {ay + dy * half}l{dx * reach} {dy * reach}"
    stub = reach // 2
    return f"M{ax + dx * half} {ay + dy * half}l{dx * stub} {dy * stub}M{bx - dx * (half + stub)} {by - dy * (half + stub)}l{dx * stub} {dy * stub}"


def panel(racer, what, left, still, length, first):
    out = [f'<g transform="translate({left} {TOP})">', f'<text x="-10" y="-52" class="name">{racer.name}</text>', f'<text x="-10" y="-32">{what}</text>']
    every = [segments(f"{node}->{near}") for node in range(SIDE**2) for near in neighbours(node)]
    out.append(f'<path stroke="{IDLE}" d="{"".join(every)}"/>')
    together = defaultdict(list)
    for link, line in racer.wanted.items():
        together[animated("stroke", line, colour, still, length)].append(segments(link))
    for (now, animation), paths in together.items():
        out.append(f'<path stroke="{now}" d="{"".join(paths)}">{animation}</path>')
    half = NODE // 2
    boxes = "".join(f"M{x * CELL - half} {y * CELL - half}h{NODE}v{NODE}h-{NODE}z" for y in range(SIDE) for x in range(SIDE))
    out.append(f'<path class="box" d="{boxes}"/>')
    nodes = defaultdict(list)
    for node, line in racer.blocks.items():
        height = lambda count: f"{max(1, round((NODE - 2) * count / SIDE**2))} {2 * NODE}"
        nodes[animated("stroke-dasharray", line, height, still, length)].append(divmod(node, SIDE))
    for (now, animation), places in nodes.items():
        # A line as wide as the node, from the bottom up. Its only dash shows the share of blocks in the node.
        d = "".join(f"M{x * CELL} {y * CELL + half - 1}v-{NODE - 2}" for y, x in places)
        out.append(f'<path class="full" stroke-dasharray="{now}" d="{d}">{animation}</path>')
    now, animation = animated("opacity", [(0.0, 0), (racer.end, 1)], str, still, length)
    out.append(f'<text x="{(SIDE - 1) * CELL + 10}" y="-52" class="end{" first" if first else ""}" opacity="{now}">{racer.end:.0f} µs{animation}</text></g>')
    return out


def picture(program, still=None):
    racers = [Racer(program, name) for name, _ in RACERS]
    slowest, quickest = max(one.end for one in racers), min(one.end for one in racers)
    still, length = quickest + 1 if still is None else still, slowest * (PLAY + HOLD) / PLAY
    width, height = PANEL * len(racers), TOP + SIDE * CELL + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
           f"<title>{OPERATION} of {BYTES[:-1]} KiB blocks on {NETWORK}: {', '.join(f'{one.name} {one.end:.0f} µs' for one in racers)}</title>",
           "<style>text{font:14px ui-sans-serif,system-ui,Helvetica,Arial,sans-serif;fill:#9fb0c0}.name{font-size:20px;font-weight:600;fill:#e6edf3}"
           ".end{font-size:20px;font-weight:600;fill:#e6edf3;text-anchor:end}.first{fill:#3fb950}path{fill:none;stroke-width:3}"
           ".box{fill:#17212b;stroke:#4b5b6b;stroke-width:1}.full{stroke:#3fb950;stroke-width:20}.clock{font-size:20px;fill:#e6edf3;text-anchor:middle;font-variant-numeric:tabular-nums}</style>",
           f'<rect width="{width}" height="{height}" rx="12" fill="#0d1117"/>',
           f'<text x="{LEFT - 10}" y="32">{OPERATION} on {NETWORK}: every node contributes a block of {BYTES[:-1]} KiB and receives all 64</text>']
    for index, (racer, (_, what)) in enumerate(zip(racers, RACERS)):
        out += panel(racer, what, PANEL * index + LEFT, still, length, racer.end == quickest)
    ticks = int(slowest // TICK) + 1
    line = [(TICK * tick, tick) for tick in range(ticks + 1)]
    for tick in range(ticks):
        now, animation = animated("opacity", [(0.0, 0)] * (tick > 0) + [(TICK * tick, 1)] + [(TICK * (tick + 1), 0)] * (tick + 1 < ticks), str, still, length)
        out.append(f'<text class="clock" x="{width // 2}" y="{height - 16}" opacity="{now}">{TICK * tick} µs{animation}</text>')
    return "\n".join(out + ["</svg>", ""])


if __name__ == "__main__":
    if len(sys.argv) not in (3, 5) or len(sys.argv) == 5 and sys.argv[3] != "--still":
        sys.exit(__doc__)
    text = picture(sys.argv[1], float(sys.argv[4]) if len(sys.argv) == 5 else None)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(text)
