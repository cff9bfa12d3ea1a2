// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/analysis/flame.h"
#include "model/export/flame_writer.h"
#include "model/import/flame/profile_builder.h"
#include "model/import/import.h"
#include "tests/support/files.h"
#include "tests/support/strict_json.h"

#include <QRegularExpression>
#include <QTest>
#include <QXmlStreamReader>

#include <filesystem>
#include <string>

using namespace warpline;
using namespace std::string_literals;
namespace fs = std::filesystem;

/// Profiles of other programs come in, flame graphs go out, and what went out comes in again.
class TestProfiles : public QObject {
    Q_OBJECT

  private slots:
    void collapsed_data();
    void collapsed();
    void collapsedOfTorch();
    void collapsedOverflow();
    void utf16();
    void sampled();
    void evented();
    void oddEvents();
    void units_data();
    void units();
    void hugeTimes();
    void severalProfiles();
    void hatchet();
    void refused_data();
    void refused();
    void cutAnywhere_data();
    void cutAnywhere();
    void deep();
    void corpus_data();
    void corpus();
    void exportsOpenAgain_data();
    void exportsOpenAgain();
    void oddNames();
    void picture();
    void emptyTree();
    void formatsByName();
};

namespace {

Result<std::vector<ProfilePtr>> profilesOf(std::string_view text) {
    auto opened = openFromMemory(text, "p.txt");
    if (!opened.ok())
        return opened.error();
    return opened.value().profiles;
}

QString outline(const FlameTree& tree, std::uint32_t node = FlameTree::kRoot) {
    const FlameTree::Node& n = tree.nodes[node];
    QString out = QStringLiteral("%1 %2").arg(QString::fromStdString(tree.label(node))).arg(n.total);
    QStringList children;
    for (std::uint32_t c = 0; c < n.childCount; ++c)
        children << outline(tree, n.firstChild + c);
    return children.isEmpty()
               ? out
               : out + QStringLiteral(" (") + children.join(QStringLiteral(", ")) + QLatin1Char(')');
}
QString outlineOf(std::string_view text) {
    const auto profiles = profilesOf(text);
    if (!profiles.ok())
        return QString::fromStdString(profiles.error().message);
    if (profiles.value().empty())
        return QStringLiteral("no profile");
    return outline(flameTree(*profiles.value().front()).value());
}

std::string speedscope(const std::string& profile) {
    return R"({"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[)" + profile +
           R"(],"shared":{"frames":[{"name":"a"},{"name":"b"},{"name":"c","file":"c.py","line":4}]}})";
}
const std::string kSampled =
    R"({"type":"sampled","name":"one","unit":"milliseconds","startValue":5,"endValue":20,)"
    R"("samples":[[0,1],[0,1],[0,2],[]],"weights":[1.5,1,2,0.25]})";
const std::string kEvented =
    R"({"type":"evented","name":"two","unit":"microseconds","startValue":0,"endValue":14,"events":[)"
    R"({"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":2},{"type":"C","frame":1,"at":6},)"
    R"({"type":"O","frame":1,"at":7},{"type":"C","frame":1,"at":8},{"type":"C","frame":0,"at":14}]})";
const std::string kHatchet =
    R"x([{"children":[{"children":[{"children":[],"frame":{"name":"_Z1fi","type":"function"},)x"
    R"x("metrics":{"count":2,"device_id":"0","time (ns)":30}}],"frame":{"name":"scope","type":"function"},)x"
    R"x("metrics":{"time (ns)":5,"util (inc)":0.5}}],"frame":{"name":"ROOT","type":"function"},)x"
    R"x("metrics":{"count":0,"time (ns)":0}},{"CUDA":{"0":{"arch":"90"}}}])x";

bool noted(const Profile& profile, std::string_view id) {
    return profile.diagnostics.find(id) != nullptr;
}

FlameTree sampleTree() {
    auto frames = std::make_shared<FrameTable>();
    StackTable stacks;
    std::vector<StackWeight> weights;
    const auto add = [&](std::initializer_list<std::pair<FrameKind, const char*>> path, std::int64_t weight) {
        StackId stack;
        for (const auto& [kind, name] : path)
            stack = stacks.push(stack, frames->intern(kind, name));
        weights.push_back({stack, weight, 1, {}});
    };
    add({{FrameKind::Python, "a/long/path/train.py(3): step"},
         {FrameKind::Python, "nn.Module: Net_0"},
         {FrameKind::Kernel, "gemm<float, 4>"}},
        70);
    add({{FrameKind::Python, "a/long/path/train.py(3): step"}, {FrameKind::Op, "aten::mm"}}, 30);
    add({{FrameKind::Python, "a/long/path/train.py(3): step"}}, 7);
    add({}, 11);
    return flameTree(frames, stacks, weights, WeightUnit::Nanoseconds).value();
}

} // namespace

void TestProfiles::collapsed_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("expected");
    QTest::addColumn<QString>("note");
    const auto row = [](const char* name, const std::string& text, const char* expected,
                        const char* note = "") {
        QTest::newRow(name) << QByteArray::fromStdString(text) << QString::fromUtf8(expected)
                            << QString::fromUtf8(note);
    };
    row("plain", "a;b 1\na;c 2\na;b 3\n", "all 6 (a 6 (b 4, c 2))");
    row("line ends of Windows, none at the end", "a;b 1\r\na;b;c 4", "all 5 (a 5 (b 5 (c 4)))");
    row("comments", "# head\n// more\na;b 1\n", "all 1 (a 1 (b 1))");
    row("a line of another make", "a;b 1\nnothing here\na;c 1\n", "all 2 (a 2 (b 1, c 1))", "invalid_line");
    row("negative", "a;b 1\na;c -3\na;d 1\n", "all 2 (a 2 (b 1, d 1))", "invalid_line");
    row("fractions", "a;b 1.5\na;c 2.0\n", "all 4 (a 4 (b 2, c 2))", "fraction_rounded");
    row("spaces in names", "std::vector<int, x>::f(int);g 2\na;b c 3\n",
        "all 5 (a 3 (b c 3), std::vector<int, x>::f(int) 2 (g 2))");
    row("tabs", "a;b\t2\na;c\t3\n", "all 5 (a 5 (c 3, b 2))");
    row("empty frames", "a;;b; 2\n;a;b 1\n", "all 3 (a 3 (b 3))");
    row("no semicolon at all", "main 2\nidle 5\n", "all 7 (idle 5, main 2)");
    row("only zeros", "a;b 0\na;c 0\n", "all 0");
}
void TestProfiles::collapsed() {
    QFETCH(QByteArray, text);
    QFETCH(QString, expected);
    QFETCH(QString, note);
    QCOMPARE(outlineOf(text.toStdString()), expected);
    const ProfilePtr profile = profilesOf(text.toStdString()).value().front();
    QCOMPARE(profile->diagnostics.rows().size(), std::size_t(note.isEmpty() ? 0 : 1));
    QVERIFY(note.isEmpty() || noted(*profile, note.toStdString()));
    QCOMPARE(profile->format, std::string("collapsed stacks"));
    QVERIFY(profile->timeline == nullptr);
}

void TestProfiles::collapsedOfTorch() {
    const ProfilePtr profile =
        profilesOf("train.py(4):_<module>;train.py(9):_step;nn.Module:_Net_0;<built-in_method_mm> 12\n")
            .value()
            .front();
    const auto path = profile->stacks->path(profile->weights.front().stack);
    QCOMPARE(path.size(), std::size_t{4});
    QCOMPARE(profile->frames->name(path[1]), std::string_view("train.py(9): step"));
    QCOMPARE(profile->frames->at(path[1]).line, 9U);
    QVERIFY(profile->frames->at(path[1]).script);
    QCOMPARE(profile->frames->at(path[2]).kind, FrameKind::Module);
}

void TestProfiles::collapsedOverflow() {
    const auto many = profilesOf("a;b 9223372036854775807\na;c 1\n");
    QVERIFY(!many.ok());
    QVERIFY(many.error().message.find("2^63") != std::string::npos);
    QCOMPARE(outlineOf("a;b 99999999999999999999\na;c 1\n"), QStringLiteral("all 1 (a 1 (c 1))"));
}

void TestProfiles::utf16() {
    for (const bool big : {false, true}) {
        std::string bytes = big ? "\xFE\xFF"s : "\xFF\xFE"s;
        for (const char c : "a;b 1\r\na;c 2\r\n"s) {
            if (big)
                bytes.push_back('\0');
            bytes.push_back(c);
            if (!big)
                bytes.push_back('\0');
        }
        QCOMPARE(outlineOf(bytes), QStringLiteral("all 3 (a 3 (c 2, b 1))"));
    }
}

void TestProfiles::sampled() {
    const ProfilePtr profile = profilesOf(speedscope(kSampled)).value().front();
    QCOMPARE(outline(flameTree(*profile).value()),
             QStringLiteral("all 4750000 (a 4500000 (b 2500000, c 2000000), (no stack) 250000)"));
    QCOMPARE(profile->unit, WeightUnit::Nanoseconds);
    QCOMPARE(profile->samples, std::uint64_t{4});
    QCOMPARE(profile->total, 4'750'000);
    // On a time axis: what stays on the stack is one slice.
    QVERIFY(profile->timeline != nullptr);
    const Trace& t = *profile->timeline;
    QCOMPARE(t.slices.size(), std::size_t{3});
    QCOMPARE(t.extent.begin, 5'000'000);
    QCOMPARE(t.extent.end, 9'500'000);
    QCOMPARE(t.format, std::string("speedscope profile"));
    // A trace is asked for: that is it.
    QCOMPARE(openTracesFromMemory(speedscope(kSampled), "s.json").value().size(), std::size_t{1});
    QVERIFY(!openTracesFromMemory("a;b 1\n", "s.txt").ok());
}

void TestProfiles::evented() {
    const ProfilePtr profile = profilesOf(speedscope(kEvented)).value().front();
    QCOMPARE(outline(flameTree(*profile).value()), QStringLiteral("all 14000 (a 14000 (b 5000))"));
    QVERIFY(profile->diagnostics.rows().empty());
    QCOMPARE(profile->timeline->slices.size(), std::size_t{3});
    QCOMPARE(profile->timeline->extent.end, 14'000);
}

void TestProfiles::oddEvents() {
    const auto events = [](const std::string& list, const std::string& more = "") {
        return speedscope(R"({"type":"evented","name":"x","unit":"none","startValue":0,"endValue":20,)" +
                          more + R"("events":[)" + list + "]}");
    };
    const auto open = [](int frame, int at) {
        return QStringLiteral(R"({"type":"O","frame":%1,"at":%2})").arg(frame).arg(at).toStdString();
    };
    const auto close = [](int frame, int at) {
        return QStringLiteral(R"({"type":"C","frame":%1,"at":%2})").arg(frame).arg(at).toStdString();
    };
    const auto note = [&](const std::string& text, const char* id, const char* expected) {
        const ProfilePtr profile = profilesOf(text).value().front();
        return noted(*profile, id) && outline(flameTree(*profile).value()) == QString::fromUtf8(expected);
    };
    QVERIFY(note(events(open(0, 0) + "," + open(1, 2)), "open_at_end", "all 20 (a 20 (b 18))"));
    QVERIFY(note(events(open(0, 0) + "," + open(1, 2) + "," + close(0, 5)), "close_out_of_order",
                 "all 5 (a 5 (b 3))"));
    QVERIFY(note(events(open(0, 0) + "," + close(1, 2) + "," + close(0, 5)), "close_without_open",
                 "all 5 (a 5)"));
    QVERIFY(note(events(open(0, 4) + "," + open(1, 2) + "," + close(1, 6) + "," + close(0, 7)),
                 "time_backwards", "all 3 (a 3 (b 2))"));
    QVERIFY(note(events(open(0, 0) + "," + open(77, 2) + "," + close(0, 5)), "unknown_frame", "all 5 (a 5)"));
}

void TestProfiles::units_data() {
    QTest::addColumn<QByteArray>("number");
    QTest::addColumn<int>("exponent");
    QTest::addColumn<qlonglong>("expected");
    QTest::addColumn<bool>("rounded");
    const auto row = [](const char* number, int exponent, qlonglong expected, bool rounded = false) {
        QTest::addRow("%s e%d", number, exponent) << QByteArray(number) << exponent << expected << rounded;
    };
    row("0", 9, 0);
    row("1.5", 9, 1'500'000'000);
    row("0.1", 9, 100'000'000);
    row("1e-9", 9, 1);
    row("1.7e+18", 0, 1'700'000'000'000'000'000);
    row("1700000000000000001", 0, 1'700'000'000'000'000'001);
    row("0.0000000004", 9, 0, true);
    row("0.0000000005", 9, 1, true);
    row("-2.5", 3, -2500);
    row("1E2", 0, 100);
    row("000.50", 1, 5);
    row("9223372036854775807", 0, 9'223'372'036'854'775'807);
}
void TestProfiles::units() {
    QFETCH(QByteArray, number);
    QFETCH(int, exponent);
    QFETCH(qlonglong, expected);
    QFETCH(bool, rounded);
    std::int64_t out = -1;
    bool got = false;
    QVERIFY(flame::parseScaled(number.toStdString(), exponent, out, got));
    QCOMPARE(out, static_cast<std::int64_t>(expected));
    QCOMPARE(got, rounded);
    for (const char* wrong : {"", "-", "e5", "1e", "1.2.3", "0x5", "9223372036854775808", "1e300", "abc"})
        QVERIFY2(!flame::parseScaled(wrong, 0, out, got), wrong);
}

void TestProfiles::hugeTimes() {
    // Absolute nanoseconds, exact although no double holds them.
    const ProfilePtr profile =
        profilesOf(
            speedscope(
                R"({"type":"evented","name":"x","unit":"nanoseconds","startValue":1764590000000000001,"endValue":1764590000000000009,)"
                R"("events":[{"type":"O","frame":0,"at":1764590000000000001},{"type":"C","frame":0,"at":1764590000000000008}]})"))
            .value()
            .front();
    QCOMPARE(profile->total, 7);
    QCOMPARE(profile->timeline->extent.begin, 1'764'590'000'000'000'001);
    QCOMPARE(profile->timeline->slices.duration[0], 7);
    const auto over = profilesOf(speedscope(
        R"({"type":"sampled","name":"x","unit":"seconds","samples":[[0]],"weights":[1764590000000000001]})"));
    QVERIFY(!over.ok());
}

void TestProfiles::severalProfiles() {
    std::string text = speedscope(kSampled + "," + kEvented);
    QCOMPARE(profilesOf(text).value().front()->name, std::string("one"));
    text.insert(1, R"("activeProfileIndex":1,)");
    const auto profiles = profilesOf(text).value();
    QCOMPARE(profiles.size(), std::size_t{2});
    QCOMPARE(profiles[0]->name, std::string("two"));
    QCOMPARE(profiles[1]->name, std::string("one"));
}

void TestProfiles::hatchet() {
    const auto profiles = profilesOf(kHatchet).value();
    QCOMPARE(profiles.size(), std::size_t{2});
    QCOMPARE(profiles[0]->name, std::string("time (ns)"));
    QCOMPARE(profiles[0]->unit, WeightUnit::Nanoseconds);
    QCOMPARE(outline(flameTree(*profiles[0]).value()), QStringLiteral("all 35 (scope 35 (f(int) 30))"));
    QCOMPARE(profiles[1]->name, std::string("count"));
    QCOMPARE(profiles[1]->total, 2);
}

void TestProfiles::refused_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("sentence");
    const auto row = [](const char* name, const std::string& text, const char* sentence) {
        QTest::newRow(name) << QByteArray::fromStdString(text) << QString::fromUtf8(sentence);
    };
    row("cut", speedscope(kSampled).substr(0, 150), "breaks off or is no JSON at byte");
    row("no profiles",
        R"({"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[]}})",
        "no \"profiles\"");
    row("empty list",
        R"({"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[],"shared":{"frames":[]}})",
        "holds no profile");
    row("unknown type", speedscope(R"({"type":"guessed","name":"x"})"),
        "neither \"sampled\" nor \"evented\"");
    row("no samples", speedscope(R"({"type":"sampled","name":"x","weights":[1]})"), "has no \"samples\"");
    row("empty", "", "empty (0 bytes)");
    row("hatchet cut", kHatchet.substr(0, 100), "breaks off or is no JSON at byte");
}
void TestProfiles::refused() {
    QFETCH(QByteArray, text);
    QFETCH(QString, sentence);
    const auto profiles = profilesOf(text.toStdString());
    QVERIFY(!profiles.ok());
    QVERIFY2(QString::fromStdString(profiles.error().message).contains(sentence),
             profiles.error().message.c_str());
}

void TestProfiles::cutAnywhere_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("sampled") << QByteArray::fromStdString(speedscope(kSampled));
    QTest::newRow("evented") << QByteArray::fromStdString(speedscope(kEvented));
    QTest::newRow("hatchet") << QByteArray::fromStdString(kHatchet);
    QTest::newRow("collapsed") << QByteArray("a;b 10\na;c 2\n");
    FlameExport json;
    json.format = FlameFormat::Json;
    QTest::newRow("tree") << QByteArray::fromStdString(flameText(sampleTree(), json));
}
void TestProfiles::cutAnywhere() {
    QFETCH(QByteArray, text);
    const std::string whole = text.toStdString();
    for (std::size_t n = 0; n < whole.size(); ++n) {
        const auto opened = openFromMemory(std::string_view(whole).substr(0, n), "cut");
        QVERIFY(opened.ok() || opened.error().message.size() > 20);
        // And with a byte that is wrong.
        std::string wrong = whole;
        wrong[n] = static_cast<char>(wrong[n] ^ 0x15);
        const auto other = openFromMemory(wrong, "wrong");
        QVERIFY(other.ok() || other.error().message.size() > 20);
    }
}

void TestProfiles::deep() {
    std::string text;
    for (int i = 0; i < 100'000; ++i)
        text += R"x([{"frame":{"name":"f"},"metrics":{"time (ns)":1},"children":)x";
    const auto profiles = profilesOf(text);
    QVERIFY(!profiles.ok());
    QVERIFY(profiles.error().message.find("nested more than") != std::string::npos);
    std::string line;
    for (int i = 0; i < 100'000; ++i)
        line += "f;";
    const auto long_ = profilesOf(line + "g 3\n");
    QVERIFY(long_.ok());
    FlameShape shape;
    shape.bottomUp = true;
    QCOMPARE(flameTree(*long_.value().front(), shape).value().total(), 3);
    QCOMPARE(flameTree(*long_.value().front()).value().total(), 3);
}

void TestProfiles::corpus_data() {
    QTest::addColumn<int>("profiles");
    QTest::addColumn<qlonglong>("total");
    QTest::newRow("collapsed_crlf.txt") << 1 << 14LL;
    QTest::newRow("collapsed_perf_vertx.txt") << 1 << 285LL;
    QTest::newRow("collapsed_with_invalids.txt") << 1 << 14LL;
    QTest::newRow("proton_tritonbench.hatchet") << 2 << 91'711LL;
    QTest::newRow("speedscope_simple_0.0.1.speedscope.json") << 1 << 14LL;
    QTest::newRow("speedscope_two_sampled_0.6.0.speedscope.json") << 2 << 14'000'000'000LL;
    QTest::newRow("samply_tiktoken_profile.json.gz") << 0 << 0LL;
}
void TestProfiles::corpus() {
    QFETCH(int, profiles);
    QFETCH(qlonglong, total);
    const fs::path path = fs::path(WARPLINE_SHARED_DATA) / "corpus" / "flame" / QTest::currentDataTag();
    if (!fs::exists(path))
        QSKIP("the corpus folder is not there; set WARPLINE_SHARED_DATA to run this");
    const auto opened = openFile(path.string());
    if (profiles == 0) {
        QVERIFY(!opened.ok());
        QVERIFY(opened.error().message.find("Firefox Profiler") != std::string::npos);
        return;
    }
    QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().message.c_str());
    QCOMPARE(opened.value().profiles.size(), static_cast<std::size_t>(profiles));
    QCOMPARE(opened.value().profiles.front()->total, static_cast<std::int64_t>(total));
}

void TestProfiles::exportsOpenAgain_data() {
    QTest::addColumn<int>("format");
    QTest::addColumn<QString>("outline");
    const QString whole = outline(sampleTree());
    QTest::newRow("collapsed") << static_cast<int>(FlameFormat::Collapsed) << whole;
    QTest::newRow("speedscope") << static_cast<int>(FlameFormat::Speedscope) << whole;
    QTest::newRow("json") << static_cast<int>(FlameFormat::Json) << whole;
}
void TestProfiles::exportsOpenAgain() {
    QFETCH(int, format);
    QFETCH(QString, outline);
    FlameExport options;
    options.format = static_cast<FlameFormat>(format);
    options.title = "GPU time of \"x\"";
    const std::string text = flameText(sampleTree(), options);
    QCOMPARE(outlineOf(text), outline);
    const ProfilePtr profile = profilesOf(text).value().front();
    QCOMPARE(profile->unit,
             options.format == FlameFormat::Collapsed ? WeightUnit::Count : WeightUnit::Nanoseconds);
    // A part of it too.
    options.root = 1;
    const FlameTree tree = sampleTree();
    QCOMPARE(profilesOf(flameText(tree, options)).value().front()->total, tree.nodes[1].total);
}

void TestProfiles::oddNames() {
    auto frames = std::make_shared<FrameTable>();
    StackTable stacks;
    std::vector<StackWeight> weights;
    std::int64_t total = 0;
    // Below a caller, by which a list of stacks is told from any other text.
    const StackId outer = stacks.push({}, frames->intern(FrameKind::Op, "outer"));
    for (const std::string& name : {"a;b"s, "line\nbreak"s, ""s, " 12 "s, "<&>\"'"s, "\xFF\xFE"s, "\x01\x02"s,
                                    "\xEF\xBF\xBF"s, "many words 7"s}) {
        weights.push_back({stacks.push(outer, frames->intern(FrameKind::Op, name)), 1 + total, 1, {}});
        total += weights.back().weight;
    }
    const FlameTree tree = flameTree(frames, stacks, weights, WeightUnit::Count).value();
    for (const FlameFormat format : {FlameFormat::Collapsed, FlameFormat::Speedscope, FlameFormat::Json}) {
        FlameExport options;
        options.format = format;
        const std::string text = flameText(tree, options);
        const auto profiles = profilesOf(text);
        QVERIFY2(profiles.ok(), profiles.ok() ? "" : profiles.error().message.c_str());
        QCOMPARE(profiles.value().front()->total, total);
    }
    FlameExport svg;
    svg.format = FlameFormat::Svg;
    svg.title = "<\xFF&\x02>";
    QXmlStreamReader xml(QByteArray::fromStdString(flameText(tree, svg)));
    while (!xml.atEnd())
        xml.readNext();
    QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
}

void TestProfiles::picture() {
    const FlameTree tree = sampleTree();
    for (const bool icicle : {true, false}) {
        FlameExport options;
        options.format = FlameFormat::Svg;
        options.title = "GPU time";
        options.icicle = icicle;
        options.dark = !icicle;
        const std::string text = flameText(tree, options);
        QXmlStreamReader xml(QByteArray::fromStdString(text));
        int boxes = 0;
        bool fits = true;
        QStringList labels;
        double width = 0;
        double height = 0;
        while (!xml.atEnd()) {
            if (xml.readNext() != QXmlStreamReader::StartElement)
                continue;
            const auto attributes = xml.attributes();
            const auto number = [&](const char* name) {
                return attributes.value(QLatin1String(name)).toDouble();
            };
            if (xml.name() == QLatin1String("svg")) {
                width = number("width");
                height = number("height");
            } else if (xml.name() == QLatin1String("rect")) {
                ++boxes;
                fits = fits && number("x") >= 0 && number("x") + number("width") <= width &&
                       number("y") + number("height") <= height;
            } else if (xml.name() == QLatin1String("text")) {
                fits = fits && number("y") < height;
                labels << xml.readElementText();
            }
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        QVERIFY(fits);
        QVERIFY(boxes >= 1 + static_cast<int>(tree.nodes.size()));
        QVERIFY(labels.contains(QStringLiteral("gemm<float, 4>")));
        QVERIFY(labels.contains(QStringLiteral("GPU time")));
        QVERIFY(!text.empty() && text.find("<script") == std::string::npos &&
                text.find("http://www.w3.org") != std::string::npos);
        QVERIFY(text.find("href") == std::string::npos);
    }
}

void TestProfiles::emptyTree() {
    const FlameTree empty =
        flameTree(std::make_shared<FrameTable>(), StackTable(), {}, WeightUnit::Count).value();
    for (const FlameFormat format : {FlameFormat::Speedscope, FlameFormat::Json}) {
        FlameExport options;
        options.format = format;
        const auto profiles = profilesOf(flameText(empty, options));
        QVERIFY2(profiles.ok(), profiles.ok() ? "" : profiles.error().message.c_str());
        QCOMPARE(profiles.value().front()->total, 0);
    }
    FlameExport options;
    QCOMPARE(flameText(empty, options), std::string());
    options.format = FlameFormat::Svg;
    QVERIFY(flameText(FlameTree(), options).starts_with("<?xml"));
}

void TestProfiles::formatsByName() {
    QCOMPARE(flameFormatOf("x.svg"), std::optional(FlameFormat::Svg));
    QCOMPARE(flameFormatOf("x.speedscope.json"), std::optional(FlameFormat::Speedscope));
    QCOMPARE(flameFormatOf("x.json"), std::optional(FlameFormat::Json));
    QCOMPARE(flameFormatOf("x.folded"), std::optional(FlameFormat::Collapsed));
    QVERIFY(!flameFormatOf("x.png"));
    QVERIFY(!flameFormatOf(".svg"));
}

QTEST_GUILESS_MAIN(TestProfiles)
#include "tst_profiles.moc"
