// Cost tables of other GPUs than an H200: its own, at the pace of the card's rates.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "plan/cost/machine.h"

namespace qsim {

/// What a GPU reaches at most by its clocks and widths, a second; 0: unknown.
struct GpuRates {
  double memory_bytes = 0;
  double single_operations = 0, double_operations = 0;  // multiply-adds of its vector units
  bool without_lanes = false;                           // it has no instruction for blocks on lanes (decision 0012)
  friend bool operator==(const GpuRates&, const GpuRates&) = default;
};

/// How long it takes in thousandths of an H200's time. Whole numbers, so that ranks can agree on them.
struct GpuPace {
  std::int64_t memory = 1000, in_single = 1000, in_double = 1000;
  std::int64_t without_lanes = 0;  // 1: no blocks on lanes

  /// The greater of each: what both can keep.
  GpuPace slower_of(const GpuPace& other) const;
  friend bool operator==(const GpuPace&, const GpuPace&) = default;
};

/// 1000 for what is unknown, and for rates within 4 % of an H200's.
GpuPace pace_of(const GpuRates& rates);

/// Cards whose rates are known without the driver, for `qsim plan --device`.
struct KnownGpu {
  std::string_view name;
  GpuRates rates;
  std::uint64_t memory_bytes = 0;
};
std::span<const KnownGpu> known_gpus();

/// The machine of a card that its maker calls `model` ("NVIDIA H100 80GB HBM3"): an H200, or one of known_gpus(). Cards
/// of one name may differ in their rates.
std::optional<Machine> machine_of_model(std::string_view model);

/// The machine "h200", or what it is at another pace, under the name of the GPU; "(estimated)" stands behind it where
/// no card of that pace has been measured (an H200 and an H100 have). What threads trade among themselves goes at the
/// pace of single precision. Where double is slower than half of single by more than a quarter, so are its tensor
/// cores: no blocks on lanes either.
Machine gpu_machine(const GpuPace& pace, const std::string& name);

}  // namespace qsim
