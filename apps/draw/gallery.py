#!/usr/bin/env python3
"""Makes the gallery, a static site of all algorithms, with the program itself.

    gallery.py PROGRAM FOLDER         the site: FOLDER/index.html; no server, links are relative
    gallery.py PROGRAM FOLDER ONLY    only parts that match this pattern: "alltoall/shift", "paper/kim", "network/ring:12"
    gallery.py PROGRAM --docs DOCS    the pictures of DOCS/gallery.md, and DOCS/pictures/race.svg

SPDX-License-Identifier: Apache-2.0
"""
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import race

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FAMILIES = ["torus", "mesh", "ring, line", "hypercube", "tree", "product", "any graph"]
# Networks to try first, by words in an algorithm's name or needs; then all others.
TYPICAL = [
    (r"suh-torus|kim|tseng-diagonal", ["torus:8x8"]),
    (r"wang-tseng|park|squeeze|peel|plan", ["torus:5x5", "torus:6x6"]),
    (r"quad|umesh", ["torus:8x8", "mesh:4x4"]),
    (r"product", ["ring:4*line:3*complete:5", "torus:4x4"]),
    (r"suh-mesh", ["mesh:6x4"]),
    (r"quadrant|cyclic|scott", ["mesh:4x4", "mesh:8x8"]),
    (r"hypercube|doubling", ["hypercube:4"]),
    (r"mesh", ["mesh:4x4"]),
    (r"tree|binomial", ["tree:8"]),
    (r"ring", ["ring:12"]),
    (r"bruck|dissemination", ["ccc:3", "petersen"]),
    (r"halving|split|scatter|pipelined|unit", ["ring:16", "hypercube:4"]),
    (r"shift|direct|naive", ["petersen"]),
]
OTHERS = ["torus:4x4", "hypercube:4", "ring:12", "mesh:4x4", "tree:8", "line:8", "complete:8", "torus:8x8", "ring:4*line:3", "ring:16"]
NETWORKS = ["line:8", "ring:12", "mesh:6x4", "torus:6x6", "torus:4x4x4", "hypercube:4", "hypercube:6", "complete:7", "ghc:4x3", "tree:8", "star:8", "petersen",
            "ccc:3", "butterfly:3", "star-graph:4", "bubble-sort:4", "circulant:12+1+3", "ring:4*line:3*complete:5"]
PAPERS = [("kim", "Complete exchange on tori: Kim et al."), ("suh", "Complete exchange on meshes: Suh, Shin, Yalamanchili"),
          ("dimakopoulos", "Total exchange in products: Dimakopoulos, Dimopoulos"), ("wang-tseng", "Broadcast on tori: Wang, Tseng")]
STILLS = [  # name, operation, network, algorithm, step, what it shows
    ("torus", "alltoall", "torus:8x8", "suh-torus", 2, "Suh and Shin's all-to-all on a torus. In this step, every node exchanges blocks with a node two hops away: half of the nodes along one dimension, half along the other. No link carries two messages."),
    ("mesh", "alltoall", "mesh:6x4", "suh-mesh", 1, "An all-to-all on a mesh. The messages travel around rings of every second node. They pass through the nodes in between without stopping, and the picture draws them beneath these nodes."),
    ("hypercube", "alltoall", "hypercube:4", "hypercube-pairwise", 5, "An all-to-all on a hypercube. Each pair of nodes exchanges blocks once. Messages are routed dimension by dimension (e-cube)."),
    ("product", "alltoall", "ring:4*line:3*complete:5", "product", 3, "An all-to-all on the product of a ring, a line and a complete graph. The blocks move along one dimension after another."),
    ("broadcast", "broadcast", "torus:5x5", "wang-tseng", 1, "Wang and Tseng's broadcast on an all-port torus. A node sends on all of its links at once."),
    ("contention", "allgather", "ccc:3", "bruck", 2, "Bruck's algorithm runs on any graph. Colours from orange to dark red show how many messages share a link."),
]


class Gallery:
    def __init__(self, program):
        self.program = str(Path(program).resolve())
        # Pictures show their command with the program's name, not its path.
        self.env = {**os.environ, "PATH": str(Path(self.program).parent) + os.pathsep + os.environ.get("PATH", "")}

    def run(self, *arguments, folder=None, check=True):
        done = subprocess.run(["wormcube", *map(str, arguments)], env=self.env, cwd=folder, capture_output=True, text=True)
        if check and done.returncode not in (0, 1):
            sys.exit(f"gallery: wormcube {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done

    def json(self, *arguments):
        return json.loads(self.run(*arguments, "--json", "-").stdout)


def networks_for(algorithm):
    found = []
    for pattern, networks in TYPICAL:
        if re.search(pattern, algorithm):
            found += networks
    return list(dict.fromkeys(found + OTHERS))


def family(network):
    if "*" in network:
        return "product"
    shape = network.split(":")[0]
    return {"ring": "ring, line", "line": "ring, line"}.get(shape, shape if shape in FAMILIES else "any graph")


def source_file(operation, algorithm):
    """The file that registers the algorithm: it names the algorithm and its operation. Prefers the operation's folder."""
    name, of = re.compile(r'\.name = "%s"' % re.escape(algorithm)), re.compile(r"operations::%s\b" % operation)
    files = []
    for file in sorted((ROOT / "collectives").rglob("*.cpp")):
        text = file.read_text(encoding="utf-8")
        if name.search(text) and (of.search(text) or f"{operation}_by<" in text):
            files.append(file)
    files.sort(key=lambda file: file.parent.name != operation)
    return files[0].relative_to(ROOT).as_posix() if files else None


def page(title, body, script=""):
    style = (HERE / "bundle" / "page.css").read_text(encoding="utf-8")
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><title>{html.escape(title)}</title><style>{style}</style></head>
<body><main class="gallery">{body}</main>{f'<script>{script}</script>' if script else ''}</body></html>
"""


def colours():
    """The style sheet's light and dark colours, for a picture in its own file."""
    style = (HERE / "bundle" / "page.css").read_text(encoding="utf-8")
    light, dark = ([*dict.fromkeys(re.findall(r"--[\w-]+: ?#[0-9a-f]{3,6}", rule))] for rule in re.findall(r"\{([^{}]*--dim-0[^{}]*)\}", style)[:2])
    return light, dark


def alone(svg):
    """A themed picture with the colours that it uses: an img element cannot use those of its page."""
    used = set(re.findall(r"var\((--[\w-]+)\)", svg))
    light, dark = (";".join(token for token in tokens if token.split(":")[0] in used) for tokens in colours())
    style = f"<style>:root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}</style>"
    return svg.replace("<title>", style + "<title>", 1)


def themed(svg):
    """A plot for print with the page's colours instead of the light ones. White stands for the background first."""
    light, _ = colours()
    tokens = {}
    for token in light:
        name, value = token.replace(" ", "").split(":")
        if re.fullmatch(r"--(bg|panel|ink|mute|faint|line|line-\d)", name):
            tokens.setdefault(value, name)
    return re.sub(r'"(#[0-9a-f]{6})"', lambda found: f'"var({tokens[found[1]]})"' if found[1] in tokens else found[0], svg)


class Site(Gallery):
    def __init__(self, program, folder, only=""):
        super().__init__(program)
        self.folder, self.only = Path(folder), re.compile(only)
        shutil.rmtree(self.folder, ignore_errors=True)
        for folder in ("players", "pictures"):
            (self.folder / folder).mkdir(parents=True)

    def card(self, row):
        """Draws one algorithm on the first network that admits it."""
        operation, algorithm = row["operation"], row["algorithm"]
        name = f"{operation}-{algorithm}"
        for network in networks_for(algorithm):
            picture = self.folder / "pictures" / f"{name}.svg"
            player = self.folder / "players" / f"{name}.html"
            steps = self.folder / "pictures" / f"{name}-steps.svg"
            call = (operation, "--on", network, "--algorithm", algorithm)
            if operation in ("k_broadcast", "k_alltoall", "k_reduce", "k_gather"):
                call += ("--sources", "2")
            done = self.run("draw", *call, "--html", player, "--thumbnail", picture, "--svg", steps, "--quiet", check=False)
            if done.returncode in (0, 1):
                check = self.json("check", *call)
                picture.write_text(alone(picture.read_text(encoding="utf-8")), encoding="utf-8")
                return {"row": row, "network": network, "name": name, "check": check, "picture": self.img(picture, f"{operation} on {network}, {algorithm}"), "call": call}
        print(f"gallery: no network of {len(networks_for(algorithm))} for {name}", file=sys.stderr)
        return None

    def img(self, picture, text):
        return f'<img src="pictures/{quote(picture.name)}" alt="{html.escape(text)}" loading="lazy" width="264" height="176">'

    def facts(self, check):
        load = check["link_load_max"]
        contention = '<span class="ok">no contention</span>' if load <= 1 else f'<span class="warn">load {load}</span>'
        startups, blocks = check["startups"], check["transmission_blocks"]
        return f"{startups} start-up{'s' if startups != 1 else ''} · {blocks:g} block{'s' if blocks != 1 else ''} · {contention}"

    def model_plot(self, card):
        """The modelled times of the algorithm and of up to five others with the same ports."""
        rows = self.json("list", card["row"]["operation"], "--on", card["network"], "--bytes", "8..64K")
        known = [r for r in rows if r.get("admitted") and r.get("model_time_us") is not None and r["ports"] == card["row"]["ports"]]
        at = {r["algorithm"]: r["model_time_us"] for r in known if r["block_bytes"] == 1024}
        own = card["row"]["algorithm"]
        if own not in at:
            return ""
        names = [own] + [name for name in sorted(at, key=at.get) if name != own][:5]
        results = self.folder / f"{card['name']}.json"
        results.write_text(json.dumps([r for name in names for r in known if r["algorithm"] == name]), encoding="utf-8")
        return self.plots(results)

    def algorithm_page(self, card):
        row, check, escape = card["row"], card["check"], html.escape
        source = source_file(row["operation"], row["algorithm"])
        formula = ", ".join(f"{key.replace('_', ' ')} {value:g}" for key, value in check["formulas"].items() if isinstance(value, (int, float)))
        facts = [("summary", row["summary"]), ("source", row["source"]), ("needs", "; ".join(row["needs"]) or "any network"), ("formula on this network", formula or "none"), ("ports", row["ports"])]
        if row["remark"]:
            facts.append(("remark", row["remark"]))
        table = "".join(f"<tr><th scope=row>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in facts)
        file = f'<p>Source file: <a href="../../{source}">{source}</a></p>' if source else ""
        if self.folder.resolve() != (ROOT / "build" / "gallery").resolve() and source:
            file = f"<p>Source file: {source}</p>"
        plot = self.model_plot(card)
        body = f"""<p><a href="index.html">Gallery</a></p><div class="article"><h1>{escape(row['operation'])}: {escape(row['algorithm'])}</h1>
<table>{table}</table>{file}<p class="player-link"><a href="players/{card['name']}.html">The player on {escape(card['network'])} on its own page</a>; <a href="pictures/{card['name']}-steps.svg">its steps as one picture, for print</a></p></div>
<div class="steps"><img src="pictures/{card['name']}-steps.svg" alt="{escape(row['operation'])} on {escape(card['network'])}, step by step"></div>
<iframe class="player" title="player" src="players/{card['name']}.html"></iframe>
{plot}<div class="article"><p>Made with</p><pre tabindex="0">wormcube draw {escape(' '.join(card['call']))} --html FILE</pre></div>"""
        (self.folder / f"{card['name']}.html").write_text(page(card["name"], body), encoding="utf-8")

    def plots(self, results, *options):
        """The pictures that `plot` makes from a file of results, inline."""
        with tempfile.TemporaryDirectory() as folder:
            picture = Path(folder) / "plot.svg"
            done = self.run("plot", results, "--svg", picture, *options, check=False)
            others = sorted(Path(folder).glob("plot-*.svg"), key=lambda file: int(file.stem.rsplit("-", 1)[1]))
            text = "".join(themed(file.read_text(encoding="utf-8")) for file in [picture, *others]) if done.returncode == 0 else ""
        results.unlink()
        return f'<div class="plots" tabindex="0">{text}</div>' if text else ""

    def paper_page(self, paper, title):
        results = self.folder / f"paper-{paper}.json"
        tables = self.run("reproduce", paper, "--json", results, check=False)
        if tables.returncode not in (0, 1):
            return False
        body = f"""<p><a href="index.html">Gallery</a></p><div class="article"><h1>{html.escape(title)}</h1></div>{self.plots(results)}
<div class="article"><pre tabindex="0">{html.escape(tables.stdout)}</pre><p>Made with</p><pre>wormcube reproduce {paper}</pre></div>"""
        (self.folder / f"paper-{paper}.html").write_text(page(title, body), encoding="utf-8")
        return True

    def network_card(self, network):
        facts = self.json("topology", network)
        picture = self.folder / "pictures" / f"{re.sub('[^a-z0-9]+', '-', network)}.svg"
        picture.write_text(alone(self.run("topology", network, "--thumbnail", "-").stdout), encoding="utf-8")
        diameter = facts["diameter"]
        return f"""<div class="card gallery-card" data-family="{family(network)}">{self.img(picture, network)}<div class="name">{html.escape(network)}</div>
<div class="facts">{facts["nodes"]} nodes · {facts["links"]} links{f" · diameter {diameter}" if diameter is not None else ""}</div></div>"""

    def build(self):
        rows = [row for row in self.json("list") if self.only.search(f"{row['operation']}/{row['algorithm']}")]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            cards = [card for card in pool.map(self.card, rows) if card]
            list(pool.map(self.algorithm_page, cards))
        operations = {}
        for card in cards:
            operations.setdefault(card["row"]["operation"], []).append(card)
        made = [(paper, title) for paper, title in PAPERS if self.only.search(f"paper/{paper}") and self.paper_page(paper, title)]
        networks = [self.network_card(network) for network in NETWORKS if self.only.search(f"network/{network}")]
        parts = ['<div class="gallery-head"><h1>wormcube gallery</h1><p class="below">every algorithm on a network that suits it, with its counts and proof</p></div><div class="gallery-tools">']
        for name, value in [("All", "")] + [(name, name) for name in FAMILIES]:
            parts.append(f'<button type="button" data-family-filter="{value}" aria-pressed="{"true" if value == "" else "false"}">{name}</button>')
        parts.append('<input id="find" type="search" placeholder="Find an algorithm /" aria-label="Find an algorithm"><button id="theme" type="button" aria-label="theme">◐</button></div>')
        for operation, of_operation in operations.items():
            does = of_operation[0]["row"]["operation_summary"]
            parts.append(f'<section class="operation"><h2>{operation} <small>{html.escape(does)} · {len(of_operation)} algorithm{"s" if len(of_operation) > 1 else ""}</small></h2><div class="cards">')
            for card in of_operation:
                parts.append(f'<a class="card gallery-card" data-family="{family(card["network"])}" href="{card["name"]}.html">{card["picture"]}<div class="name">{html.escape(card["row"]["algorithm"])} <span>{html.escape(card["network"])}</span></div><div class="facts">{self.facts(card["check"])}</div></a>')
            parts.append("</div></section>")
        parts.append(f'<section class="operation"><h2>Networks <small>drawn by `wormcube topology NETWORK --svg FILE`</small></h2><div class="cards">{"".join(networks)}</div></section>')
        parts.append('<section><h2>Papers</h2><ul>' + "".join(f'<li><a href="paper-{paper}.html">{html.escape(title)}</a></li>' for paper, title in made) + "</ul></section>")
        script = (HERE / "bundle" / "gallery.js").read_text(encoding="utf-8")
        (self.folder / "index.html").write_text(page("wormcube gallery", "".join(parts), script), encoding="utf-8")
        size = (self.folder / "index.html").stat().st_size
        print(f"{self.folder}/index.html: {size / 1024:.0f} KiB, {len(cards)} algorithms of {len(operations)} operations, {len(networks)} networks, {len(made)} papers")


def tutorial_plot(gallery):
    """The plot of docs/tutorial.md, without the lines about its origin."""
    with tempfile.TemporaryDirectory() as folder:
        gallery.run("replay", "allreduce", "--on", "hypercube:4", "--algorithm", "recursive-doubling,ring", "--bytes", "64..1M", "--json", "times.json", folder=folder)
        gallery.run("plot", "times.json", "--svg", "plot.svg", folder=folder)
        plot = Path(folder, "plot.svg").read_text(encoding="utf-8")
        return re.sub(r'<text[^>]*>(?:(?:\(\d\) )?wormcube \d|\d{4}-)[^<]*</text>', "", plot)


def docs(program, folder):
    gallery, folder = Gallery(program), Path(folder)
    pictures = folder / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    (pictures / "race.svg").write_text(race.picture(gallery.program), encoding="utf-8")
    text = ["# Gallery", "", "In the source folder, `./run gallery --docs` makes these pictures with `wormcube draw`. `./run gallery` builds a website with a page for",
            "every algorithm, which animates the algorithm step by step. Its start page is `build/gallery/index.html`.", "", "## allgather on torus:8x8: bruck and swing", "",
            "Both algorithms take six steps and deliver the same blocks. The messages of `bruck` share links, so it takes four times as long. A node",
            "fills as its blocks arrive. A link is blue while one message needs it, and orange to red while several do. The times come from `replay`.", "",
            "![bruck and swing race on torus:8x8](pictures/race.svg)", ""]
    for name, operation, network, algorithm, step, what in STILLS:
        call = ["draw", operation, "--on", network, "--algorithm", algorithm, "--step", str(step), "--svg", f"{name}.svg"]
        gallery.run(*call, "--quiet", folder=pictures)
        text += [f"## {operation} on {network}: {algorithm}", "", what, "", f"![{operation} on {network} by {algorithm}, step {step}](pictures/{name}.svg)", "", f"    wormcube {' '.join(call)}", ""]
    (pictures / "tutorial.svg").write_text(tutorial_plot(gallery), encoding="utf-8")
    (folder / "gallery.md").write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[2] == "--docs":
        docs(sys.argv[1], sys.argv[3])
    elif len(sys.argv) in (3, 4):
        Site(*sys.argv[1:]).build()
    else:
        sys.exit(__doc__)
