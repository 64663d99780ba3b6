// Gathers the spans of all ranks on rank 0 and draws them, one row a rank and lane.
#include "runtime/profile.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <sstream>
#include <utility>

#include "base/file/files.h"
#include "base/ranks/agreement.h"
#include "base/text.h"
#include "picture/charts.h"
#include "qsim/error.h"

namespace qsim {
namespace {

/// In the order of their numbers, which are those of the picture's kinds.
constexpr std::array<Span::Kind, 4> kKinds{Span::Kind::kSweep, Span::Kind::kTrade, Span::Kind::kSwap,
                                           Span::Kind::kReadOut};

const char* name_of_kind(Span::Kind kind) {
  switch (kind) {
    case Span::Kind::kSweep:
      return "sweep";
    case Span::Kind::kTrade:
      return "trade";
    case Span::Kind::kSwap:
      return "swap";
    case Span::Kind::kReadOut:
      return "read-out";
  }
  throw Error("unknown kind of span " + std::to_string(static_cast<int>(kind)));
}

std::string label(const Span& span) {
  const std::string stage = std::to_string(span.stage), number = std::to_string(span.number);
  if (span.kind == Span::Kind::kSweep) return "sweep " + stage + "." + number;
  if (span.kind == Span::Kind::kTrade) {
    return "stage " + stage + " trade with rank " + std::to_string(span.number);
  }
  return name_of_kind(span.kind);
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
      out << separator << R"({"ph": "X", "name": ")" << label(span) << R"(", "cat": ")" << name_of_kind(span.kind)
          << R"(", "pid": )" << rank << R"(, "tid": )" << span.lane << R"(, "ts": )" << span.begin * 1e6
          << R"(, "dur": )" << (span.end - span.begin) * 1e6 << "}";
    }
  }
  out << "\n]}\n";
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

RankSpans gather_spans(const Profile& profile, Communicator& communicator) {
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

std::string time_line_svg(const RankSpans& ranks, std::size_t width) {
  picture::Timetable table;
  table.title = "Time line of the run";
  for (const Span::Kind kind : kKinds) table.kinds.emplace_back(name_of_kind(kind));
  std::map<std::pair<std::size_t, std::uint32_t>, std::size_t> rows;  // of rank and lane
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    rows[{rank, 0}] = 0;
    for (const Span& span : ranks[rank]) rows[{rank, span.lane}] = 0;
  }
  for (auto& [of, row] : rows) {
    row = table.rows.size();
    table.rows.push_back("rank " + std::to_string(of.first) + ", lane " + std::to_string(of.second));
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const Span& span : ranks[rank]) {
      const std::string words = label(span);
      const bool sweep = span.kind == Span::Kind::kSweep;
      table.boxes.push_back({rows[{rank, span.lane}], span.begin, span.end, static_cast<std::size_t>(span.kind),
                             sweep ? words.substr(words.find(' ') + 1) : "",
                             words + ": " + format_seconds(span.end - span.begin)});
    }
  }
  return picture::draw_timetable(table, width);
}

void write_profile(const Profile& profile, Communicator& communicator, const std::string& path) {
  const RankSpans ranks = gather_spans(profile, communicator);
  together(communicator, [&] {
    if (communicator.rank() != 0) return;
    const bool svg = path.size() > 4 && path.compare(path.size() - 4, 4, ".svg") == 0;
    write_file(path, svg ? time_line_svg(ranks) : trace_events(ranks));
  });
}

}  // namespace qsim
