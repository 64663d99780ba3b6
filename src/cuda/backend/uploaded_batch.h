// A batch's program on a device, in one array.
#pragma once

#include <cstring>
#include <vector>

#include "cuda/device_array.h"
#include "device/batch/batch_program.h"
#include "kernels/cuda/batch.h"

namespace qsim::cuda {

class UploadedBatch {
 public:
  UploadedBatch(const BatchProgram& program, const Stream& stream)
      : memory_(room(program.ops) + room(program.factors) + room(program.sums) + room(program.terms) +
                room(program.matrices)) {
    std::vector<std::byte> packed(memory_.bytes());
    std::byte* end = packed.data();
    const auto add = [&](const auto& values) {
      const std::byte* const place = memory_.get() + (end - packed.data());
      if (!values.empty()) std::memcpy(end, values.data(), values.size() * sizeof(values.front()));
      end += room(values);
      return place;
    };
    arrays_.ops = reinterpret_cast<const BatchOp*>(add(program.ops));
    arrays_.factors = reinterpret_cast<const BatchFactor*>(add(program.factors));
    arrays_.sums = reinterpret_cast<const BatchSum*>(add(program.sums));
    arrays_.terms = reinterpret_cast<const BatchTerm*>(add(program.terms));
    arrays_.matrices = reinterpret_cast<const double2*>(add(program.matrices));
    arrays_.start = {program.start.real(), program.start.imag()};
    arrays_.qubits = program.qubits;
    arrays_.parameters = program.parameters;
    arrays_.op_count = static_cast<std::uint32_t>(program.ops.size());
    arrays_.start_sum = program.start_sum;
    memory_.upload(packed.data(), packed.size(), stream);
    check(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize before a batch");
  }

  const BatchArrays& arrays() const { return arrays_; }

 private:
  /// Each array begins where a double2 may.
  template <typename Value>
  static std::size_t room(const std::vector<Value>& values) {
    return (values.size() * sizeof(Value) + sizeof(double2) - 1) / sizeof(double2) * sizeof(double2);
  }

  const DeviceArray<std::byte> memory_;
  BatchArrays arrays_;
};

}  // namespace qsim::cuda
