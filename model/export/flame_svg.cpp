// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/export/flame_svg.h"

#include "model/analysis/families.h"
#include "model/base/format.h"
#include "model/base/json.h"
#include "model/query/flame_layout.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace warpline {

namespace {

constexpr int kRow = 18;
constexpr int kMargin = 10;
constexpr int kHead = 52;
constexpr int kFoot = 30;
/// An average character of a sans-serif font of 11 px.
constexpr double kCharWidth = 6.3;

struct Colours {
    const char* background;
    const char* text;
    const char* mute;
    const char* slivers;
    const char* root;
};
constexpr Colours kLight = {"#ffffff", "#1b2028", "#5c6673", "#eceef2", "#eef0f4"};
constexpr Colours kDark = {"#14171c", "#e4e8ee", "#9aa4b2", "#20252d", "#20252d"};

struct Fill {
    const char* name;
    const char* light;
    const char* dark;
};
/// What is told apart, in the order of the legend.
enum class Paint : std::uint8_t {
    Python,
    Module,
    Op,
    Backward,
    Annotation,
    Runtime,
    Matmul,
    Attention,
    Convolution,
    Elementwise,
    Reduction,
    Normalisation,
    CopySet,
    Communication,
    Optimiser,
    Compiled,
    OtherKernel,
    Other,
    Missing,
};
constexpr std::array<Fill, 19> kFills = {{{"Python", "#e6e8ec", "#2c323b"},
                                          {"module", "#c9b8f2", "#53458f"},
                                          {"op", "#b9d4f3", "#2b5386"},
                                          {"backward op", "#cfd9ea", "#38465c"},
                                          {"annotation", "#d9e8d3", "#36523a"},
                                          {"runtime call", "#e3e0f0", "#3b3755"},
                                          {"matmul", "#9cc3f5", "#2f62a3"},
                                          {"attention", "#c095fc", "#473fb6"},
                                          {"convolution", "#85bfd4", "#176a7f"},
                                          {"elementwise", "#c9dc89", "#4d6f41"},
                                          {"reduction", "#e0c16a", "#78641a"},
                                          {"normalisation", "#f5a491", "#813c1c"},
                                          {"copy and set", "#c5cdc7", "#4c565f"},
                                          {"communication", "#ed99b6", "#79276e"},
                                          {"optimiser", "#b1e6ab", "#335a3a"},
                                          {"compiled", "#f6e16b", "#635800"},
                                          {"other kernel", "#dde1e7", "#3a414c"},
                                          {"other", "#dfe4ea", "#343c47"},
                                          {"no stack", "#f5c9a0", "#80501e"}}};

Paint kernelPaint(std::string_view name) {
    switch (familyOf(SliceKind::Kernel, name)) {
    case Family::Matmul:
        return Paint::Matmul;
    case Family::Attention:
        return Paint::Attention;
    case Family::Convolution:
        return Paint::Convolution;
    case Family::Elementwise:
        return Paint::Elementwise;
    case Family::Reduction:
        return Paint::Reduction;
    case Family::Normalisation:
        return Paint::Normalisation;
    case Family::CopySet:
        return Paint::CopySet;
    case Family::Communication:
        return Paint::Communication;
    case Family::Optimiser:
        return Paint::Optimiser;
    case Family::Compiled:
        return Paint::Compiled;
    default:
        return Paint::OtherKernel;
    }
}

Paint paintOf(const FrameTable& frames, FrameId id) {
    switch (frames.at(id).kind) {
    case FrameKind::Python:
        return Paint::Python;
    case FrameKind::Module:
        return Paint::Module;
    case FrameKind::Op:
        return Paint::Op;
    case FrameKind::Backward:
        return Paint::Backward;
    case FrameKind::Annotation:
        return Paint::Annotation;
    case FrameKind::Runtime:
        return Paint::Runtime;
    case FrameKind::Kernel:
        return kernelPaint(frames.name(id));
    case FrameKind::Copy:
    case FrameKind::Set:
        return Paint::CopySet;
    case FrameKind::Missing:
        return Paint::Missing;
    default:
        return Paint::Other;
    }
}

/// Text for XML: valid UTF-8 without the characters that XML 1.0 has no way to write.
std::string escaped(std::string_view text) {
    std::string out;
    const std::string valid = toUtf8(text);
    for (std::size_t i = 0; i < valid.size(); ++i) {
        const char c = valid[i];
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            // U+FFFE and U+FFFF are no characters of XML either.
            if (valid.compare(i, 2, "\xEF\xBF") == 0 && i + 2 < valid.size() &&
                static_cast<unsigned char>(valid[i + 2]) >= 0xBE) {
                out += "\xEF\xBF\xBD";
                i += 2;
            } else {
                out.push_back(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
            }
        }
    }
    return out;
}

class Drawing {
  public:
    Drawing(const FlameTree& tree, const FlameExport& options)
        : m_tree(tree), m_options(options), m_colours(options.dark ? kDark : kLight) {}

    std::string run() {
        m_width = std::clamp(m_options.width, 200, 20000);
        const FlameLayout layout(m_tree, m_options.root, m_width - 2 * kMargin, 0.5);
        m_rows = std::max(1, static_cast<int>(layout.rows()));
        m_used.fill(false);
        std::string body;
        for (const FlameBox& box : layout.boxes())
            rectangle(body, box);
        const int legendRows = legend(nullptr);
        m_height = kHead + m_rows * kRow + kFoot + (legendRows - 1) * kRow;
        std::string out = fmt::format(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
            "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"Inter, 'DejaVu Sans', "
            "Verdana, sans-serif\" font-size=\"11\">\n<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" "
            "fill=\"{3}\"/>\n<text x=\"{4}\" y=\"20\" font-size=\"14\" font-weight=\"600\" "
            "fill=\"{5}\">{2}</text>\n<text x=\"{4}\" y=\"38\" fill=\"{6}\">{7}</text>\n",
            m_width, m_height, escaped(m_options.title), m_colours.background, kMargin, m_colours.text,
            m_colours.mute, escaped(subtitle()));
        out += body;
        legend(&out);
        out += "</svg>\n";
        return out;
    }

  private:
    [[nodiscard]] std::string subtitle() const {
        const FlameTree::Node& root = m_tree.nodes[m_options.root];
        const char* direction =
            m_tree.bottomUp ? "callers below what they call" : "callees below their callers";
        return fmt::format("{} in all, {} in the picture; {}{}", formatWeight(m_tree.total(), m_tree.unit),
                           formatWeight(root.total, m_tree.unit), direction,
                           m_options.icicle ? "" : " (root at the bottom)");
    }
    [[nodiscard]] int top(std::uint32_t depth) const {
        const int row = m_options.icicle ? static_cast<int>(depth) : m_rows - 1 - static_cast<int>(depth);
        return kHead + row * kRow;
    }
    void rectangle(std::string& out, const FlameBox& r) {
        const char* fill = m_colours.root;
        std::string label;
        std::string tip;
        // A hairline between neighbours, where there is room for one.
        const double width = std::max(0.0, r.width - (r.width > 3 ? 0.6 : 0));
        const auto chars = static_cast<std::size_t>(std::max(0.0, (width - 6) / kCharWidth));
        const auto share = [&](std::int64_t of) {
            return of == 0 ? std::string("-")
                           : formatPercent(static_cast<double>(r.total) / static_cast<double>(of));
        };
        if (r.hidden > 0) {
            fill = m_colours.slivers;
            tip = fmt::format("{} smaller: {}, {} of all", formatCount(r.hidden),
                              formatWeight(r.total, m_tree.unit), share(m_tree.total()));
            if (chars >= 9)
                label = fmt::format("{} smaller", formatCount(r.hidden));
        } else {
            const FlameTree::Node& node = m_tree.nodes[r.node];
            label = fitLabel(m_tree, r.node, chars);
            tip = fmt::format("{}: {}, {} of all", m_tree.label(r.node), formatWeight(r.total, m_tree.unit),
                              share(m_tree.total()));
            if (node.frame) {
                const Paint paint = paintOf(*m_tree.frames, node.frame);
                m_used[static_cast<std::size_t>(paint)] = true;
                const Fill& f = kFills[static_cast<std::size_t>(paint)];
                fill = m_options.dark ? f.dark : f.light;
                tip += fmt::format(", {} of its caller; {} itself", share(m_tree.nodes[node.parent].total),
                                   formatWeight(node.self, m_tree.unit));
            }
        }
        const double x = kMargin + r.x;
        const int y = top(r.row);
        fmt::format_to(std::back_inserter(out),
                       "<g><title>{}</title><rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" "
                       "fill=\"{}\"/>",
                       escaped(tip), x, y, width, kRow - 1, fill);
        if (!label.empty())
            fmt::format_to(
                std::back_inserter(out), "<text x=\"{:.2f}\" y=\"{}\" fill=\"{}\">{}</text>", x + 3, y + 12.5,
                r.row < m_tree.nodes[m_options.root].depth ? m_colours.mute : m_colours.text, escaped(label));
        out += "</g>\n";
    }
    /// Writes the legend, or (null) only counts its lines.
    int legend(std::string* out) const {
        int rows = 1;
        double x = kMargin;
        double y = kHead + m_rows * kRow + 10;
        for (std::size_t i = 0; i < kFills.size(); ++i) {
            if (!m_used[i])
                continue;
            const Fill& f = kFills[i];
            const double width =
                14 + 4 + kCharWidth * static_cast<double>(std::string_view(f.name).size()) + 16;
            if (x + width > m_width - kMargin && x > kMargin) {
                x = kMargin;
                y += kRow;
                ++rows;
            }
            if (out != nullptr)
                fmt::format_to(std::back_inserter(*out),
                               "<rect x=\"{:.1f}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\"/><text "
                               "x=\"{:.1f}\" y=\"{}\" fill=\"{}\">{}</text>\n",
                               x, y, m_options.dark ? f.dark : f.light, x + 17, y + 10, m_colours.mute,
                               f.name);
            x += width;
        }
        return rows;
    }

    const FlameTree& m_tree;
    const FlameExport& m_options;
    const Colours& m_colours;
    int m_width = 0;
    int m_height = 0;
    int m_rows = 1;
    std::array<bool, kFills.size()> m_used{};
};

/// Cuts `keep` characters, not bytes, from the end (or the start) of a text.
std::string_view firstChars(std::string_view text, std::size_t keep) {
    std::size_t at = 0;
    while (at < text.size() && keep > 0) {
        ++at;
        while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80)
            ++at;
        --keep;
    }
    return text.substr(0, at);
}
std::string_view lastChars(std::string_view text, std::size_t keep) {
    std::size_t at = text.size();
    while (at > 0 && keep > 0) {
        --at;
        while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80)
            --at;
        --keep;
    }
    return text.substr(at);
}
std::size_t charCount(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

} // namespace

std::string fitLabel(const FlameTree& tree, std::uint32_t node, std::size_t chars) {
    constexpr std::size_t kFewest = 3;
    const std::string label = tree.label(node);
    if (charCount(label) <= chars)
        return label;
    if (chars < kFewest)
        return {};
    const FlameTree::Node& n = tree.nodes[node];
    const bool path = n.frame && tree.frames->at(n.frame).file;
    if (path)
        return "\u2026" + std::string(lastChars(label, chars - 1));
    return std::string(firstChars(label, chars - 1)) + "\u2026";
}

std::string flameSvg(const FlameTree& tree, const FlameExport& options) {
    return Drawing(tree, options).run();
}

} // namespace warpline
