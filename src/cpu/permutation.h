// Sweeps that permute, over a shard in host memory.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/threads/thread_team.h"
#include "device/permutation/affine.h"
#include "device/permutation/product.h"
#include "device/permutation/program.h"
#include "kernels/cpu/permute.h"
#include "plan/plan.h"

namespace qsim::cpu {

/// `program` as the loops of cores want it.
PermuteProgram words_of(PermutationProgram program);

/// A prepared sweep that permutes.
class Permutation {
 public:
  /// `sweep` of a shard of 2^local_bits, specialised.
  Permutation(const Sweep& sweep, std::uint32_t local_bits);

  /// Moves the amplitudes of `shard` through `spare`, PoolLayout::spare_bytes of it, or writes the first ones. True:
  /// they are in `spare` now.
  template <typename T>
  bool run(std::complex<T>* shard, std::span<std::byte> spare, ThreadTeam& team) const;

 private:
  /// Of a sweep that is_affine(): the XORs of the columns of the lowest bits of a number, all that there are.
  struct Columns {
    std::array<Index, kPermuteLanes> low_to{}, low_from{};
    AffineGather gather;
  };
  static Columns columns_of(AffineGather gather);

  /// Of the first write: the products of the varying bits among those of a place from `first` on, by their value.
  static constexpr std::uint32_t kProductBits = 10;
  struct Products {
    struct Table {
      std::uint32_t first = 0;
      std::vector<Complex> entries;
    };
    ProductStart start;
    bool real = false;  // all entries are
    std::vector<Table> tables;
  };
  static Products products_of(const Sweep& sweep);
  template <typename T, typename Entry>
  void write_products(std::complex<T>* shard, ThreadTeam& team) const;

  template <typename T>
  void gather_affine(const std::complex<T>* shard, std::complex<T>* to, Index begin, Index end, Index fixed) const;
  template <typename T>
  void gather(const std::complex<T>* shard, std::complex<T>* to, Index begin, Index end, Index fixed) const;
  template <typename T>
  void spread(std::complex<T>* shard, const std::complex<T>* from, Index begin, Index end, Index fixed) const;

  Index bundle_, fixed_, unborn_, above_;
  Index whole_size_;  // of the shard, where it is one bundle; else 0
  Complex phase_;     // of every amplitude that is gathered
  PermuteProgram program_;
  std::optional<Products> products_;  // of the first write
  std::optional<Columns> affine_;
};

}  // namespace qsim::cpu
