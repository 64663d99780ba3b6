#include "base/hash.h"

#include <xxhash.h>

#include <bit>
#include <cstring>

namespace qsim {

std::uint64_t xxh3(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

namespace {

class SipState {
 public:
  explicit SipState(const std::array<std::uint64_t, 2>& key)
      : v_{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d ^ 0xee, key[0] ^ 0x6c7967656e657261,
           key[1] ^ 0x7465646279746573} {}
  void add(std::uint64_t word) {
    v_[3] ^= word;
    rounds(2);
    v_[0] ^= word;
  }
  /// The next half of the digest; `mark` goes into word `place` first.
  std::uint64_t finish(std::size_t place, std::uint64_t mark) {
    v_[place] ^= mark;
    rounds(4);
    return v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
  }

 private:
  void mix(std::size_t a, std::size_t b, int turn) {
    v_[a] += v_[b];
    v_[b] = std::rotl(v_[b], turn) ^ v_[a];
  }
  void rounds(int count) {
    for (; count > 0; --count) {
      mix(0, 1, 13);
      v_[0] = std::rotl(v_[0], 32);
      mix(2, 3, 16);
      mix(0, 3, 21);
      mix(2, 1, 17);
      v_[2] = std::rotl(v_[2], 32);
    }
  }
  std::array<std::uint64_t, 4> v_;
};

}  // namespace

std::array<std::uint64_t, 2> keyed_digest(const std::array<std::uint64_t, 2>& key, std::string_view text) {
  SipState state(key);
  const std::uint64_t length = text.size();
  for (; text.size() >= 8; text.remove_prefix(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), 8);
    state.add(word);
  }
  std::uint64_t last = length << 56;
  for (std::size_t i = 0; i < text.size(); ++i) last |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
  state.add(last);
  const std::uint64_t first = state.finish(2, 0xee);
  return {first, state.finish(1, 0xdd)};
}

}  // namespace qsim
