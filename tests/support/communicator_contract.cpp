// Checks with closed-form answers on every rank.
#include "support/communicator_contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

namespace qsim::test {
namespace {

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span<const T>(values));
}
template <typename T>
std::span<std::byte> writable_bytes_of(std::vector<T>& values) {
  return std::as_writable_bytes(std::span<T>(values));
}

void check_exchange(Communicator& communicator, std::size_t count) {
  const int rank = communicator.rank();
  for (int step = 0; step < communicator.size(); ++step) {
    const int peer = rank ^ step;
    std::vector<std::uint64_t> send(count), receive(count, 7);
    for (std::size_t i = 0; i < count; ++i) send[i] = i * 1000003 + static_cast<std::uint64_t>(rank * 64 + peer);
    communicator.exchange(peer, bytes_of(send), writable_bytes_of(receive));
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(receive[i], i * 1000003 + static_cast<std::uint64_t>(peer * 64 + rank)) << "element " << i;
    }
  }
}

void check_sums(Communicator& communicator, std::size_t count) {
  const auto ranks = static_cast<std::uint64_t>(communicator.size());
  const auto rank = static_cast<std::uint64_t>(communicator.rank());
  std::vector<std::uint64_t> whole(count);
  for (std::size_t i = 0; i < count; ++i) whole[i] = (std::uint64_t{1} << 62) / ranks + i + rank;
  communicator.sum(whole);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(whole[i], (std::uint64_t{1} << 62) / ranks * ranks + i * ranks + ranks * (ranks - 1) / 2);
  }
  // Parts whose sum depends on the order: every rank must still get the same bits.
  std::vector<double> parts(count);
  for (std::size_t i = 0; i < count; ++i)
    parts[i] = std::ldexp(1.0 / static_cast<double>(i + 3), static_cast<int>(rank) * 9);
  std::vector<double> in_rank_order(count, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::uint64_t r = 0; r < ranks; ++r) {
      const double part = std::ldexp(1.0 / static_cast<double>(i + 3), static_cast<int>(r) * 9);
      in_rank_order[i] = r == 0 ? part : in_rank_order[i] + part;
    }
  }
  communicator.sum(parts);
  EXPECT_EQ(std::memcmp(parts.data(), in_rank_order.data(), count * sizeof(double)), 0) << count << " doubles";
  std::vector<std::int64_t> largest(count);
  for (std::size_t i = 0; i < count; ++i) largest[i] = static_cast<std::int64_t>(rank * (i % 3)) - 5;
  communicator.max(largest);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(largest[i], static_cast<std::int64_t>((ranks - 1) * (i % 3)) - 5);
  }
}

void check_broadcast_and_gather(Communicator& communicator, std::size_t count) {
  for (int root = 0; root < communicator.size(); ++root) {
    std::vector<int> data(count, communicator.rank() == root ? 40 + root : -1);
    communicator.broadcast(writable_bytes_of(data), root);
    ASSERT_EQ(std::count(data.begin(), data.end(), 40 + root), static_cast<std::ptrdiff_t>(count));
  }
  const std::vector<int> mine(count, communicator.rank() + 1);
  std::vector<int> all(count * static_cast<std::size_t>(communicator.size()));
  communicator.all_gather(bytes_of(mine), writable_bytes_of(all));
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<int>(i / count) + 1);
}

}  // namespace

void check_communicator(Communicator& communicator) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{5}, std::size_t{4096}, std::size_t{300001}}) {
    check_exchange(communicator, count);
    check_sums(communicator, count);
    check_broadcast_and_gather(communicator, count);
  }
  communicator.sum(std::span<double>());
  communicator.broadcast({}, 0);
  communicator.barrier();
}

}  // namespace qsim::test
