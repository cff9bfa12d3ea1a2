// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/memory_categories.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace warpline {

namespace {

/// What the frames of a stack say about where the program was.
namespace In {
constexpr std::uint8_t Optimizer = 1;
constexpr std::uint8_t Backward = 2;
constexpr std::uint8_t Forward = 4;
constexpr std::uint8_t Build = 8;
constexpr std::uint8_t ZeroGrad = 16;
} // namespace In

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::uint8_t placeOf(std::string_view name, std::string_view file) {
    std::uint8_t in = 0;
    const bool torch = contains(file, "torch/") || contains(file, "torch\\");
    const bool optimizers = contains(file, "/optim") || contains(file, "optimizer");
    if (optimizers && name == "zero_grad")
        in |= In::ZeroGrad;
    else if (optimizers && (name == "step" || name == "_init_group" || name.starts_with("_multi_tensor_") ||
                            name.starts_with("_single_tensor_") || name.starts_with("_fused_")))
        in |= In::Optimizer;
    if ((torch && (name == "_engine_run_backward" || (name == "backward" && contains(file, "autograd")) ||
                   (name == "backward" && contains(file, "_tensor.py")))) ||
        contains(name, "torch::autograd::Engine::"))
        in |= In::Backward;
    const bool modules = contains(file, "nn/modules/");
    if (name == "forward" || (modules && (name == "_call_impl" || name == "_wrapped_call_impl")))
        in |= In::Forward;
    if (modules && (name == "__init__" || name == "reset_parameters" || name == "_apply" || name == "to" ||
                    name == "cuda"))
        in |= In::Build;
    return in;
}

/// Stretches of moments, ascending, that do not overlap.
using Spans = std::vector<std::pair<Moment, Moment>>;

/// The span that holds a moment, or none.
std::optional<std::pair<Moment, Moment>> spanAt(const Spans& spans, Moment m) {
    auto at = std::upper_bound(spans.begin(), spans.end(), m,
                               [](Moment v, const std::pair<Moment, Moment>& s) { return v < s.first; });
    if (at == spans.begin())
        return std::nullopt;
    --at;
    return m <= at->second ? std::optional(*at) : std::nullopt;
}

class Rules {
  public:
    Rules(MemoryHistory& history, MemoryDevice& device) : m_history(history), m_device(device) {
        readStacks();
        readAnnotations();
    }

    void run() {
        MemoryBlockTable& b = m_device.blocks;
        for (std::size_t row = 0; row < b.count(); ++row) {
            if (b.category[row] != MemoryCategory::Unknown)
                continue; // the file says
            const auto [category, evidence] = decide(row);
            b.category[row] = category;
            b.evidence[row] = evidence;
        }
    }

  private:
    using Verdict = std::pair<MemoryCategory, CategoryEvidence>;

    void readStacks() {
        const StackTree& stacks = m_history.stacks;
        std::vector<std::uint8_t> frames(stacks.frameCount());
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const MemoryFrame& f = stacks.frame(FrameId::fromIndex(i));
            frames[i] = placeOf(m_history.strings.view(f.name), m_history.strings.view(f.file));
        }
        // A caller comes before those that it calls, so that one walk hands all down.
        m_in.resize(stacks.stackCount());
        for (std::size_t i = 0; i < m_in.size(); ++i) {
            const StackTree::Node& node = stacks.node(StackId::fromIndex(i));
            m_in[i] = frames[node.frame.index()];
            if (node.caller)
                m_in[i] |= m_in[node.caller.index()];
        }
    }

    void readAnnotations() {
        if (!m_device.hasTimes)
            return;
        for (const MemoryAnnotation& a : m_history.annotations) {
            const std::string_view name = m_history.strings.view(a.name);
            Spans* to = nullptr;
            if (name.starts_with("Optimizer.step#"))
                to = &m_optimizer;
            else if (name.starts_with("Optimizer.zero_grad#"))
                to = &m_zeroGrad;
            else if (name == "backward" || name == "Backward")
                to = &m_backward;
            else if (name == "forward" || name == "Forward")
                to = &m_forward;
            if (to == nullptr)
                continue;
            // The moments of the events within: the first after the begin, the last before the end.
            const auto first = static_cast<Moment>(m_device.momentAt(a.range.begin - 1) + 1);
            const Moment last = m_device.momentAt(a.range.end);
            if (first > last)
                continue;
            // One range may be told twice, or hold another of its name.
            if (!to->empty() && first <= to->back().second)
                to->back().second = std::max(to->back().second, last);
            else
                to->push_back({first, last});
        }
    }

    [[nodiscard]] std::uint8_t in(StackId stack) const {
        return stack ? m_in[stack.index()] : std::uint8_t{0};
    }
    [[nodiscard]] StackId freeStack(std::size_t row) const {
        const MemoryBlockTable& b = m_device.blocks;
        const Moment at = b.freeRequested[row] != kNever ? b.freeRequested[row] : b.death[row];
        return at == kAliveAtEnd || at == 0 ? StackId{} : m_device.events.stack[at - 1];
    }
    /// When the block was given back, as far as the history says.
    [[nodiscard]] Moment released(std::size_t row) const {
        const MemoryBlockTable& b = m_device.blocks;
        return std::min(b.freeRequested[row], b.death[row]);
    }

    [[nodiscard]] Verdict decide(std::size_t row) const {
        const MemoryBlockTable& b = m_device.blocks;
        const Verdict unknown{MemoryCategory::Unknown, CategoryEvidence::None};
        // The stack of a block that is known by its free says where it was freed, not what it is.
        const bool ownStack = (b.flags[row] & BlockFlag::UnmatchedFree) == 0;
        const std::uint8_t at = ownStack ? in(b.stack[row]) : std::uint8_t{0};
        const Moment birth = b.birth[row];
        const Moment end = released(row);
        const bool kept = end == kAliveAtEnd;

        if (birth == kBeforeHistory) {
            if (!kept)
                return unknown;
            if ((at & In::Optimizer) != 0)
                return {MemoryCategory::OptimizerState, CategoryEvidence::OptimizerStack};
            if ((at & In::Build) != 0)
                return {MemoryCategory::Parameter, CategoryEvidence::ModuleBuild};
            return unknown;
        }
        const auto optimizer = spanAt(m_optimizer, birth);
        if ((at & In::Optimizer) != 0 || (optimizer && (at & (In::Forward | In::Backward)) == 0)) {
            // Scratch of a step is gone when the step is over.
            const bool outlives = optimizer ? end > optimizer->second : kept;
            return outlives ? Verdict{MemoryCategory::OptimizerState, CategoryEvidence::OptimizerStack}
                            : Verdict{MemoryCategory::Temporary, CategoryEvidence::OptimizerScratch};
        }
        const auto backward = spanAt(m_backward, birth);
        if ((at & In::Backward) != 0 || (backward && !b.stack[row])) {
            const std::uint8_t freed = in(freeStack(row));
            const bool zeroed = !kept && ((freed & In::ZeroGrad) != 0 || spanAt(m_zeroGrad, end).has_value());
            if (kept || zeroed)
                return {MemoryCategory::Gradient, CategoryEvidence::BackwardKept};
            if (backward ? end <= backward->second : (freed & In::Backward) != 0)
                return {MemoryCategory::Temporary, CategoryEvidence::BackwardFreed};
            return brief(row, unknown);
        }
        if ((at & In::Build) != 0 && kept)
            return {MemoryCategory::Parameter, CategoryEvidence::ModuleBuild};
        if ((at & In::Forward) != 0 && !kept) {
            const StackId freeAt = freeStack(row);
            const std::uint8_t freed = in(freeAt);
            if ((freed & In::Backward) != 0 || spanAt(m_backward, end))
                return {MemoryCategory::Activation, CategoryEvidence::ForwardKept};
            if ((freed & In::Forward) != 0)
                return {MemoryCategory::Temporary, CategoryEvidence::ForwardFreed};
            // Frees of the engine's thread have no frames; after the forward annotation it is the one that
            // frees.
            if (const auto forward = spanAt(m_forward, birth); forward && !freeAt && end > forward->second)
                return {MemoryCategory::Activation, CategoryEvidence::ForwardKept};
        }
        return brief(row, unknown);
    }

    [[nodiscard]] Verdict brief(std::size_t row, Verdict otherwise) const {
        constexpr Moment kBrief = 16;
        const Moment end = released(row);
        if (end != kAliveAtEnd && end - m_device.blocks.birth[row] <= kBrief)
            return {MemoryCategory::Temporary, CategoryEvidence::Brief};
        return otherwise;
    }

    MemoryHistory& m_history;
    MemoryDevice& m_device;
    std::vector<std::uint8_t> m_in; ///< by stack
    Spans m_optimizer, m_zeroGrad, m_backward, m_forward;
};

} // namespace

void inferCategories(MemoryHistory& history) {
    for (MemoryDevice& device : history.devices)
        Rules(history, device).run();
}

std::string categoryEvidence(const MemoryHistory& history, const MemoryDevice& device, BlockId block) {
    (void)history;
    const std::size_t row = block.index();
    switch (device.blocks.evidence[row]) {
    case CategoryEvidence::FileSays:
        return "The file names the category.";
    case CategoryEvidence::OptimizerStack:
        return "It was allocated inside an optimizer's step and outlives it.";
    case CategoryEvidence::OptimizerScratch:
        return "It was allocated inside an optimizer's step and given back before the step was over.";
    case CategoryEvidence::BackwardKept:
        return device.blocks.death[row] == kAliveAtEnd
                   ? "It was allocated in the backward pass and is still there at the end."
                   : "It was allocated in the backward pass and given back by zero_grad.";
    case CategoryEvidence::BackwardFreed:
        return "It was allocated in the backward pass and given back within it.";
    case CategoryEvidence::ForwardKept:
        return "It was allocated in a module's forward and given back in the backward pass.";
    case CategoryEvidence::ForwardFreed:
        return "It was allocated in a module's forward and given back within a forward.";
    case CategoryEvidence::ModuleBuild:
        return "It was allocated while a module was built or moved to the device, and is still there at the "
               "end.";
    case CategoryEvidence::Brief:
        return "It was given back within 16 events of its allocation.";
    case CategoryEvidence::None:
        break;
    }
    if (device.blocks.birth[row] == kBeforeHistory)
        return "It was there before the history began, and no stack says what it is.";
    return "Neither its stack nor the annotations around it say what it is.";
}

} // namespace warpline
