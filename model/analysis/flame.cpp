// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/flame.h"

#include "model/analysis/flame_builder.h"

#include <algorithm>
#include <fmt/format.h>

namespace warpline {

namespace {

/// A stack deeper than this is cut: nobody reads it, and a hostile file could make each of many stacks as
/// deep as the file is long.
constexpr std::size_t kMostFrames = 4096;

/// Turns stacks into nodes of a tree of the asked shape.
class Projection {
  public:
    Projection(const FrameTable& frames, const StackTable& stacks, const FlameShape& shape)
        : m_frames(frames), m_stacks(stacks), m_shape(shape), m_simple(!shape.bottomUp && !shape.focus),
          m_shown(frames.size() + 1), m_kept(frames.size() + 1) {
        for (std::uint32_t f = 1; f <= frames.size(); ++f) {
            const Frame& frame = frames.at(FrameId{f});
            m_shown[f] = shape.mergeModules && frame.family ? frame.family : FrameId{f};
            m_kept[f] = kept(frame);
        }
        if (m_simple)
            m_nodes.resize(stacks.size() + 1);
    }

    void add(const StackWeight& w) {
        const StackId stack = w.stack;
        if (!m_simple)
            return addPath(w);
        std::uint32_t node = below(w.root);
        if (stack)
            node = nodeOf(stack, node);
        else
            node = m_tree.child(node, FrameTable::kNoStack, FrameTable::kNoStack);
        if (stack && m_shape.frames == FlameShape::Frames::Modules)
            node = leaf(stack, node);
        else if (node == m_root)
            node = m_tree.child(node, nothingShown(), nothingShown());
        m_tree.add(node, w.weight, w.count);
    }
    FlameBuilder& tree() { return m_tree; }

  private:
    [[nodiscard]] bool kept(const Frame& frame) const {
        switch (m_shape.frames) {
        case FlameShape::Frames::All:
            return !(m_shape.hidePlumbing && frame.plumbing);
        case FlameShape::Frames::Modules:
            return frame.kind == FrameKind::Module || frame.kind == FrameKind::Missing;
        case FlameShape::Frames::Python:
            return (frame.kind == FrameKind::Python || frame.kind == FrameKind::Missing) &&
                   !(m_shape.hidePlumbing && frame.plumbing);
        }
        return true;
    }
    [[nodiscard]] StackId caller(StackId id) const {
        return m_shape.backwardWithForward ? m_stacks.parent(id) : m_stacks.own(id);
    }
    std::uint32_t below(FrameId root) {
        const std::uint32_t node =
            m_shape.byThread && root ? m_tree.child(FlameTree::kRoot, root, root) : FlameTree::kRoot;
        if (node != m_root) {
            m_root = node;
            ++m_epoch;
        }
        return node;
    }

    /// What stands for a stack of which no frame is shown, so that its weight has a name.
    [[nodiscard]] FrameId nothingShown() const {
        return m_shape.frames == FlameShape::Frames::Python ? FrameTable::kNoPython : FrameTable::kHidden;
    }

    /// Callers are looked up once for each root.
    std::uint32_t nodeOf(StackId stack, std::uint32_t root) {
        m_way.clear();
        std::uint32_t node = root;
        for (StackId at = stack; at; at = caller(at)) {
            if (m_nodes[at.value].epoch == m_epoch) {
                node = m_nodes[at.value].node;
                break;
            }
            m_way.push_back(at);
        }
        for (auto it = m_way.rbegin(); it != m_way.rend(); ++it) {
            const FrameId frame = m_stacks.frame(*it);
            if (m_kept[frame.value])
                node = m_tree.child(node, m_shown[frame.value], frame);
            m_nodes[it->value] = {m_epoch, node};
        }
        return node;
    }
    /// By module: what the module itself did, or what no module did.
    std::uint32_t leaf(StackId stack, std::uint32_t node) {
        const FrameId frame = m_stacks.frame(stack);
        if (node == m_root)
            node = m_tree.child(node, FrameTable::kOutsideModules, FrameTable::kOutsideModules);
        return m_kept[frame.value] ? node : m_tree.child(node, frame, frame);
    }

    /// The frames of a stack that are shown, innermost first.
    void collect(const StackWeight& w) {
        m_path.clear();
        if (!w.stack)
            m_path.push_back(FrameTable::kNoStack);
        bool module = !w.stack;
        for (StackId at = w.stack; at && m_path.size() < kMostFrames; at = caller(at)) {
            const FrameId frame = m_stacks.frame(at);
            const bool leaf = m_shape.frames == FlameShape::Frames::Modules && at == w.stack;
            module = module || m_kept[frame.value];
            if (m_kept[frame.value] || leaf)
                m_path.push_back(frame);
        }
        if (m_shape.frames == FlameShape::Frames::Modules && !module)
            m_path.push_back(FrameTable::kOutsideModules);
        else if (m_path.empty())
            m_path.push_back(nothingShown());
        if (m_shape.byThread && w.root)
            m_path.push_back(w.root);
    }
    [[nodiscard]] bool isFocus(FrameId frame) const {
        return frame == m_shape.focus || m_shown[frame.value] == m_shape.focus;
    }
    void addPath(const StackWeight& w) {
        collect(w);
        auto from = m_path.begin(); // the innermost
        auto to = m_path.end();
        if (m_shape.focus) {
            const auto focus = [&](FrameId f) { return isFocus(f); };
            if (m_shape.bottomUp) {
                from = std::find_if(from, to, focus);
                if (from == to)
                    return;
            } else {
                const auto outermost = std::find_if(m_path.rbegin(), m_path.rend(), focus);
                if (outermost == m_path.rend())
                    return;
                to = outermost.base();
            }
        }
        std::uint32_t node = FlameTree::kRoot;
        const auto step = [&](FrameId f) { node = m_tree.child(node, m_shown[f.value], f); };
        if (m_shape.bottomUp)
            std::for_each(from, to, step);
        else
            std::for_each(std::make_reverse_iterator(to), std::make_reverse_iterator(from), step);
        m_tree.add(node, w.weight, w.count);
    }

    struct Known {
        std::uint32_t epoch = 0;
        std::uint32_t node = 0;
    };
    const FrameTable& m_frames;
    const StackTable& m_stacks;
    const FlameShape& m_shape;
    bool m_simple;
    std::vector<FrameId> m_shown; ///< by frame
    std::vector<bool> m_kept;
    FlameBuilder m_tree;
    std::vector<Known> m_nodes; ///< by stack
    std::uint32_t m_epoch = 1;
    std::uint32_t m_root = FlameTree::kRoot;
    std::vector<StackId> m_way;
    std::vector<FrameId> m_path;
};

} // namespace

std::string FlameTree::label(std::uint32_t node) const {
    const Node& n = nodes[node];
    if (!n.frame)
        return "all";
    if (n.merged > 1)
        return fmt::format("{} \u00D7{}", frames->name(n.frame), n.merged);
    return std::string(frames->name(n.frame));
}

std::vector<std::uint32_t> FlameTree::path(std::uint32_t node) const {
    std::vector<std::uint32_t> out;
    for (; node != kRoot; node = nodes[node].parent)
        out.push_back(node);
    std::reverse(out.begin(), out.end());
    return out;
}

std::uint32_t FlameTree::find(const FlameTree& other, std::uint32_t node) const {
    std::uint32_t here = kRoot;
    for (const std::uint32_t step : other.path(node)) {
        const FrameId frame = other.nodes[step].frame;
        // Where one of the two has modules merged, the class is what they share.
        const auto same = [&](FrameId f) {
            return f == frame || (frames->at(f).family && frames->at(f).family == frame) ||
                   (other.frames->at(frame).family && other.frames->at(frame).family == f);
        };
        const std::span<const Node> below = children(here);
        const auto it =
            std::find_if(below.begin(), below.end(), [&](const Node& n) { return same(n.frame); });
        if (it == below.end())
            break;
        here = nodes[here].firstChild + static_cast<std::uint32_t>(it - below.begin());
    }
    return here;
}

Result<FlameTree> flameTree(const FrameTablePtr& frames, const StackTable& stacks,
                            std::span<const StackWeight> weights, WeightUnit unit, const FlameShape& shape,
                            std::stop_token stop) {
    Projection projection(*frames, stacks, shape);
    constexpr std::size_t kBetweenLooks = 4096;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (i % kBetweenLooks == 0 && stop.stop_requested())
            return Error::cancelled();
        if (weights[i].weight != 0 || weights[i].count != 0)
            projection.add(weights[i]);
    }
    FlameTree tree;
    tree.frames = frames;
    tree.unit = unit;
    tree.bottomUp = shape.bottomUp;
    tree.nodes = projection.tree().finish(*frames);
    return tree;
}

Result<FlameTree> flameTree(const TraceStacks& stacks, const FlameQuery& query, std::stop_token stop) {
    const auto weights = stackWeights(stacks, query.weight, query.range, query.shape.byThread, stop);
    if (!weights.ok())
        return weights.error();
    return flameTree(stacks.framesPtr(), stacks.stacks(), weights.value(), unitOf(query.weight), query.shape,
                     std::move(stop));
}

Result<FlameTree> flameTree(const Profile& profile, const FlameShape& shape, std::stop_token stop) {
    return flameTree(profile.frames, *profile.stacks, profile.weights, profile.unit, shape, std::move(stop));
}

Result<FlameTree> flameDifference(const FlameTree& a, const FlameTree& b, std::stop_token stop) {
    if (a.unit != b.unit || a.bottomUp != b.bottomUp)
        return Error::failed("Two flame graphs can be compared where both weigh the same and are read in the "
                             "same direction; these do not.");
    auto frames = std::make_shared<FrameTable>();
    FlameBuilder builder;
    constexpr std::size_t kBetweenLooks = 4096;
    // A node of a tree by its number there to the node that holds both.
    const auto addTree = [&](const FlameTree& tree, auto&& weigh) {
        std::vector<std::uint32_t> to(tree.nodes.size(), FlameTree::kRoot);
        std::vector<FrameId> known(tree.frames->size() + 1);
        for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
            if (i % kBetweenLooks == 0 && stop.stop_requested())
                return false;
            const FlameTree::Node& node = tree.nodes[i];
            if (i != FlameTree::kRoot) {
                FrameId& frame = known[node.frame.value];
                if (!frame) {
                    const Frame& f = tree.frames->at(node.frame);
                    const std::string_view name = tree.frames->strings.view(f.name);
                    frame = f.file && f.kind != FrameKind::Python
                                ? frames->intern(f.kind, name, tree.frames->strings.view(f.file), f.line)
                                : frames->intern(f.kind, name);
                }
                to[i] = builder.child(to[node.parent], frame, frame);
            }
            weigh(to[i], node);
        }
        return true;
    };
    const bool done =
        addTree(a, [&](std::uint32_t to, const FlameTree::Node& n) { builder.addBase(to, n.self); }) &&
        addTree(b, [&](std::uint32_t to, const FlameTree::Node& n) { builder.add(to, n.self, n.count); });
    if (!done)
        return Error::cancelled();
    FlameTree tree;
    tree.unit = b.unit;
    tree.bottomUp = b.bottomUp;
    tree.difference = true;
    tree.nodes = builder.finish(*frames);
    tree.frames = std::move(frames);
    return tree;
}

} // namespace warpline
