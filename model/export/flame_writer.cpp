// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/export/flame_writer.h"

#include "model/base/json.h"
#include "model/base/json_writer.h"
#include "model/export/flame_svg.h"
#include "model/export/output_file.h"

#include <algorithm>
#include <fmt/format.h>

namespace warpline {

namespace {

const char* unitName(WeightUnit unit) {
    switch (unit) {
    case WeightUnit::Count:
        return "none";
    case WeightUnit::Nanoseconds:
        return "nanoseconds";
    case WeightUnit::Bytes:
        return "bytes";
    }
    return "none";
}

/// A frame's text in a line of collapsed stacks: what separates frames and lines stands for nothing else.
std::string collapsedName(const std::string& label) {
    std::string out = toUtf8(label);
    for (char& c : out) {
        if (c == ';')
            c = ':';
        else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
            c = ' ';
    }
    const std::size_t begin = out.find_first_not_of(' ');
    if (begin == std::string::npos)
        return "(unnamed)";
    return out.substr(begin, out.find_last_not_of(' ') - begin + 1);
}

/// Calls f(node, frames from the export's root down to it) for each node with a weight of its own.
template <class F>
void eachStack(const FlameTree& tree, std::uint32_t root, F&& f) {
    // Depth first: the next to visit is at the end; a node's path is what is on the way down to it.
    std::vector<std::uint32_t> next = {root};
    std::vector<std::uint32_t> path;
    const std::uint32_t base = tree.nodes[root].depth;
    while (!next.empty()) {
        const std::uint32_t node = next.back();
        next.pop_back();
        const FlameTree::Node& n = tree.nodes[node];
        path.resize(n.depth - base);
        path.push_back(node);
        if (n.self != 0)
            f(node, path);
        for (std::uint32_t c = n.childCount; c-- > 0;)
            next.push_back(n.firstChild + c);
    }
}

std::string collapsed(const FlameTree& tree, std::uint32_t root) {
    std::string out;
    eachStack(tree, root, [&](std::uint32_t node, const std::vector<std::uint32_t>& path) {
        bool first = true;
        for (const std::uint32_t step : path) {
            if (step == FlameTree::kRoot && path.size() > 1)
                continue;
            if (!first)
                out.push_back(';');
            first = false;
            out += collapsedName(tree.label(step));
        }
        fmt::format_to(std::back_inserter(out), " {}\n", tree.nodes[node].self);
    });
    return out;
}

std::string speedscope(const FlameTree& tree, const FlameExport& options) {
    std::string out;
    JsonWriter json(out);
    // A label is a frame here: merged modules count differently from place to place.
    std::vector<std::uint32_t> frameOf(tree.nodes.size(), 0);
    std::vector<std::uint32_t> shown; // a node that shows each frame
    boost::unordered_flat_map<std::string, std::uint32_t> byLabel;
    for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
        std::string key = tree.label(i);
        if (const FrameId frame = tree.nodes[i].frame)
            key += fmt::format("\x01{}", frame.value);
        const auto [it, fresh] =
            byLabel.try_emplace(std::move(key), static_cast<std::uint32_t>(shown.size()));
        if (fresh)
            shown.push_back(i);
        frameOf[i] = it->second;
    }
    json.beginObject();
    json.field("$schema", "https://www.speedscope.app/file-format-schema.json");
    json.field("exporter", "Warpline");
    json.field("name", options.title);
    json.field("activeProfileIndex", std::int64_t{0});
    json.key("shared").beginObject().key("frames").beginArray();
    for (const std::uint32_t node : shown) {
        json.beginObject();
        json.field("name", tree.label(node));
        if (const FrameId id = tree.nodes[node].frame) {
            const Frame& frame = tree.frames->at(id);
            if (frame.file) {
                json.field("file", tree.frames->strings.view(frame.file));
                if (frame.line != 0)
                    json.field("line", std::int64_t{frame.line});
            }
        }
        json.endObject();
    }
    json.endArray().endObject();
    json.key("profiles").beginArray().beginObject();
    json.field("type", "sampled");
    json.field("name", options.title);
    json.field("unit", unitName(tree.unit));
    json.field("startValue", std::int64_t{0});
    json.field("endValue", tree.nodes.empty() ? std::int64_t{0} : tree.nodes[options.root].total);
    json.key("samples").beginArray();
    std::vector<std::int64_t> weights;
    if (!tree.nodes.empty()) {
        eachStack(tree, options.root, [&](std::uint32_t node, const std::vector<std::uint32_t>& path) {
            weights.push_back(tree.nodes[node].self);
            json.beginArray();
            for (const std::uint32_t step : path)
                if (step != FlameTree::kRoot || path.size() == 1)
                    json.integer(frameOf[step]);
            json.endArray();
        });
    }
    json.endArray();
    json.key("weights").beginArray();
    for (const std::int64_t w : weights)
        json.integer(w);
    json.endArray();
    json.endObject().endArray().endObject();
    out.push_back('\n');
    return out;
}

void openNode(JsonWriter& json, const FlameTree& tree, std::uint32_t node, const FlameExport& options) {
    const FlameTree::Node& n = tree.nodes[node];
    json.beginObject();
    if (node == options.root) {
        json.field("format", "warpline flame tree");
        json.field("version", std::int64_t{1});
        json.field("title", options.title);
        json.field("unit", unitName(tree.unit));
        json.field("direction", tree.bottomUp ? "bottom-up" : "top-down");
        if (const auto& c = options.coverage) {
            json.key("coverage").beginObject();
            json.field("total", c->total);
            json.field("script", c->script);
            json.field("module", c->module);
            json.field("script_or_module", c->scriptOrModule);
            json.field("python", c->python);
            json.field("backward", c->backward);
            json.field("missing", c->missing);
            json.endObject();
        }
    }
    json.field("name", tree.label(node));
    if (n.frame) {
        const Frame& frame = tree.frames->at(n.frame);
        json.field("kind", frameKindName(frame.kind));
        if (frame.file) {
            json.field("file", tree.frames->strings.view(frame.file));
            json.field("line", std::int64_t{frame.line});
        }
    }
    json.field("self", n.self);
    json.field("total", n.total);
    json.field("count", n.count);
    if (tree.difference) {
        json.field("base_self", n.baseSelf);
        json.field("base_total", n.baseTotal);
    }
    json.key("children").beginArray();
}

std::string jsonTree(const FlameTree& tree, const FlameExport& options) {
    std::string out;
    JsonWriter json(out, options.indent);
    struct Open {
        std::uint32_t node;
        std::uint32_t next; ///< how many of its children are written
    };
    openNode(json, tree, options.root, options);
    std::vector<Open> open = {{options.root, 0}};
    while (!open.empty()) {
        Open& at = open.back();
        const FlameTree::Node& n = tree.nodes[at.node];
        if (at.next < n.childCount) {
            const std::uint32_t child = n.firstChild + at.next++;
            openNode(json, tree, child, options);
            open.push_back({child, 0});
        } else {
            json.endArray().endObject();
            open.pop_back();
        }
    }
    out.push_back('\n');
    return out;
}

} // namespace

std::string flameText(const FlameTree& tree, const FlameExport& options) {
    if (tree.nodes.empty() || options.root >= tree.nodes.size()) {
        FlameTree empty;
        empty.nodes.emplace_back();
        empty.frames = tree.frames ? tree.frames : std::make_shared<const FrameTable>();
        empty.unit = tree.unit;
        FlameExport whole = options;
        whole.root = FlameTree::kRoot;
        return flameText(empty, whole);
    }
    switch (options.format) {
    case FlameFormat::Collapsed:
        return collapsed(tree, options.root);
    case FlameFormat::Speedscope:
        return speedscope(tree, options);
    case FlameFormat::Json:
        return jsonTree(tree, options);
    case FlameFormat::Svg:
        return flameSvg(tree, options);
    }
    return {};
}

Result<Done> writeFlame(const FlameTree& tree, const std::string& path, const FlameExport& options) {
    OutputFile file;
    if (auto done = file.open(path); !done.ok())
        return done;
    if (auto done = file.write(flameText(tree, options)); !done.ok())
        return done;
    return file.commit();
}

std::optional<FlameFormat> flameFormatOf(std::string_view path) {
    const auto ends = [&](std::string_view end) { return path.size() > end.size() && path.ends_with(end); };
    if (ends(".svg"))
        return FlameFormat::Svg;
    if (ends(".speedscope.json") || ends(".speedscope"))
        return FlameFormat::Speedscope;
    if (ends(".json"))
        return FlameFormat::Json;
    if (ends(".txt") || ends(".folded") || ends(".collapsed") || ends(".stacks"))
        return FlameFormat::Collapsed;
    return std::nullopt;
}

} // namespace warpline
