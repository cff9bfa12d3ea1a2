// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
//
// Trees of calls as nested JSON: Hatchet's (a list of roots; Proton adds a description of its devices) and
// this program's own. Metrics of Hatchet are exclusive unless their name says "(inc)".
#include "model/import/flame/json_cursor.h"
#include "model/import/flame/profile_builder.h"
#include "model/import/flame/profile_reader.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <limits>
#include <optional>

namespace warpline::flame {

namespace {

constexpr int kDeepest = 1000;

class TreeReader {
  public:
    TreeReader(std::string_view text, const ByteSource& source, const ImportOptions& options)
        : m_json(text), m_source(source), m_options(options) {}

    Result<std::vector<ProfilePtr>> run() {
        const bool hatchet = m_json.peek() == JsonCursor::Type::Array;
        m_format = hatchet ? "Hatchet call tree" : "Warpline flame tree";
        const bool done = hatchet ? m_json.array([&] { return node(kNoParent, 0); }) : node(kNoParent, 0);
        if (m_error)
            return *m_error;
        if (m_options.stop.stop_requested())
            return Error::cancelled();
        if (!done)
            return Error::failed(
                fmt::format("{}: this {} breaks off or is no JSON at byte {}. Write or copy it again.",
                            m_source.name, m_format, m_json.offset()));
        if (m_named == 0)
            return Error::wrongKind(
                fmt::format("{}: this JSON has no frames with \"frame\" and \"metrics\", as Hatchet writes "
                            "them.",
                            m_source.name));
        return finish();
    }

  private:
    struct Metric {
        std::string name;
        FileUnit unit;
        std::vector<std::pair<std::uint32_t, std::int64_t>> values; ///< node, value
        std::int64_t sum = 0;
        bool rounded = false;
    };
    struct Value {
        std::string name;
        std::int64_t value;
        bool rounded;
    };
    /// What one node says of itself, in any order and around its children.
    struct Node {
        std::string name;
        std::string kind;
        std::string file;
        std::int64_t line = 0;
        bool frame = false;
    };
    /// A node once it is read; a parent stands before its children.
    struct Placed {
        std::uint32_t parent;
        FrameId frame; ///< none for what stands for its caller: a root of all
    };
    static constexpr std::uint32_t kNoParent = ~std::uint32_t{0};

    bool tooDeep(int depth) {
        if (depth < kDeepest)
            return false;
        m_error = Error::failed(
            fmt::format("{}: its calls are nested more than {} deep at byte {}, deeper than Warpline reads.",
                        m_source.name, kDeepest, m_json.offset()));
        return true;
    }

    bool node(std::uint32_t parent, int depth) {
        if (tooDeep(depth) || m_options.stop.stop_requested())
            return m_json.fail();
        if (m_json.peek() != JsonCursor::Type::Object)
            return m_json.skip();
        const auto index = static_cast<std::uint32_t>(m_nodes.size());
        m_nodes.push_back({parent, {}});
        Node n;
        if (!m_json.object([&](std::string_view key) { return member(n, index, key, depth); }))
            return false;
        if (n.frame) { // else Proton's description of the devices
            ++m_named;
            // The root of a tree stands for all of it.
            if (depth > 0 || (n.name != "ROOT" && n.name != "all"))
                m_nodes[index].frame = frameOf(n);
        }
        return true;
    }

    bool member(Node& n, std::uint32_t index, std::string_view key, int depth) {
        using Type = JsonCursor::Type;
        const Type type = m_json.peek();
        if (key == "children" && type == Type::Array)
            return m_json.array([&] { return node(index, depth + 1); });
        if (key == "frame" && type == Type::Object) {
            n.frame = true;
            return m_json.object([&](std::string_view k) {
                if (k == "name" && m_json.peek() == Type::String)
                    return m_json.string(n.name);
                if (k == "type" && m_json.peek() == Type::String)
                    return m_json.string(n.kind);
                return m_json.skip();
            });
        }
        if (key == "metrics" && type == Type::Object)
            return m_json.object([&](std::string_view k) { return metric(index, k); });
        // Our own form has all of it in the node.
        if (key == "name" && type == Type::String) {
            n.frame = true;
            return m_json.string(n.name);
        }
        if (key == "kind" && type == Type::String)
            return m_json.string(n.kind);
        if (key == "file" && type == Type::String)
            return m_json.string(n.file);
        if (depth == 0 && key == "unit" && type == Type::String)
            return m_json.string(m_ownUnit);
        if (depth == 0 && key == "title" && type == Type::String)
            return m_json.string(m_title);
        if (key == "line" && type == Type::Number) {
            std::string_view number;
            bool rounded = false;
            return m_json.number(number) && (parseScaled(number, 0, n.line, rounded) || true);
        }
        if (key == "self" && type == Type::Number && m_format != std::string_view("Hatchet call tree"))
            return metric(index, "self");
        return m_json.skip();
    }

    bool metric(std::uint32_t node, std::string_view name) {
        if (m_json.peek() != JsonCursor::Type::Number || name.find("(inc)") != std::string_view::npos)
            return m_json.skip();
        std::string_view number;
        std::int64_t value = 0;
        bool rounded = false;
        if (!m_json.number(number))
            return false;
        if (!parseScaled(number, unitOf(name).exponent, value, rounded))
            return true;
        return addValue(name, node, value, rounded) || m_json.fail();
    }
    [[nodiscard]] FileUnit unitOf(std::string_view metric) const {
        if (metric == "self")
            return fileUnit(m_ownUnit);
        const std::size_t open = metric.rfind('(');
        if (open != std::string_view::npos && metric.ends_with(')'))
            return fileUnit(metric.substr(open + 1, metric.size() - open - 2));
        return metric.starts_with("bytes") ? fileUnit("bytes") : FileUnit{};
    }

    FrameId frameOf(const Node& n) {
        if (!n.kind.empty()) {
            for (int k = 0; k < kFrameKindCount; ++k) {
                const auto kind = static_cast<FrameKind>(k);
                if (kind == FrameKind::Function || n.kind != frameKindName(kind))
                    continue;
                return m_frames->intern(kind, n.name);
            }
        }
        if (!n.file.empty())
            return m_frames->intern(FrameKind::Function, n.name, n.file,
                                    static_cast<std::uint32_t>(std::clamp<std::int64_t>(
                                        n.line, 0, std::numeric_limits<std::uint32_t>::max())));
        return frameOfName(*m_frames, n.name);
    }

    bool addValue(std::string_view name, std::uint32_t node, std::int64_t value, bool rounded) {
        auto it =
            std::find_if(m_metrics.begin(), m_metrics.end(), [&](const Metric& m) { return m.name == name; });
        if (it == m_metrics.end()) {
            constexpr std::size_t kMostMetrics = 64;
            if (m_metrics.size() >= kMostMetrics)
                return true;
            m_metrics.push_back({std::string(name), unitOf(name), {}, 0, false});
            it = m_metrics.end() - 1;
        }
        it->rounded = it->rounded || rounded;
        if (__builtin_add_overflow(it->sum, std::abs(value), &it->sum)) {
            m_error = Error::failed(fmt::format(
                "{}: the values of \"{}\" add up to more than can be counted (2^63).", m_source.name, name));
            return false;
        }
        it->values.emplace_back(node, value);
        return true;
    }

    Result<std::vector<ProfilePtr>> finish() {
        // Times first, then what is largest.
        std::stable_sort(m_metrics.begin(), m_metrics.end(), [](const Metric& a, const Metric& b) {
            return (a.unit.unit == WeightUnit::Nanoseconds) > (b.unit.unit == WeightUnit::Nanoseconds);
        });
        if (m_metrics.empty())
            m_metrics.push_back({"", {}, {}, 0, false});
        std::vector<ProfilePtr> out;
        std::vector<StackId> stackOf(m_nodes.size());
        for (std::size_t i = 0; i < m_nodes.size(); ++i) {
            const Placed& n = m_nodes[i];
            const StackId caller = n.parent == kNoParent ? StackId{} : stackOf[n.parent];
            stackOf[i] = n.frame ? m_stacks.push(caller, n.frame) : caller;
        }
        for (Metric& m : m_metrics) {
            ProfileBuilder builder(m_frames, m_source, m_format);
            builder.stacks() = m_stacks;
            builder.profile().name = m.name == "self" ? m_title : m.name;
            builder.profile().weightName = m.name == "self" ? "" : m.name;
            builder.profile().unit = m.unit.unit;
            builder.profile().samples = m_named;
            for (const auto& [node, value] : m.values) {
                if (value < 0)
                    builder.note("weight_negative", Diagnostic::Severity::DataLoss, Diagnostic::kNoOffset);
                else
                    builder.add(stackOf[node], value);
            }
            if (m.rounded)
                builder.note("fraction_rounded", Diagnostic::Severity::Warning, Diagnostic::kNoOffset);
            auto profile = builder.finish(m_options);
            if (!profile.ok())
                return profile.error();
            out.push_back(std::move(profile).value());
        }
        return out;
    }

    JsonCursor m_json;
    const ByteSource& m_source;
    const ImportOptions& m_options;
    const char* m_format = "";
    std::string m_ownUnit;
    std::string m_title;
    std::shared_ptr<FrameTable> m_frames = std::make_shared<FrameTable>();
    StackTable m_stacks;
    std::deque<Metric> m_metrics;
    std::vector<Placed> m_nodes;
    std::uint64_t m_named = 0;
    std::optional<Error> m_error;
};

} // namespace

Result<std::vector<ProfilePtr>> readCallTree(std::string_view text, const ByteSource& source,
                                             const ImportOptions& options) {
    return TreeReader(text, source, options).run();
}

} // namespace warpline::flame
