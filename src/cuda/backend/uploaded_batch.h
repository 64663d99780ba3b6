// A batch's program on a device.
#pragma once

#include "cuda/device_array.h"
#include "device/batch_program.h"
#include "kernels/cuda/batch.h"

namespace qsim::cuda {

class UploadedBatch {
 public:
  UploadedBatch(const BatchProgram& program, const Stream& stream)
      : program_(program),
        ops_(program.ops.size()),
        factors_(program.factors.size()),
        sums_(program.sums.size()),
        terms_(program.terms.size()),
        matrices_(program.matrices.size()) {
    const auto upload = [&stream](const auto& array, const auto& from) {
      array.upload(from.data(), from.size() * sizeof(from.front()), stream);
    };
    upload(ops_, program.ops);
    upload(factors_, program.factors);
    upload(sums_, program.sums);
    upload(terms_, program.terms);
    upload(matrices_, program.matrices);
    check(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize before a batch");
  }

  BatchArrays arrays() const {
    BatchArrays arrays;
    arrays.ops = ops_.get();
    arrays.factors = factors_.get();
    arrays.sums = sums_.get();
    arrays.terms = terms_.get();
    arrays.matrices = matrices_.get();
    arrays.start = {program_.start.real(), program_.start.imag()};
    arrays.qubits = program_.qubits;
    arrays.parameters = program_.parameters;
    arrays.op_count = static_cast<std::uint32_t>(program_.ops.size());
    arrays.start_sum = program_.start_sum;
    return arrays;
  }

 private:
  const BatchProgram& program_;
  DeviceArray<BatchOp> ops_;
  DeviceArray<BatchFactor> factors_;
  DeviceArray<BatchSum> sums_;
  DeviceArray<BatchTerm> terms_;
  DeviceArray<double2> matrices_;
};

}  // namespace qsim::cuda
