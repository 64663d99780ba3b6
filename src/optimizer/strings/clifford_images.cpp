#include "optimizer/strings/clifford_images.h"

#include <bit>
#include <span>
#include <utility>

namespace qsim {
namespace {

using Kind = CliffordGate::Kind;

Index bit_at(Index mask, Qubit wire) { return mask >> wire & 1; }

/// G^-1 P G.
void take_before(SignedString& string, const CliffordGate& gate) {
  const auto [a, b] = gate.wires;
  const Index x = bit_at(string.x, a), z = bit_at(string.z, a);
  const auto add = [&](Index half_turns) {
    string.quarters = (string.quarters + 2 * static_cast<unsigned>(half_turns)) & 3;
  };
  switch (gate.kind) {
    case Kind::kH:
      string.x ^= (x ^ z) << a;
      string.z ^= (x ^ z) << a;
      add(x & z);
      break;
    case Kind::kS:  // X to -Y = -i X Z
      string.z ^= x << a;
      string.quarters = (string.quarters + 3 * static_cast<unsigned>(x)) & 3;
      break;
    case Kind::kCx:
      string.x ^= x << b;
      string.z ^= bit_at(string.z, b) << a;
      break;
    case Kind::kSwap:
      string.x ^= (bit_at(string.x, a) ^ bit_at(string.x, b)) * (bit_mask(a) | bit_mask(b));
      string.z ^= (bit_at(string.z, a) ^ bit_at(string.z, b)) * (bit_mask(a) | bit_mask(b));
      break;
    default:  // what reduces needs no others
      break;
  }
}

/// Takes a circuit apart from its end: gates are put before it until nothing is left but Pauli gates.
class Reducer {
 public:
  Reducer(std::vector<SignedString> x, std::vector<SignedString> z) : x_(std::move(x)), z_(std::move(z)) {}

  std::vector<CliffordGate> run() {
    Index left = x_.size() == 64 ? ~Index{0} : bit_mask(static_cast<Qubit>(x_.size())) - 1;
    while (left != 0) {
      const Qubit wire = lightest(left);
      clear(wire);
      left &= ~bit_mask(wire);
    }
    // What was put before it undoes it: the inverses, the first one first.
    for (CliffordGate& gate : gates_) {
      if (gate.kind == Kind::kS) gate.kind = Kind::kInverseS;
    }
    for (Qubit wire = 0; wire < x_.size(); ++wire) {
      if (z_[wire].is_negative()) gates_.push_back({Kind::kX, {wire, wire}});
      if (x_[wire].is_negative()) gates_.push_back({Kind::kZ, {wire, wire}});
    }
    return std::move(gates_);
  }

 private:
  Qubit lightest(Index left) const {
    Qubit best = 0;
    unsigned least = ~0u;
    for_each_bit(left, [&](unsigned wire) {
      const unsigned here = count_bits(x_[wire].wires()) + count_bits(z_[wire].wires());
      if (here < least) {
        least = here;
        best = wire;
      }
    });
    return best;
  }

  void put(Kind kind, Qubit a, Qubit b) {
    gates_.push_back({kind, {a, b}});
    for (SignedString& string : x_) take_before(string, gates_.back());
    for (SignedString& string : z_) take_before(string, gates_.back());
  }

  /// Until X and Z of the wire are what they are made of, but for their signs.
  void clear(Qubit wire) {
    const SignedString& x = x_[wire];
    const SignedString& z = z_[wire];
    for_each_bit(x.wires(), [&](unsigned w) {
      if (bit_at(x.z, w) != 0) put(bit_at(x.x, w) != 0 ? Kind::kS : Kind::kH, w, w);
    });
    if (bit_at(x.x, wire) == 0) {
      const Index both = x.x & z.wires(), among = both != 0 ? both : x.x;
      put(Kind::kSwap, static_cast<Qubit>(std::countr_zero(among)), wire);
    }
    for_each_bit(x.x & ~bit_mask(wire), [&](unsigned w) { put(Kind::kCx, wire, w); });
    // Now x is X; z does not commute with it: it is Z or Y there.
    if (bit_at(z.x, wire) != 0) {
      for (const Kind kind : {Kind::kH, Kind::kS, Kind::kH}) put(kind, wire, wire);
    }
    for_each_bit(z.wires() & ~bit_mask(wire), [&](unsigned w) {
      if (bit_at(z.x, w) == 0) return;
      if (bit_at(z.z, w) != 0) put(Kind::kS, w, w);
      put(Kind::kH, w, w);
    });
    for_each_bit(z.z & ~bit_mask(wire), [&](unsigned w) { put(Kind::kCx, w, wire); });
  }

  std::vector<SignedString> x_, z_;
  std::vector<CliffordGate> gates_;
};

}  // namespace

void append_gate(Circuit& out, const CliffordGate& gate) {
  constexpr std::array kGates{Gate::kH, Gate::kS, Gate::kSdg, Gate::kX, Gate::kZ, Gate::kX, Gate::kZ, Gate::kSwap};
  const std::span<const Qubit> both(gate.wires), first = both.first(1), second = both.last(1);
  const Gate name = kGates[static_cast<std::size_t>(gate.kind)];
  if (gate.kind == Kind::kSwap) {
    out.add_gate(name, {}, both);
  } else if (gate.kind == Kind::kCx || gate.kind == Kind::kCz) {
    out.add_gate(name, first, second);
  } else {
    out.add_gate(name, {}, first);
  }
}

CliffordImages::CliffordImages(std::uint32_t wires) {
  for (Qubit wire = 0; wire < wires; ++wire) {
    x_.push_back({bit_mask(wire), 0, 0});
    z_.push_back({0, bit_mask(wire), 0});
  }
}

SignedString CliffordImages::image(Qubit wire, unsigned letter) const {
  if (letter == 1) return x_[wire];
  if (letter == 3) return z_[wire];
  SignedString y = product(x_[wire], z_[wire]);
  y.quarters = (y.quarters + 1) & 3;
  return y;
}

void CliffordImages::append_flip(const std::array<Qubit, 2>& wires, const std::array<unsigned, 2>& letters) {
  const std::array<SignedString, 2> of{image(wires[0], letters[0]), image(wires[1], letters[1])};
  // What does not commute with the letter of its own wire meets that of the other one.
  for (unsigned k = 0; k < 2; ++k) {
    SignedString &x = x_[wires[k]], &z = z_[wires[k]];
    if (letters[k] != 1) x = product(x, of[1 - k]);
    if (letters[k] != 3) z = product(z, of[1 - k]);
  }
}

std::vector<CliffordGate> CliffordImages::circuit() const { return Reducer(x_, z_).run(); }

}  // namespace qsim
