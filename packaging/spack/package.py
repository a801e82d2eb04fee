# A Spack recipe; copy it to packages/wormcube/ of a Spack repository.
# SPDX-License-Identifier: Apache-2.0
from spack.package import *


class Wormcube(CMakePackage):
    """A multicomputer on a workstation: collective algorithms on emulated wormhole networks."""

    git = "https://example.org/wormcube.git"  # the clone's address

    license("Apache-2.0")
    version("main", branch="main")

    variant("fftw", default=True, description="Build the command fft (the program is then under the GPL)")
    variant("glpk", default=False, description="Solve total exchange exactly (the program is then under the GPL)")
    variant("mpi", default=True, description="Build --executor mpi")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("fmt")
    depends_on("intel-oneapi-tbb")
    depends_on("boost@1.74: +context")
    depends_on("zlib-api")
    depends_on("cli11", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("fftw@3", when="+fftw")
    depends_on("glpk", when="+glpk")
    depends_on("mpi", when="+mpi")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("WORMCUBE_FFTW", "fftw"),
            self.define_from_variant("WORMCUBE_GLPK", "glpk"),
            self.define_from_variant("WORMCUBE_MPI", "mpi"),
            self.define("WORMCUBE_TESTS", False),
            self.define("WORMCUBE_BENCHMARKS", False),
        ]
