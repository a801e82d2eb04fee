#!/usr/bin/env python3
"""Commands that print the same quantity print the same number: list, best, check, run, replay,
compare and the page that draw writes, for every operation on twelve networks, under every built-in profile.

usage: agreement_test.py PROGRAM [Agreement|Golden|Comparer|ComparerOfBuses]..
"""
# SPDX-License-Identifier: Apache-2.0
import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = ""  # the first argument
NETWORKS = "ring:8,ring:9,line:8,mesh:4x4,mesh:3x5,torus:4x4,torus:8x8,torus:4x4x4,hypercube:4,complete:8,tree:8,petersen"
SMALL = "ring:9,mesh:3x5,torus:4x4,hypercube:4,tree:8,petersen"
COUNTS = ("startups", "transmission_blocks", "rearranged_blocks", "combined_blocks", "link_blocks", "hops", "injected_blocks")
BYTES = 1024
# As the programs print them: a relative error far below what a wrong term gives.
TOLERANCE = 1e-12


def output(*arguments):
    done = subprocess.run([PROGRAM, *arguments, "--json", "-"], encoding="utf-8", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode not in (0, 1):
        raise AssertionError(f"{' '.join(arguments)}: {done.stderr}")
    document = json.loads(done.stdout)
    return document if isinstance(document, list) else [document]


def data_of(page):
    """The data of a page that `draw` wrote."""
    [data] = re.findall(r'<script type="application/json" id="wormcube">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)
    return json.loads(data)


def key_of(row, options):
    return row["operation"], row["topology"], row["algorithm"], json.dumps(row[options], sort_keys=True)


def by_key(rows, options):
    return {key_of(row, options): row for row in rows}


def near(a, b):
    if a is None or b is None:
        return a is b
    return abs(a - b) <= TOLERANCE * max(1, abs(a), abs(b))


def time_of(counts, model, m):
    """The closed form, in microseconds: the formula of docs/explanation/costs.md, written once more."""
    value = {name: counts[name] or 0 for name in COUNTS}
    a, flit = value["startups"], model["flit_bytes"]
    hops = a if counts["hops"] is None else value["hops"]
    port_flits = max(a, m * value["transmission_blocks"] / flit)
    link_flits = max(a, m * value["link_blocks"] / flit) if value["link_blocks"] > 0 and m > 0 else 0
    longest = model["th_us"] * hops + model["tw_us_per_byte"] * flit * port_flits
    busiest = model["th_us"] * a + model["tw_link_us_per_byte"] * flit * link_flits
    bus_flits = max(a, m * value["injected_blocks"] / flit) if value["injected_blocks"] > 0 and m > 0 else 0
    injected = model["th_us"] * a + (model["tw_bus_us_per_byte"] or 0) * flit * bus_flits
    return model["ts_us"] * a + max(longest, busiest, injected) + m * (model["tr_us_per_byte"] * value["rearranged_blocks"] + model["tc_us_per_byte"] * value["combined_blocks"])


def differences(row, other, names):
    """What two commands print differently about one call."""
    found = []
    for name in names:
        left, right = row["predicted"][name], other["predicted"][name]
        if not near(left, right):
            found.append(f"{name}: {left} and {right}")
    if not near(row["model_time_us"], other["model_time_us"]):
        found.append(f"model_time_us: {row['model_time_us']} and {other['model_time_us']}")
    return found


def wrong_in(row, m=BYTES):
    """A listed row against the closed form and its own parts."""
    found = []
    if row["model_time_us"] is None:
        return found
    expected = time_of(row["predicted"], row["cost_model"], m)
    if abs(expected - row["model_time_us"]) > 1e-9 * max(1, expected):
        found.append(f"model_time_us: {row['model_time_us']}, the closed form gives {expected}")
    parts = [part for name, part in row["model_time_parts_us"].items() if not name.endswith("_reason")]
    if abs(sum(parts) - row["model_time_us"]) > 1e-9 * max(1, expected):
        found.append(f"the parts add up to {sum(parts)}, the time is {row['model_time_us']}")
    return found


def against_check(row, checked):
    """A listed row against what `check` counts, and the check's sums against its own steps."""
    found = []
    if not near(row["model_time_us"], checked["model_time_us"]):
        found.append(f"model_time_us: {row['model_time_us']} and {checked['model_time_us']}")
    if row["operation"].endswith("v"):  # counted with the call's own sizes
        steps = sum(checked["step_bytes"]) / row["block_bytes"]
        if not near(steps, checked["transmission_blocks"]):
            found.append(f"transmission_blocks: {checked['transmission_blocks']}, the steps add up to {steps}")
    for name in COUNTS:  # formulas and what is counted in their place
        if not near(row["predicted"][name], checked["predicted"][name]):
            found.append(f"predicted {name}: {row['predicted'][name]} and {checked['predicted'][name]}")
    counted = {name: checked["sum_max_hops" if name == "hops" else name] for name in COUNTS}
    for name in COUNTS:
        value = row["predicted"][name]
        if value is not None and abs(value - counted[name]) > 1e-6 * max(1, abs(value)):
            found.append(f"{name}: {value}, counted {counted[name]}")
    return found


class Agreement(unittest.TestCase):
    machines = []

    @classmethod
    def setUpClass(cls):
        names = [machine["name"] for machine in output("machines")][:10]  # drafts follow the ten profiles
        cls.machines = [[]] + [["--machine", name] for name in names]
        cls.listed = {}
        for machine in cls.machines:
            rows = [row for row in output("list", "--on", NETWORKS, "--bytes", str(BYTES), "--ports", "both", *machine) if row["admitted"]]
            cls.listed[tuple(machine)] = by_key(rows, "chosen_options")
        cls.operations = sorted({key[0] for key in cls.listed[()]})

    def report(self, wrong):
        self.assertEqual(wrong, [], f"{len(wrong)} differences")

    def test_list_is_the_closed_form(self):
        wrong, rows = [], 0
        for machine, listed in self.listed.items():
            for key, row in listed.items():
                rows += 1
                wrong += [f"{machine} {key}: {text}" for text in wrong_in(row)]
        self.assertGreater(rows, 5000)
        self.report(wrong)

    def test_best_ranks_what_list_prints(self):
        wrong, compared = [], 0
        for machine in self.machines:
            listed = self.listed[tuple(machine)]
            for contest in output("best", "--on", NETWORKS, "--bytes", str(BYTES), *machine):
                for each in contest["ranking"]:
                    if each["model_time_us"] is None:
                        continue
                    key = (contest["operation"], contest["topology"], each["algorithm"], json.dumps(each["options"], sort_keys=True))
                    row = listed.get(key)
                    text = [f"{key} is not in list"] if row is None else differences(row, each, COUNTS)
                    wrong += [f"{machine} {key}: {each}" for each in text]
                    compared += 1
                chosen = "chosen_by_auto" if contest["ports"] == "one" else "chosen_by_auto_all_ports"
                picks = [row for key, row in listed.items() if key[:2] == (contest["operation"], contest["topology"]) and row[chosen]]
                if contest["winner"] is None or len(picks) != 1:
                    continue
                if not near(picks[0]["model_time_us"], contest["model_time_us"]):
                    wrong.append(f"{machine} {contest['operation']} {contest['topology']} {contest['ports']}: list marks {picks[0]['algorithm']}, best has {contest['winner']}")
        self.assertGreater(compared, 5000)
        self.report(wrong)

    def each_operation(self, networks, command, *more):
        """Operation by operation, with one machine after the other; and what list has."""
        for at, operation in enumerate(self.operations):
            machine = self.machines[at % len(self.machines)]
            listed = self.listed[tuple(machine)]
            bytes_of = [] if operation == "barrier" else ["--bytes", str(BYTES)]
            for row in output(command, operation, "--on", networks, "--algorithm", "all", *bytes_of, *machine, *more):
                known = listed.get(key_of(row, "options"))
                if known is not None:  # list has the cheapest options
                    yield f"{machine} {operation} {row['topology']} {row['algorithm']}", known, row

    def test_check_counts_what_list_prints(self):
        wrong, compared = [], 0
        for title, known, row in self.each_operation(NETWORKS, "check", "--prove-up-to", "0"):
            wrong += [f"{title}: {text}" for text in against_check(known, row)]
            compared += 1
        self.assertGreater(compared, 300)
        self.report(wrong)

    def test_run_and_replay_print_what_list_prints(self):
        wrong, compared = [], 0
        for title, known, row in self.each_operation(SMALL, "run", "--executor", "fibers", "--iterations", "1", "--warmup", "0", "--no-verify"):
            wrong += [f"{title}: {text}" for text in differences(known, row, COUNTS)]
            compared += 1
        for title, known, row in self.each_operation(SMALL, "replay", "--messages", "off"):
            if not near(known["model_time_us"], row["formula_us"]):
                wrong.append(f"{title}: formula {row['formula_us']}, list has {known['model_time_us']}")
            compared += 1
        self.assertGreater(compared, 300)
        self.report(wrong)

    def test_a_page_has_what_list_prints(self):
        wrong, compared = [], 0
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.html")
            for at, operation in enumerate(self.operations):
                machine = self.machines[at % len(self.machines)]
                listed = self.listed[tuple(machine)]
                for network in ("torus:4x4", "mesh:3x5"):
                    algorithms = sorted({key[2] for key in listed if key[:2] == (operation, network)})
                    bytes_of = [] if operation == "barrier" else ["--bytes", str(BYTES)]
                    for first in range(0, len(algorithms), 4):  # a page has up to four
                        names = ",".join(algorithms[first:first + 4])
                        subprocess.run([PROGRAM, "draw", operation, "--on", network, "--algorithm", names, *bytes_of, *machine, "--html", page, "--quiet"], check=True)
                        for row in (play["check"] for play in data_of(page)["plays"]):
                            known = listed.get(key_of(row, "options"))
                            if known is not None:
                                wrong += [f"{machine} {operation} {network} {row['algorithm']}: {text}" for text in against_check(known, row)]
                                compared += 1
        self.assertGreater(compared, 100)
        self.report(wrong)

    def test_compare_prints_what_list_prints(self):
        wrong = []
        for machine in self.machines:
            listed = self.listed[tuple(machine)]
            [compared] = output("compare", "allreduce", "--on", "torus:8x8", "--algorithm", "recursive-doubling,mesh,reduce-broadcast", "--bytes", str(BYTES), *machine)
            for call in compared["sizes"][0]["calls"]:
                row = listed.get(("allreduce", "torus:8x8", call["algorithm"], json.dumps(call["options"], sort_keys=True)))
                if row is not None:
                    wrong += [f"{machine} {call['algorithm']}: {text}" for text in differences(row, call, COUNTS)]
        self.report(wrong)


class Golden(unittest.TestCase):
    """Times worked out by hand, in picoseconds, and the start-ups and hops behind them."""

    CALLS = (
        ("alltoall", "torus:8x8", "suh-torus", "1K", "t3d", (), 6, 14, 7408055462),
        ("allreduce", "torus:8x8", "mesh", "1K", "tpu-v4", (), 6, 14, 14154968),
        ("barrier", "ring:8", "dissemination", "1K", "tpu-v4", (), 3, 7, 7034134),
        ("alltoall", "torus:4x4", "shift", "1K", None, (), 15, 38, 174591000),
        ("allgather", "torus:4x4", "mesh", "64K", "bluegene-q", (), 6, 6, 558032160),
        ("allreduce", "ring:16", "reduce-scatter-allgather:pattern=ring", "1K", None, (), 30, 30, 302430000),
        ("allreduce", "ring:16", "reduce-scatter-allgather:pattern=ring", "1K", None, ("--operator", "compose"), 30, 30, 303358000),
        ("allreduce", "torus:4x4x4", "swing:form=latency", "64", None, (), 6, 6, 60582000),
    )

    def test_times(self):
        for operation, network, algorithm, size, machine, more, startups, hops, ps in self.CALLS:
            with self.subTest(operation=operation, network=network, algorithm=algorithm, machine=machine):
                profile = ["--machine", machine] if machine else []
                rows = output("list", operation, "--on", network, "--algorithm", algorithm, "--bytes", size, *profile, *more)
                [row] = [row for row in rows if row["admitted"]]
                self.assertEqual((row["predicted"]["startups"], row["predicted"]["hops"]), (startups, hops))
                self.assertAlmostEqual(row["model_time_us"] * 1e6, ps, delta=0.5)


class Comparer(unittest.TestCase):
    """The comparison finds a change of any number: each is a mutant of its formula."""

    ALGORITHM, MACHINE, LIMIT = "reduce-scatter-allgather", [], "ports"

    def setUp(self):
        rows = [row for row in output("list", "allreduce", "--on", "torus:4x4", "--bytes", str(BYTES), "--algorithm", self.ALGORITHM, *self.MACHINE) if row["admitted"]]
        self.row = rows[0]
        self.assertEqual(self.row["model_limited_by"], self.LIMIT)

    def mutants(self):
        for name in COUNTS:
            mutant = copy.deepcopy(self.row)
            mutant["predicted"][name] = (mutant["predicted"][name] or 0) + 1
            yield name, mutant
        mutant = copy.deepcopy(self.row)
        mutant["model_time_us"] *= 1 + 1e-6
        yield "model_time_us", mutant

    def test_between_two_commands(self):
        self.assertEqual(differences(self.row, self.row, COUNTS), [])
        for name, mutant in self.mutants():
            self.assertIn(name, " ".join(differences(self.row, mutant, COUNTS)))

    def test_against_the_closed_form(self):
        self.assertEqual(wrong_in(self.row), [])
        for name, mutant in self.mutants():
            deciding = {"ports": "transmission_blocks", "link": "link_blocks", "bus": "injected_blocks"}
            others = set(deciding.values()) - {deciding[self.LIMIT]} | (set() if self.LIMIT == "ports" else {"hops"})
            if name in others:
                continue  # the other branch decides
            self.assertNotEqual(wrong_in(mutant), [], name)

    def test_against_check(self):
        name = self.row["algorithm"]
        options = "".join(f":{key}={value}" for key, value in self.row["chosen_options"].items())
        [checked] = output("check", "allreduce", "--on", "torus:4x4", "--algorithm", name + options, "--bytes", str(BYTES), *self.MACHINE)
        self.assertEqual(against_check(self.row, checked), [])
        for changed, mutant in self.mutants():
            self.assertIn(changed, " ".join(against_check(mutant, checked)))


class ComparerOfBuses(Comparer):
    """The same where a node's bus decides."""

    ALGORITHM, MACHINE, LIMIT = "all-port", ["--machine", "bluegene-l", "--ports", "all"], "bus"

    def test_vector(self):
        [row] = [row for row in output("list", "allreduce", "--on", "torus:4x4x4", "--bytes", "1M", "--algorithm", self.ALGORITHM, *self.MACHINE, "--tc", "0") if row["admitted"]]
        self.assertAlmostEqual(row["model_time_us"], 3407.6294, delta=0.0001)
        [checked] = output("check", "allreduce", "--on", "torus:4x4x4", "--bytes", "1M", "--algorithm", self.ALGORITHM, *self.MACHINE, "--tc", "0")
        self.assertEqual(checked["time_lockstep_us"]["total"], row["model_time_us"])


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
