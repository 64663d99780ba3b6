// How fast OpenQASM text becomes a circuit. Goal: 1,000,000 gates in under 1 s on one core, memory in proportion.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "qsim/qasm.h"

namespace {

constexpr unsigned kQubits = 30;

// One line a gate, as tools export them: u3 and cu1 with 15 digits, cx, rz of a fraction of pi. About 33 bytes a gate.
std::string program(std::int64_t gates, int version = 2) {
  std::uint64_t state = 1;
  const auto below = [&state](std::uint64_t bound) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % bound;
  };
  const auto qubit = [&](unsigned offset) { return "q[" + std::to_string((below(kQubits / 2) + offset)) + "]"; };
  const auto angle = [&] {
    return std::to_string(below(6)) + "." + std::to_string(100000000000000 + below(1u << 31) * 97);
  };
  std::string text = version == 2 ? "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[30];\ncreg c[30];\n"
                                  : "OPENQASM 3.0;\ninclude \"stdgates.inc\";\nqubit[30] q;\nbit[30] c;\n";
  text.reserve(static_cast<std::size_t>(gates) * 40);
  for (std::int64_t i = 0; i < gates; ++i) {
    switch (i % 4) {
      case 0:
        text += "u3(" + angle() + "," + angle() + ",-" + angle() + ") " + qubit(0) + ";\n";
        break;
      case 1:
        text += "cx " + qubit(0) + "," + qubit(kQubits / 2) + ";\n";
        break;
      case 2:
        text += "rz(3*pi/" + std::to_string(2 + below(63)) + ") " + qubit(0) + ";\n";
        break;
      default:
        text += (version == 2 ? "cu1(" : "cp(") + angle() + ") " + qubit(kQubits / 2) + "," + qubit(0) + ";\n";
        break;
    }
  }
  return text;
}

void parse(benchmark::State& state) {
  const std::string text = program(state.range(0));
  for (auto _ : state) {
    const qsim::QasmProgram parsed = qsim::parse_qasm(text);
    if (parsed.circuit.operations().size() != static_cast<std::size_t>(state.range(0)))
      state.SkipWithError("lost gates");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(parse)->Arg(1000)->Arg(100000)->Arg(1000000)->Unit(benchmark::kMillisecond);

// 2^20 operations out of a few lines: the cost of expanding, not of reading.
void expand(benchmark::State& state) {
  std::string text = "OPENQASM 2.0;\ninclude \"qelib1.inc\";\ngate g0(t) a,b { rz(t/2) a; cx a,b; }\n";
  for (int i = 1; i < 20; ++i) {
    const std::string callee = "g" + std::to_string(i - 1);
    text += "gate g" + std::to_string(i) + "(t) a,b { " + callee + "(t/2) b,a; " + callee + "(-t) a,b; }\n";
  }
  text += "qreg q[2];\ng19(1) q[0],q[1];\n";
  for (auto _ : state) {
    const qsim::QasmProgram parsed = qsim::parse_qasm(text);
    if (parsed.circuit.operations().size() != std::size_t{1} << 20) state.SkipWithError("lost gates");
  }
  state.SetItemsProcessed(state.iterations() << 20);
}
BENCHMARK(expand)->Unit(benchmark::kMillisecond);

void parse_million(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    const qsim::QasmProgram parsed = qsim::parse_qasm(text);
    if (parsed.circuit.operations().size() < 1'000'000) state.SkipWithError("lost gates");
  }
  state.SetItemsProcessed(state.iterations() * 1'000'000);
}

// OpenQASM 3: the same flat text, a loop, and subroutines that call each other.
const std::string kHead3 = "OPENQASM 3.0;\ninclude \"stdgates.inc\";\nqubit[3] q;\n";
std::string calls() {
  std::string text = kHead3 + "def f0(qubit a, qubit b) { rz(0.1) a; cx a, b; }\n";
  std::string body;
  int times = 500'000;
  for (int level = 1; times > 1; ++level) {
    const int repeats = times % 10 == 0 ? 10 : times;
    const std::string call = "f" + std::to_string(level - 1) + "(b, a); ";
    text += "def f" + std::to_string(level) + "(qubit a, qubit b) { ";
    for (int i = 0; i < repeats; ++i) text += call;
    text += "}\n";
    times /= repeats;
    body = "f" + std::to_string(level) + "(q[0], q[1]);\n";
  }
  return text + body;
}
BENCHMARK_CAPTURE(parse_million, flat3, program(1'000'000, 3))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(parse_million, loop3, kHead3 + "for int i in [1:500000] { rz(0.1) q[i % 3]; cx q[0], q[1]; }\n")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(parse_million, calls3, calls())->Unit(benchmark::kMillisecond);

}  // namespace
