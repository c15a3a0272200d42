# SPDX-License-Identifier: BSD-3-Clause
"""Recipe for Spack: put it into a repository of yours as packages/vireo/package.py, and write where the sources lie.

MPI-IO is ROMIO's, out of the source package that subprojects/mpich.wrap names. tools/get_romio.py takes it from
subprojects/packagefiles/ of the sources, or by apt-get; where it cannot, the build ends with a line that says so.
"""
from spack.package import *


class Vireo(MesonPackage):
    """Vireo MPI, an MPI library and launcher whose native binary interface is the standard one of MPI-5.0."""

    homepage = "file:///path/to/vireo"
    git = "file:///path/to/vireo"

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("ofi", default=True, description="Use fabrics through libfabric")

    variant("romio", default=True, description="Have MPI-IO, by ROMIO")

    provides("mpi@:5.0")

    depends_on("c", type="build")
    depends_on("meson@1.0:", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("uthash", type="build")
    depends_on("libuv")
    depends_on("hwloc")
    depends_on("jansson")
    depends_on("libfabric", when="+ofi")

    @run_before("meson")
    def obtain_romio(self):
        if self.spec.satisfies("+romio"):
            which("python3", required=True)("tools/get_romio.py", ".")

    def meson_args(self):
        romio = "enabled" if self.spec.satisfies("+romio") else "disabled"
        return ["-Dtests=false", "-Dwerror=false", f"-Dromio={romio}"]

    def setup_dependent_build_environment(self, env, dependent_spec):
        env.set("VIREO_CC", spack_cc)
        env.set("VIREO_CXX", spack_cxx)
        env.set("VIREO_FC", spack_fc)

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = self.prefix.bin.mpicc
        self.spec.mpicxx = self.prefix.bin.mpicxx
        self.spec.mpifc = self.prefix.bin.mpifort
        self.spec.mpif77 = self.prefix.bin.mpif77
