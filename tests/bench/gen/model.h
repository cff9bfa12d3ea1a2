// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What the generated program is: a transformer, its ops and kernels.
namespace gen {

using Time = std::int64_t; // nanoseconds

constexpr std::int64_t kProcess = 31415;
constexpr std::int64_t kMainThread = 31415;
constexpr std::int64_t kBackwardThread = 31702;
constexpr Time kBase = 1'759'307'432'000'000'000;
constexpr Time kBegin = 3'375'095'519'689'000; // after the base
enum Stream : std::int64_t { kCompute = 7, kCollectives = 20, kCopies = 24 };

class Random {
  public:
    explicit Random(std::uint64_t seed) : m_state(seed) {}
    std::uint64_t next() { // splitmix64
        std::uint64_t z = m_state += 0x9E3779B97F4A7C15U;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31);
    }
    std::int64_t below(std::int64_t n) {
        return static_cast<std::int64_t>((next() >> 32) * static_cast<std::uint64_t>(n) >> 32);
    }

  private:
    std::uint64_t m_state;
};

enum class Work : std::uint8_t { None, Gemm, Pointwise, Softmax, Norm, Reduce, Optimiser, Collective };

/// What kernels of a kind are called.
const std::vector<std::string_view>& kernelNames(Work work);

/// An op: what it records about its inputs, the ops it calls, the kernel it launches.
struct Op {
    std::string name;
    std::vector<std::string_view> dims; ///< JSON, one of them a call
    std::string types;                  ///< JSON
    std::vector<const Op*> calls;
    Work work = Work::None;
    bool allocates = false;
    std::string concrete; ///< JSON, from the types

    Op(std::string_view n, std::vector<std::string_view> d, std::vector<std::string_view> t,
       std::vector<const Op*> c = {}, Work w = Work::None, bool a = false);
};

struct Module {
    std::string_view name; ///< empty: ops of the block itself
    std::vector<const Op*> ops;
};
/// The modules of a transformer block, in the order of their calls.
const std::vector<Module>& blockModules();

/// A backward node: the engine's event, and within it the node's own.
struct Backward {
    Op inner;
    Op outer;
    Backward(const std::string& name, std::vector<const Op*> calls)
        : inner(name, {"[[8, 1024, 2048]]"}, {"c10::BFloat16"}, std::move(calls)),
          outer("autograd::engine::evaluate_function: " + name, {"[[8, 1024, 2048]]"}, {"c10::BFloat16"}) {}
};
/// Backward nodes, taken in turns.
const std::vector<Backward>& backwardNodes();

/// Ops that stand alone.
extern const Op kAsStrided;
extern const Op kFusedAdam;

} // namespace gen
