// What goes through shared memory: moves between epochs, and dense matrices of more targets than registers hold.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "cuda/generate/generate_text.h"

namespace qsim::cuda {

std::string KernelText::thread_address(const std::vector<Coordinate>& columns) const {
  std::string text;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == 0) continue;
    text += fmt::format("{}bit(t, {}, {}u)", text.empty() ? "" : " ^ ", i, columns[i] * amplitude_bytes_);
  }
  return text.empty() ? "0u" : text;
}

std::uint32_t KernelText::slot_address(const std::vector<Coordinate>& columns, std::uint32_t j) const {
  std::uint32_t sum = 0;
  for (std::size_t s = 0; s < columns.size(); ++s) {
    if (j >> s & 1) sum ^= columns[s] * amplitude_bytes_;
  }
  return sum;
}

std::uint32_t KernelText::address_bits(const std::vector<Coordinate>& columns) const {
  return std::accumulate(columns.begin(), columns.end(), 0u, std::bit_or<>()) * amplitude_bytes_;
}

std::vector<std::string> KernelText::tile_places(const std::string& address, std::uint32_t taken,
                                                 const std::vector<Coordinate>& slots) {
  std::map<std::uint32_t, std::string> shared;
  std::vector<std::string> places;
  for (std::uint32_t j = 0; j < registers_; ++j) {
    const std::uint32_t all = slot_address(slots, j), common = all & taken;
    const auto [found, is_new] = shared.try_emplace(common, fmt::format("{}_{}", address, common));
    if (is_new) line(fmt::format("char* const {} = tile + ({} ^ {}u);", found->second, address, common));
    places.push_back(fmt::format("*(C*)({} + {}u)", found->second, all & ~taken));
  }
  return places;
}

void KernelText::write_tile(const std::vector<std::string>& places, bool own_places, bool within_warp) {
  if (tile_read_ && (others_read_ || !own_places)) line("__syncthreads();");
  for (std::uint32_t j = 0; j < registers_; ++j) line(fmt::format("{} = {};", places[j], a(j)));
  line(fmt::format("{};", within_warp ? "__syncwarp()" : "__syncthreads()"));
  tile_read_ = true;
  others_read_ = false;
}

void KernelText::regroup(const Regroup& columns) {
  line(fmt::format("{{ u32 w = ({}) ^ {}u;", thread_address(columns.write_thread), columns.offset * amplitude_bytes_));
  std::uint32_t taken = address_bits(columns.write_thread) | columns.offset * amplitude_bytes_;
  for (const auto& [guard, offset] : columns.guarded) {
    const std::string mask = int_arg(guard.mask);
    line(fmt::format("if ((base & {}) == {}) w ^= {}u;", mask, int_arg(guard.value), offset * amplitude_bytes_));
    taken |= offset * amplitude_bytes_;
  }
  write_tile(tile_places("w", taken, columns.write_slot), columns.own_places, columns.within_warp);
  reset_names();
  line(fmt::format("u32 r = {};", thread_address(columns.read_thread)));
  const std::vector<std::string> places = tile_places("r", address_bits(columns.read_thread), columns.read_slot);
  for (std::uint32_t j = 0; j < registers_; ++j) line(fmt::format("a{} = {};", j, places[j]));
  line("}");
}

std::vector<std::uint8_t> KernelText::column_coordinates(const TileOp& op) const {
  std::vector<std::uint8_t> free, chosen;
  for (std::uint8_t i = 0; i < program_.bits; ++i) {
    if (std::find(op.targets.begin(), op.targets.end(), i) == op.targets.end()) free.push_back(i);
  }
  const auto bank = [&](std::uint8_t i) { return static_cast<Coordinate>(program_.bank[i]); };
  const auto choose = [&](const std::vector<Coordinate>& others) {
    auto best = free.begin();
    for (auto it = free.begin(); it != free.end(); ++it) {
      std::vector<Coordinate> banks = others;
      banks.push_back(bank(*it));
      if (!independent(banks)) continue;
      best = it;
      break;
    }
    chosen.push_back(*best);
    free.erase(best);
  };
  choose({bank(op.targets[0]), bank(op.targets[1])});
  choose({bank(op.targets[0])});
  choose({bank(op.targets[0]), bank(chosen[1])});
  chosen.insert(chosen.end(), free.begin(), free.end());
  return chosen;
}

void KernelText::tensor_matrix(const TileOp& op) {
  has_wide_matrices_ = true;
  const std::vector<Coordinate> address = place_columns(program_);
  const std::vector<std::uint8_t> columns = column_coordinates(op);
  const std::size_t order = std::size_t{1} << op.targets.size();
  const auto place = [&](std::uint8_t i) { return address[i] * amplitude_bytes_; };
  std::vector<Coordinate> thread_columns, slot_columns;
  for (const std::uint8_t i : epoch_->thread) thread_columns.push_back(address[i]);
  for (const std::uint8_t i : epoch_->reg) slot_columns.push_back(address[i]);
  line(fmt::format("{{ u32 w = {};", thread_address(thread_columns)));
  const std::vector<std::string> homes = tile_places("w", address_bits(thread_columns), slot_columns);
  write_tile(homes, true, false);
  const auto warp_bits = static_cast<std::size_t>(program_.thread_bits()) - 5;
  std::string warp;
  for (std::size_t b = 0; b < warp_bits; ++b) warp += fmt::format(" ^ bit(t, {}, {}u)", 5 + b, place(columns[3 + b]));
  line(fmt::format(
      "const u32 from = bit(t, 0, {}u) ^ bit(t, 1, {}u) ^ bit(t, 2, {}u) ^ bit(t, 3, {}u) ^ bit(t, 4, {}u){};",
      place(op.targets[0]), place(op.targets[1]), place(columns[0]), place(columns[1]), place(columns[2]), warp));
  line(fmt::format(
      "const u32 to = bit(t, 2, {}u) ^ bit(t, 3, {}u) ^ bit(t, 4, {}u) ^ bit(t, 0, {}u) ^ bit(t, 1, {}u){};",
      place(op.targets[0]), place(op.targets[1]), place(op.targets[2]), place(columns[1]), place(columns[2]), warp));
  line(fmt::format("const C* const m = p.dense + {} + (t >> 2 & 7u) * {} + (t & 3u);", dense_used_, order));
  dense_used_ += op.matrix.size();
  const std::size_t set_bits = columns.size() - 3 - warp_bits;
  line("#pragma unroll 1");
  line(fmt::format("for (u32 s = 0; s < {}; ++s) {{ u32 set = 0;", 1u << set_bits));
  for (std::size_t b = 0; b < set_bits; ++b)
    line(fmt::format("set ^= bit(s, {}, {}u);", b, place(columns[3 + warp_bits + b])));
  fragments(op, address, order);
  line("__syncwarp();");
  store_fragments(op, address, columns, warp_bits);
  line("}\n__syncthreads();");
  for (std::uint32_t j = 0; j < registers_; ++j) line(fmt::format("{} = {};", a(j), homes[j]));
  line("}");
  others_read_ = true;  // of a thread's places; what follows need not know that the block has met since
}

std::uint32_t KernelText::row_place(const TileOp& op, const std::vector<Coordinate>& address, std::size_t row) const {
  std::uint32_t sum = 0;
  for (std::size_t b = 0; b < op.targets.size(); ++b) {
    if (row >> b & 1) sum ^= address[op.targets[b]] * amplitude_bytes_;
  }
  return sum;
}

void KernelText::fragments(const TileOp& op, const std::vector<Coordinate>& address, std::size_t order) {
  for (std::size_t r = 0; r < order / 8; ++r) line(fmt::format("double u{0} = 0, v{0} = 0, x{0} = 0, y{0} = 0;", r));
  // Eight rows at a time: more of the loop at once would ask for more registers than there are.
  line("#pragma unroll 1");
  line(fmt::format("for (u32 q = 0; q < {}; ++q) {{ const C* const n = m + 8 * q; u32 rows = from ^ set;", order / 8));
  for (std::size_t b = 3; b < op.targets.size(); ++b) {
    line(fmt::format("rows ^= bit(q, {}, {}u);", b - 3, address[op.targets[b]] * amplitude_bytes_));
  }
  line(fmt::format("const C b = *(const C*)(tile + rows), c = *(const C*)(tile + (rows ^ {}u));",
                   row_place(op, address, 4)));
  for (std::size_t r = 0; r < order / 8; ++r) {
    line(fmt::format("mma(u{0}, v{0}, x{0}, y{0}, __ldg(n + {1}), __ldg(n + {2}), b, c);", r, r * 8 * order,
                     r * 8 * order + 4));
  }
  line("}");
}

void KernelText::store_fragments(const TileOp& op, const std::vector<Coordinate>& address,
                                 const std::vector<std::uint8_t>& columns, std::size_t warp_bits) {
  std::uint32_t mask = 0, value = 0;
  for (std::size_t b = 0; b < columns.size(); ++b) {
    mask |= (op.control_mask >> columns[b] & 1u) << b;
    value |= (op.control_value >> columns[b] & 1u) << b;
  }
  const std::uint32_t next = address[columns[0]] * amplitude_bytes_;
  if (mask != 0) line(fmt::format("const u32 column = (t & 3u) << 1 | t >> 5 << 3 | s << {};", 3 + warp_bits));
  for (std::uint32_t side = 0; side < 2; ++side) {
    if (mask != 0) line(fmt::format("if (((column | {}u) & {}u) == {}u)", side, mask, value));
    line("{");
    for (std::size_t r = 0; r < std::size_t{1} << (op.targets.size() - 3); ++r) {
      line(fmt::format("*(C*)(tile + (to ^ set ^ {}u)) = mk({}{}, {}{});",
                       row_place(op, address, 8 * r) ^ (side == 0 ? 0 : next), side == 0 ? 'u' : 'v', r,
                       side == 0 ? 'x' : 'y', r));
    }
    line("}");
  }
}

void KernelText::wide_matrix(const TileOp& op) {
  const std::vector<Coordinate> address = place_columns(program_);
  std::vector<Coordinate> thread_columns, slot_columns, target_columns;
  Coordinate targets = 0;
  for (const std::uint8_t i : epoch_->thread) thread_columns.push_back(address[i]);
  for (const std::uint8_t i : epoch_->reg) slot_columns.push_back(address[i]);
  for (const std::uint8_t i : op.targets) {
    target_columns.push_back(address[i]);
    targets |= 1u << i;
  }
  line(fmt::format("{{ u32 w = {};", thread_address(thread_columns)));
  write_tile(tile_places("w", address_bits(thread_columns), slot_columns), true, false);
  others_read_ = true;
  const std::size_t order = std::size_t{1} << op.targets.size();
  // Row part and address part of the thread, then of each register.
  std::string row = "0u", home = "w";
  for (std::size_t b = 0; b < op.targets.size(); ++b) {
    for (std::size_t i = 0; i < epoch_->thread.size(); ++i) {
      if (epoch_->thread[i] != op.targets[b]) continue;
      row += fmt::format(" | (t >> {} & 1u) << {}", i, b);
      home += fmt::format(" ^ bit(t, {}, {}u)", i, address[op.targets[b]] * amplitude_bytes_);
    }
  }
  line(fmt::format("const u32 row = {}, home = {}; const C* const m = p.dense + {} + row * {};", row, home, dense_used_,
                   order));
  dense_used_ += op.matrix.size();
  for (std::uint32_t j = 0; j < registers_; ++j) line(fmt::format("C s{} = mk(0, 0);", j));
  line("#pragma unroll 1");
  line(fmt::format("for (u32 c = 0; c < {}; ++c) {{ u32 from = home;", order));
  for (std::size_t b = 0; b < op.targets.size(); ++b)
    line(fmt::format("from ^= bit(c, {}, {}u);", b, target_columns[b] * amplitude_bytes_));
  std::vector<std::uint32_t> seen;
  for (std::uint32_t j = 0; j < registers_; ++j) {
    std::uint32_t place = 0;
    std::size_t register_row = 0;
    for (std::size_t s = 0; s < epoch_->reg.size(); ++s) {
      if ((j >> s & 1) == 0) continue;
      if ((targets >> epoch_->reg[s] & 1) == 0)
        place ^= slot_columns[s] * amplitude_bytes_;
      else
        register_row |=
            std::size_t{1} << (std::find(op.targets.begin(), op.targets.end(), epoch_->reg[s]) - op.targets.begin());
    }
    if (std::find(seen.begin(), seen.end(), place) == seen.end()) {
      seen.push_back(place);
      line(fmt::format("C v{0} = *(C*)(tile + (from ^ {0}u));", place));
    }
    line(fmt::format("s{0} = mad(__ldg(m + {1} + c), v{2}, s{0});", j, register_row * order, place));
  }
  line("}");
  for (std::uint32_t j = 0; j < registers_; ++j) assign_where_controlled(op, j);
  line("}");
}

void KernelText::assign_where_controlled(const TileOp& op, std::uint32_t j) {
  std::uint32_t thread_mask = 0, thread_value = 0;
  for (std::size_t s = 0; s < epoch_->reg.size(); ++s) {
    if ((op.control_mask >> epoch_->reg[s] & 1) != 0 && (op.control_value >> epoch_->reg[s] & 1) != (j >> s & 1))
      return;
  }
  for (std::size_t i = 0; i < epoch_->thread.size(); ++i) {
    thread_mask |= (op.control_mask >> epoch_->thread[i] & 1u) << i;
    thread_value |= (op.control_value >> epoch_->thread[i] & 1u) << i;
  }
  if (thread_mask == 0)
    line(fmt::format("{} = s{};", a(j), j));
  else
    line(fmt::format("if ((t & {}u) == {}u) {} = s{};", thread_mask, thread_value, a(j), j));
}

}  // namespace qsim::cuda
