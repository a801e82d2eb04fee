#!/usr/bin/env python3
"""Compares collectives and messages of wormcube with those of MPI libraries on the same number of
ranks. Writes a table and a JSON file.

usage: bench/peers/compare.py [--quick] [--json FILE] [--operations A,B,..] [--bytes 8,64,..] [--ranks 16,64,256] [--peers A,B,..]

Peers: wormcube with nodes as threads and as fibers, and under `wormcube mpirun --cost work` the same program as the MPI libraries; Open
MPI and MPICH, whose ranks are processes; SMPI (SimGrid), whose ranks share a process, on a torus of the same shape, with its default
algorithms and with the best of others; two cores that copy the bytes of an all-to-all exchange. Missing peers are listed with the reason.

Two measures, each with as many calls as fit into half of --seconds, 3 to 101:
  between barriers   barrier, call, barrier, ..: from the first rank's start to the last rank's end; the median
  back to back       one barrier, all calls, one barrier; the time per call
For wormcube, short runs try every algorithm that applies to a network; then the three best by each measure are measured, and the best
counts. Every result is verified. Exchanges with more than --most-bytes in all are skipped and listed. A list of the cases in which a peer
is faster follows the table.

Needs the programs build/release/wormcube and build/release/bench/wormcube_messages (./run build), and for the peers mpicc.openmpi,
mpicc.mpich, smpicc (Debian: libopenmpi-dev openmpi-bin, libmpich-dev mpich, libsimgrid-dev).
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os
import pathlib
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
COLLECTIVES = ("alltoall", "allgather", "allreduce", "broadcast", "reduce_scatter", "scan", "gather", "barrier")
MESSAGES = ("ping-pong", "messages", "halo", "halo-3d")
NODES_LACK = ("halo-3d",)  # only MPI programs have it
OPERATIONS = COLLECTIVES + MESSAGES
MEASURES = {"between_barriers_us": "between barriers: from the first rank that begins a call to the last that ends it, median",
            "back_to_back_us": "back to back: calls without a barrier between them, the time of each"}
WORMCUBE = ("threads", "fibers")
PEERS = ("mpirun", "openmpi", "mpich", "smpi", "copying")
NAMES = {"threads": "wormcube, threads", "fibers": "wormcube, fibers", "mpirun": "wormcube mpirun", "openmpi": "Open MPI", "mpich": "MPICH", "smpi": "SMPI, default",
         "smpi best": "SMPI, best", "copying": "two cores copying"}
PACKAGES = {"openmpi": "libopenmpi-dev openmpi-bin", "mpich": "libmpich-dev mpich", "smpi": "libsimgrid-dev"}
SELECTORS = ("ompi", "mpich", "mvapich2", "impi")  # SMPI's, beside its default
LEAST_CALLS, MOST_CALLS = 3, 101
# Baselines are slow and never win.
SLOW = {"naive", "direct", "neighbours", "product-naive"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="some operations, sizes and calls: minutes")
    parser.add_argument("--json", metavar="FILE", help="all results, with how they were made")
    parser.add_argument("--operations", help=f"default: {','.join(OPERATIONS)}")
    parser.add_argument("--bytes", help="of a block, multiples of 8; default: 8,64,512,4096,65536; quick: 8,4096")
    parser.add_argument("--ranks", help="squares or twice squares; default: 16,64,256; quick: 16")
    parser.add_argument("--peers", default=",".join(PEERS), help="beside wormcube; default: all; '' for none")
    parser.add_argument("--seconds", type=float, help="for the calls of one operation and size; default 0.5; quick: 0.05")
    parser.add_argument("--networks", default="torus,hypercube", help="of wormcube; default: torus,hypercube; halo and messages: torus")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one operation of a peer with all sizes; default 300")
    parser.add_argument("--most-bytes", type=int, default=1 << 28, help="that an operation moves in all; default: 256 MiB")
    parser.add_argument("--wormcube", default="build/release/wormcube")
    parser.add_argument("--messages", default="build/release/bench/wormcube_messages")
    options = parser.parse_args()
    options.operations = names(parser, options.operations or ",".join(OPERATIONS), OPERATIONS)
    options.peers = names(parser, options.peers, PEERS)
    options.bytes = numbers(parser, options.bytes or ("8,4096" if options.quick else "8,64,512,4096,65536"))
    options.ranks = numbers(parser, options.ranks or ("16" if options.quick else "16,64,256"))
    options.seconds = options.seconds or (0.05 if options.quick else 0.5)
    if any(size % 8 for size in options.bytes):
        parser.error("--bytes: multiples of 8, blocks are of doubles")
    for ranks in options.ranks:
        if ranks < 4:
            parser.error(f"--ranks {ranks}: at least 4")
        sides(ranks)
    return options


def names(parser, text, known):
    found = [name for name in text.split(",") if name]
    for name in found:
        if name not in known:
            parser.error(f"'{name}': known are {', '.join(known)}")
    return found


def numbers(parser, text):
    try:
        found = [int(word) for word in text.split(",")]
    except ValueError:
        parser.error(f"'{text}': whole numbers, separated by commas")
    if min(found) < 0:
        parser.error(f"'{text}': not below 0")
    return found


def sides(ranks):
    """The sides of the most square torus."""
    rows = max(side for side in range(1, int(ranks**0.5) + 1) if ranks % side == 0)
    return rows, ranks // rows


def network(kind, ranks):
    """The name of a network with this many nodes, or None."""
    if kind == "torus":
        return "torus:{}x{}".format(*sides(ranks))
    if kind == "hypercube":
        return f"hypercube:{ranks.bit_length() - 1}" if ranks & (ranks - 1) == 0 else None
    return f"{kind}:{ranks}"


def bytes_in_all(operation, ranks, size):
    """The size of the largest buffers of all ranks together."""
    return size * {"alltoall": ranks * ranks, "allgather": ranks * ranks, "reduce_scatter": ranks * ranks, "messages": 64 * ranks}.get(
        operation, ranks)


class Failed(Exception):
    """The reason why a peer has no result."""


def run(command, limit, environment=None):
    """The command's standard output. The limit kills the whole process group."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace", start_new_session=True,
                          env=dict(os.environ, **(environment or {}))) as process:
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired as error:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            raise Failed(f"did not end within {limit:g} s") from error
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode != 0:
        words = (err.strip() or out.strip() or "no output").splitlines()
        raise Failed(f"ended with {process.returncode}: {words[0]}")
    return out


def rows_of(text, operation, ranks, more):
    """Reads the output of peer.c and wormcube_messages."""
    rows = []
    for line in text.splitlines():
        name, size, median, back, least, calls, wrong = line.split()
        if name != operation:
            raise Failed(f"reported {name} instead of {operation}")
        rows.append({"operation": operation, "ranks": ranks, "bytes": int(size), "between_barriers_us": float(median),
                     "back_to_back_us": float(back), "between_barriers_least_us": float(least), "calls": int(calls), "wrong": int(wrong), **more})
    return rows


# wormcube


def calls_for(seconds, us):
    """The number of calls, computed as in peer.c."""
    return max(LEAST_CALLS, min(MOST_CALLS, int(seconds * 1e6 / 2 / (us + 1))))


def collectives(options, executor, operation, ranks, sizes):
    """Rows with the best of all algorithms on all networks, by each measure."""
    tried = []
    for kind in options.networks.split(","):
        on = network(kind, ranks)
        if on is None:
            continue
        listed = json.loads(run([options.wormcube, "list", operation, "--on", on, "--json", "-"], options.limit))
        algorithms = [entry["algorithm"] for entry in listed
                      if entry["admitted"] and entry["ports"] == "one" and entry["algorithm"] not in SLOW]
        tried += timed(options, executor, operation, on, algorithms, sizes, 3)
    rows = []
    for size in sizes:
        candidates = [row for row in tried if row["bytes"] == size]
        chosen = {(row["network"], row["algorithm"]) for measure in MEASURES for row in sorted(candidates, key=lambda row: row[measure])[:3]}
        again = []
        for on, algorithm in sorted(chosen):
            us = next(row["between_barriers_us"] for row in candidates if (row["network"], row["algorithm"]) == (on, algorithm))
            again += timed(options, executor, operation, on, [algorithm], [size], calls_for(options.seconds, us))
        if again:
            rows.append(best_of(again, {"peer": executor}))
    return rows


def timed(options, executor, operation, on, algorithms, sizes, calls):
    if not algorithms:
        return []
    out = run([options.wormcube, "run", operation, "--on", on, "--algorithm", ",".join(algorithms), "--executor", executor, "--warmup", "2",
               "--iterations", str(calls), "--calls", str(calls), "--json", "-", "--quiet"]
              + ([] if operation == "barrier" else ["--bytes", ",".join(map(str, sizes))]), options.limit)
    results = json.loads(out)
    return [{"operation": operation, "ranks": result["nodes"], "bytes": result["block_bytes"], "between_barriers_us": result["time_median_us"],
             "back_to_back_us": result["time_back_to_back_us"], "between_barriers_least_us": result["time_min_us"], "calls": calls,
             "wrong": result["wrong"], "network": on, "algorithm": result["algorithm"]}
            for result in (results if isinstance(results, list) else [results])]


def best_of(rows, more):
    """One row: for each measure the shortest time and its algorithm."""
    best = {measure: min(rows, key=lambda row: row[measure]) for measure in MEASURES}
    first, second = best["between_barriers_us"], best["back_to_back_us"]
    how = {key: first[key] for key in ("network", "algorithm") if key in first}
    return {**first, **how, **more, "back_to_back_us": second["back_to_back_us"], "wrong": max(row["wrong"] for row in rows),
            "back_to_back_network": second.get("network"), "back_to_back_algorithm": second.get("algorithm")}


def wormcube(options, executor, operation, ranks, sizes):
    if operation in COLLECTIVES:
        return collectives(options, executor, operation, ranks, sizes)
    on = network("torus", ranks)
    out = run([options.messages, str(options.seconds), operation, executor, on] + [str(size) for size in sizes], options.limit)
    return rows_of(out, operation, ranks, {"peer": executor, "network": on})


# The peers


class Peer:
    """An MPI library, or two copying cores."""

    def __init__(self, options, name, folder):
        self.options, self.name, self.folder = options, name, folder
        self.program = folder / f"peer-{name}"
        if name == "copying":
            if not shutil.which(options.messages):
                raise Failed(f"{options.messages} does not exist; run ./run build")
            self.version = "memcpy by two threads"
            return
        own = name == "mpirun"
        launcher = options.wormcube if own else {"openmpi": "mpirun.openmpi", "mpich": "mpirun.mpich", "smpi": "smpirun"}[name]
        compiler = [launcher, "mpicc"] if own else [{"openmpi": "mpicc.openmpi", "mpich": "mpicc.mpich", "smpi": "smpicc"}[name]]
        for tool in (compiler[0], launcher):
            if not shutil.which(tool):
                raise Failed(f"{tool} is not installed (Debian: {PACKAGES[name]})")
        try:
            run([*compiler, "-O2", "-o", str(self.program), str(HERE / "peer.c"), "-lm"], 120)
        except Failed as error:
            raise Failed(f"{shlex.join(compiler)} does not compile peer.c: {error}") from error
        self.launcher = launcher
        self.version = version_of(launcher)

    def rows(self, operation, ranks, sizes):
        if self.name == "copying":
            if operation != "alltoall":
                return []
            out = run([self.options.messages, str(self.options.seconds), "copying", "receivers", network("torus", ranks)] + [str(size) for size in sizes],
                      self.options.limit)
            rows = rows_of(out.replace("copying ", "alltoall "), operation, ranks, {"peer": "copying"})
            return rows
        if self.name == "smpi":
            default = self.measured(operation, ranks, sizes, "default")
            if operation in MESSAGES:
                return default
            found = default + [row for selector in SELECTORS for row in self.measured(operation, ranks, sizes, selector)]
            return default + [{**best_of([row for row in found if row["bytes"] == size], {"peer": "smpi best"})} for size in sizes]
        return self.measured(operation, ranks, sizes, None)

    def measured(self, operation, ranks, sizes, selector):
        more = {"peer": self.name} if selector is None else {"peer": self.name, "algorithm": selector, "network": network("torus", ranks)}
        program = [str(self.program), str(self.options.seconds), operation] + [str(size) for size in sizes]
        environment = {}
        if self.name == "openmpi":
            command = [self.launcher, "--oversubscribe", "-n", str(ranks)] + (["--allow-run-as-root"] if os.geteuid() == 0 else [])
            environment["OMPI_MCA_mpi_yield_when_idle"] = "1"
        elif self.name == "mpirun":
            command = [self.launcher, "mpirun", "--cost", "work", "--on", network("torus", ranks)]
            more["network"] = network("torus", ranks)
        elif self.name == "mpich":
            command = [self.launcher, "-n", str(ranks)]
        else:
            command = [self.launcher, "-np", str(ranks), "-platform", str(self.platform(ranks)), "-hostfile", str(self.hosts(ranks)),
                       "--cfg=smpi/simulate-computation:no", "--log=root.thres:critical", f"--cfg=smpi/coll-selector:{selector}"]
        rows = rows_of(run(command + program, self.options.limit, environment), operation, ranks, more)
        if len(rows) != len(sizes):
            raise Failed(f"{len(rows)} results for {len(sizes)} sizes")
        return rows

    def platform(self, ranks):
        """SimGrid's torus of the same shape. Its speeds do not matter: the simulator itself is timed."""
        file = self.folder / f"torus-{ranks}.xml"
        file.write_text('<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">\n'
                        f'  <cluster id="torus" prefix="node-" suffix="" radical="0-{ranks - 1}" speed="1Gf" bw="125MBps"\n'
                        '           lat="50us" loopback_bw="1GBps" loopback_lat="1us"\n'
                        '           topology="TORUS" topo_parameters="{},{}"/>\n</platform>\n'.format(*sides(ranks)), encoding="utf-8")
        return file

    def hosts(self, ranks):
        file = self.folder / f"hosts-{ranks}"
        file.write_text("".join(f"node-{rank}\n" for rank in range(ranks)), encoding="utf-8")
        return file


def version_of(launcher):
    for option in ("--version", "-version"):
        found = subprocess.run([launcher, option], capture_output=True, encoding="utf-8", errors="replace", timeout=60, check=False)
        lines = [line.strip() for line in (found.stdout + found.stderr).splitlines() if any(digit in line for digit in "0123456789")]
        if lines:
            return lines[0]
    return "unknown"


# Results


def cell(row, measure):
    if row is None:
        return "–"
    us = row[measure]
    return f"{us:.1f}" if us < 100 else f"{us:.0f}"


def table(columns, results, left_out):
    """Markdown rows, one per operation, number of ranks and size."""
    yield "| operation | ranks | block | " + " | ".join(f"{NAMES[column]}: between barriers | back to back" for column in columns) + " |"
    yield "|---" * (3 + 2 * len(columns)) + "|"
    for key in sorted({(OPERATIONS.index(row["operation"]), row["ranks"], row["bytes"]) for row in results}):
        found = {row["peer"]: row for row in results if (OPERATIONS.index(row["operation"]), row["ranks"], row["bytes"]) == key}
        cells = [cell(found.get(column), measure) for column in columns for measure in MEASURES]
        yield f"| {OPERATIONS[key[0]]} | {key[1]} | {key[2]} B | " + " | ".join(cells) + " |"
    for text in left_out:
        yield text


def behind(results):
    """Sentences about the cases in which a peer is faster than wormcube."""
    by_key = {(row["operation"], row["ranks"], row["bytes"], row["peer"]): row for row in results}
    words = []
    for (operation, ranks, size, peer), row in sorted(by_key.items()):
        if peer not in ("openmpi", "mpich", "smpi", "smpi best"):
            continue
        for executor in (*WORMCUBE, "mpirun"):
            ours = by_key.get((operation, ranks, size, executor))
            for measure in MEASURES:
                if ours is not None and ours[measure] > row[measure]:
                    words.append(f"{operation}, {ranks} ranks, {size} B, {measure.removesuffix('_us').replace('_', ' ')}: {NAMES[executor]} needs "
                                 f"{cell(ours, measure)} us, {NAMES[peer]} {cell(row, measure)} ({ours[measure] / row[measure]:.1f} times)")
    return words


def processor():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def main():
    options = arguments()
    started, load = time.time(), os.getloadavg()[0]
    missing, results, failures, left_out, peers = [], [], [], [], []
    if not shutil.which(options.wormcube):
        sys.exit(f"compare.py: {options.wormcube} does not exist; run ./run build, or pass --wormcube PROGRAM")
    has_messages = shutil.which(options.messages) is not None
    if not has_messages:
        missing.append({"peer": "wormcube, messages", "reason": f"{options.messages} does not exist; run ./run build"})
    with tempfile.TemporaryDirectory() as folder:
        for name in options.peers:
            try:
                peers.append(Peer(options, name, pathlib.Path(folder)))
            except Failed as error:
                missing.append({"peer": name, "reason": str(error)})
        for entry in missing:
            print(f"# missing: {NAMES.get(entry['peer'], entry['peer'])}: {entry['reason']}", flush=True)
        for ranks in options.ranks:
            for operation in options.operations:
                sizes = [0] if operation == "barrier" else [size for size in options.bytes if bytes_in_all(operation, ranks, size) <= options.most_bytes]
                if operation != "barrier" and len(sizes) < len(options.bytes):
                    large = ", ".join(str(size) for size in options.bytes if size not in sizes)
                    left_out.append(f"# skipped: {operation} with {ranks} ranks and blocks of {large} bytes: more than {options.most_bytes} bytes in all")
                if not sizes:
                    continue
                asked = [] if operation in NODES_LACK or (operation in MESSAGES and not has_messages) else list(WORMCUBE)
                for name in asked + peers:
                    label = name if isinstance(name, str) else name.name
                    if sys.stderr.isatty():
                        print(f"\r\x1b[K{ranks} ranks, {operation}: {label}", end="", file=sys.stderr, flush=True)
                    try:
                        results += wormcube(options, name, operation, ranks, sizes) if isinstance(name, str) else name.rows(operation, ranks, sizes)
                    except Failed as error:
                        failures.append({"peer": label, "operation": operation, "ranks": ranks, "bytes": sizes, "reason": str(error)})
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    made = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)), "seconds": round(time.time() - started, 1),
            "processor": processor(), "cores": len(os.sched_getaffinity(0)), "load_before": round(load, 2),
            "command": shlex.join(sys.argv), "wormcube": run([options.wormcube, "--version"], 60).splitlines()[0],
            "peers": {peer.name: peer.version for peer in peers}}
    settings = {"operations": options.operations, "bytes": options.bytes, "ranks": options.ranks, "seconds": options.seconds,
                "networks": options.networks.split(","), "most_bytes": options.most_bytes, "limit_seconds": options.limit}
    print(f"# {made['at']}, {made['processor']}, {made['cores']} cores, load before {made['load_before']}, {made['seconds']:.0f} s")
    for name, version in made["peers"].items():
        print(f"# {NAMES[name]}: {version}")
    print("# us per call; " + "; ".join(MEASURES.values()) + "\n")
    columns = [name for name in NAMES if any(row["peer"] == name for row in results)]
    for line in table(columns, results, left_out):
        print(line)
    for entry in failures:
        print(f"# no result: {NAMES[entry['peer']]}, {entry['operation']}, {entry['ranks']} ranks: {entry['reason']}")
    ahead = behind(results)
    if columns and set(columns) - set(WORMCUBE) - {"mpirun", "copying"}:
        print("\nWhere wormcube is behind:" if ahead else "\nwormcube is behind nowhere.")
        for line in ahead:
            print(f"* {line}")
    wrong = [row for row in results if row["wrong"]]
    for row in wrong:
        print(f"# WRONG: {NAMES[row['peer']]}, {row['operation']}, {row['ranks']} ranks, {row['bytes']} bytes: {row['wrong']}")
    if options.json:
        text = json.dumps({"made": made, "settings": settings, "measures": MEASURES, "missing": missing, "failures": failures,
                           "left_out": left_out, "behind": ahead, "results": results}, indent=1)
        if options.json == "-":
            print(text)
        else:
            pathlib.Path(options.json).write_text(text + "\n", encoding="utf-8")
    return 1 if wrong or any(entry["peer"] in (*WORMCUBE, "mpirun") for entry in failures) else 0


if __name__ == "__main__":
    sys.exit(main())
