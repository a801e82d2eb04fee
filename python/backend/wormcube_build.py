"""The build backend of the package (PEP 517): wheels are zip files, so the standard library makes them."""
# SPDX-License-Identifier: Apache-2.0
import base64
import hashlib
import io
import pathlib
import re
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = HERE / "wormcube"


def version():
    """The package's version, which is the program's."""
    return re.search(r'__version__ = "([^"]+)"', (PACKAGE / "version.py").read_text(encoding="utf-8")).group(1)


def metadata():
    """The core metadata of the package."""
    return (f"Metadata-Version: 2.1\nName: wormcube\nVersion: {version()}\nLicense: Apache-2.0\nRequires-Python: >=3.9\n"
            "Summary: Collective algorithms: the program wormcube as functions, node programs as generators\n"
            "Description-Content-Type: text/markdown\n\n" + (HERE / "README.md").read_text(encoding="utf-8"))


def sources():
    """The package's files, by their names in the wheel."""
    return {f"wormcube/{path.relative_to(PACKAGE)}": path.read_bytes() for path in sorted(PACKAGE.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts}


def write_wheel(folder, files):
    """A wheel with these files, its name."""
    name = f"wormcube-{version()}-py3-none-any.whl"
    info = f"wormcube-{version()}.dist-info"
    files = {**files, f"{info}/METADATA": metadata().encode(),
             f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: wormcube_build\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = []
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}\n")
        wheel.writestr(f"{info}/RECORD", "".join(record) + f"{info}/RECORD,,\n")
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The wheel; it remembers the checkout that it was built in, whose program it runs."""
    files = sources()
    if (HERE.parent / "CMakeLists.txt").is_file():
        files["wormcube/checkout.txt"] = f"{HERE.parent}\n".encode()
    return write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """A wheel that leads to this folder."""
    return write_wheel(wheel_directory, {"wormcube.pth": f"{HERE}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    """The archive of the sources."""
    top = f"wormcube-{version()}"
    name = top + ".tar.gz"
    with tarfile.open(pathlib.Path(sdist_directory) / name, "w:gz") as archive:
        for path in [HERE / "pyproject.toml", HERE / "README.md", *sorted((HERE / "backend").glob("*.py")), *sorted(PACKAGE.rglob("*"))]:
            if path.is_file() and "__pycache__" not in path.parts:
                archive.add(path, f"{top}/{path.relative_to(HERE)}")
        data = metadata().encode()
        entry = tarfile.TarInfo(f"{top}/PKG-INFO")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return name


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel
