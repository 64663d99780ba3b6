// Gathers the spans of all ranks on rank 0 and draws them, one row a rank and lane.
#include "runtime/profile.h"

#include <algorithm>
#include <limits>
#include <map>
#include <sstream>
#include <utility>

#include "base/file/files.h"
#include "base/ranks/agreement.h"
#include "qsim/error.h"

namespace qsim {
namespace {

using RankSpans = std::vector<std::vector<Span>>;

RankSpans gather(const Profile& profile, Communicator& communicator) {
  std::vector<Span> mine = profile.spans();
  auto most = static_cast<std::int64_t>(mine.size());
  communicator.max({&most, 1});
  mine.resize(static_cast<std::size_t>(most), Span{.begin = -1});
  std::vector<Span> all(mine.size() * static_cast<std::size_t>(communicator.size()));
  communicator.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  RankSpans ranks(static_cast<std::size_t>(communicator.size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].begin >= 0) ranks[i / mine.size()].push_back(all[i]);
  }
  double first = std::numeric_limits<double>::infinity();  // the making of a random start is not shown
  for (const auto& spans : ranks) {
    for (const Span& span : spans) first = std::min(first, span.begin);
  }
  for (auto& spans : ranks) {
    for (Span& span : spans) {
      span.begin -= first;
      span.end -= first;
    }
  }
  return ranks;
}

struct KindLook {
  const char *name, *colour;
};

KindLook look(Span::Kind kind) {
  switch (kind) {
    case Span::Kind::kSweep:
      return {"sweep", "#4c78a8"};
    case Span::Kind::kTrade:
      return {"trade", "#f58518"};
    case Span::Kind::kSwap:
      return {"swap", "#72b7b2"};
    case Span::Kind::kReadOut:
      return {"read-out", "#54a24b"};
  }
  throw Error("unknown kind of span " + std::to_string(static_cast<int>(kind)));
}

std::string label(const Span& span) {
  const std::string stage = std::to_string(span.stage + 1), number = std::to_string(span.number + 1);
  if (span.kind == Span::Kind::kSweep) return "sweep " + stage + "." + number;
  if (span.kind == Span::Kind::kTrade) {
    return "stage " + stage + " trade with rank " + std::to_string(span.number);
  }
  return look(span.kind).name;
}

std::string trace_events(const RankSpans& ranks) {
  std::ostringstream out;
  out << "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
  const char* separator = "\n";
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    out << separator << R"({"ph": "M", "name": "process_name", "pid": )" << rank << R"(, "args": {"name": "rank )"
        << rank << "\"}}";
    separator = ",\n";
    for (const Span& span : ranks[rank]) {
      out << separator << R"({"ph": "X", "name": ")" << label(span) << R"(", "cat": ")" << look(span.kind).name
          << R"(", "pid": )" << rank << R"(, "tid": )" << span.lane << R"(, "ts": )" << span.begin * 1e6
          << R"(, "dur": )" << (span.end - span.begin) * 1e6 << "}";
    }
  }
  out << "\n]}\n";
  return out.str();
}

std::string picture(const RankSpans& ranks) {
  constexpr double kWidth = 1000, kRow = 18, kLeft = 120, kTop = 40;
  std::map<std::pair<std::size_t, std::uint32_t>, double> rows;  // (rank, lane) -> y
  double last = 1e-9;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    rows[{rank, 0}] = 0;
    for (const Span& span : ranks[rank]) {
      rows[{rank, span.lane}] = 0;
      last = std::max(last, span.end);
    }
  }
  double y = kTop;
  for (auto& row : rows) row.second = std::exchange(y, y + kRow);
  std::ostringstream out;
  out << R"(<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="11" width=")"
      << kLeft + kWidth + 20 << "\" height=\"" << y + 30 << "\">\n"
      << R"(<rect width="100%" height="100%" fill="white"/>)"
      << "\n";
  double x = kLeft;
  for (const Span::Kind kind : {Span::Kind::kSweep, Span::Kind::kTrade, Span::Kind::kSwap, Span::Kind::kReadOut}) {
    out << "<rect x=\"" << x << "\" y=\"12\" width=\"12\" height=\"12\" fill=\"" << look(kind).colour
        << "\"/><text x=\"" << x + 16 << "\" y=\"22\">" << look(kind).name << "</text>\n";
    x += 90;
  }
  for (const auto& [row, top] : rows) {
    out << "<text x=\"4\" y=\"" << top + 13 << "\">rank " << row.first << ", lane " << row.second << "</text>\n";
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const Span& span : ranks[rank]) {
      out << "<rect x=\"" << kLeft + kWidth * span.begin / last << "\" y=\"" << rows[{rank, span.lane}] + 2
          << "\" width=\"" << std::max(0.2, kWidth * (span.end - span.begin) / last) << "\" height=\"" << kRow - 4
          << "\" fill=\"" << look(span.kind).colour << "\"><title>" << label(span) << ": "
          << (span.end - span.begin) * 1e3 << " ms</title></rect>\n";
    }
  }
  out << "<text x=\"" << kLeft << "\" y=\"" << y + 18 << "\">0</text><text text-anchor=\"end\" x=\"" << kLeft + kWidth
      << "\" y=\"" << y + 18 << "\">" << last * 1e3 << " ms</text>\n</svg>\n";
  return out.str();
}

}  // namespace

std::vector<Span> Profile::spans() const {
  const auto time = [this](const Moment& moment) {
    return moment.mark ? std::max(0.0, clock_->seconds(*moment.mark)) : moment.seconds;
  };
  std::vector<Span> spans;
  for (const Kept& kept : spans_) {
    spans.push_back({kept.kind, kept.stage, kept.number, kept.lane, time(kept.begin), time(kept.end)});
  }
  return spans;
}

void write_profile(const Profile& profile, Communicator& communicator, const std::string& path) {
  const RankSpans ranks = gather(profile, communicator);
  together(communicator, [&] {
    if (communicator.rank() != 0) return;
    const bool svg = path.size() > 4 && path.compare(path.size() - 4, 4, ".svg") == 0;
    write_file(path, svg ? picture(ranks) : trace_events(ranks));
  });
}

}  // namespace qsim
