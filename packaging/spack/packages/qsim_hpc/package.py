# Recipe of qsim for Spack 1.0 and later:
#   spack repo add packaging/spack
#   spack dev-build qsim-hpc@0.1.0            (in the top folder; `+cuda cuda_arch=90` for GPUs)
from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class QsimHpc(CMakePackage, CudaPackage):
    """Distributed state-vector simulator of quantum circuits."""

    license("Apache-2.0")

    version("0.1.0")

    variant("mpi", default=True, description="Ranks as MPI processes")
    variant("nccl", default=True, when="+cuda", description="Exchanges between GPUs by NCCL")
    variant("shared", default=True, description="The shared library as well as the static one")

    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("ninja", type="build")
    depends_on("cli11@2:", type="build")
    depends_on("fmt@9:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("random123@1.14:", type="build")
    depends_on("xxhash@0.8:", type="build")
    depends_on("googletest", type="test")
    depends_on("mpi", when="+mpi")
    depends_on("cuda@12:", when="+cuda")
    depends_on("nccl", when="+nccl")

    conflicts("%gcc@:11", msg="C++20 as g++ 12 has it")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPU's architecture: cuda_arch=90")

    generator("ninja")

    def cmake_args(self):
        arguments = [
            self.define_from_variant("QSIM_MPI", "mpi"),
            self.define_from_variant("QSIM_CUDA", "cuda"),
            self.define("QSIM_NCCL", self.spec.satisfies("+cuda+nccl")),
            self.define_from_variant("QSIM_SHARED_LIBRARY", "shared"),
            self.define("QSIM_TESTS", self.run_tests),
            self.define("QSIM_UNITY", True),
        ]
        if self.spec.satisfies("+cuda"):
            architectures = self.spec.variants["cuda_arch"].value
            arguments.append(self.define("CMAKE_CUDA_ARCHITECTURES", ";".join(architectures)))
        return arguments
