// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/chrome/repair.h"
#include "tests/support/strict_json.h"

#include <QtTest>
#include <random>

using namespace warpline;
using namespace std::string_literals;
using Status = RepairedEvent::Status;

// Declared ahead of its functions: moc loses its way in their raw strings.
class TestRepair : public QObject {
    Q_OBJECT

  private slots:
    void strictChecker();
    void one_data();
    void one();
    void sequences_data();
    void sequences();
    void everyCut();
    void growingText();
    void hugeEvents();
    void costIsLinear();
    void mutations();
};

namespace {

const std::string kEvent =
    R"j({
    "ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel<4, f<float>, char*[2]>(int)",
                  "pid" : 0, "tid" : 7, "ts" : 1796107749370810.123, "dur" : 2.5e0, "args" : {
    "External id" : 12, "grid" : [ 1, 1, 1 ],
                                 "names" : [ "a", "b,c" ],
                                           "Concrete Inputs" : [ "", "[1, 2]", "\u00e9\ud83d\ude00" ],
                                                               "deep" : {
        "x" : [ {"y" : null}, true, false ]
    }
}
})j";

/// All events of a text, as the importer asks for them; "skip" where something was passed over. Also checks
/// what must hold for every answer.
QStringList readAll(std::string_view text, std::uint32_t* repairs = nullptr) {
    QStringList out;
    std::size_t at = 0;
    for (;;) {
        const RepairedEvent r = repairEvent(text.substr(at), true);
        if (repairs != nullptr)
            *repairs |= r.repairs;
        if (r.status == Status::NeedMore || r.consumed > text.size() - at)
            return out << "wrong answer";
        at += r.consumed;
        if (r.status == Status::End)
            return out;
        if (r.consumed == 0)
            return out << "no progress";
        if (r.status == Status::Event) {
            if (!StrictJson::isObject(r.json))
                return out << "not strict: " + QString::fromStdString(r.json);
            out << QString::fromStdString(r.json);
        } else {
            out << "skip";
        }
    }
}

} // namespace

void TestRepair::strictChecker() {
    // The checker itself, on what is easily taken for JSON.
    for (const char* good :
         {"{}", R"({"a":[1,-0.5e+3,"\u00e9\ud83d\ude00\n",null,true]})", " {\"a\" : {} } "})
        QVERIFY2(StrictJson::isObject(good), good);
    for (const char* bad : {"",
                            "[]",
                            "{",
                            "{}}",
                            R"({"a":1,})",
                            R"({"a":NaN})",
                            R"({"a":01})",
                            R"({"a":.5})",
                            R"({"a":1.})",
                            "{\"a\":\"\n\"}",
                            R"({"a":"\x"})",
                            R"({"a":"\ud83d"})",
                            R"({"a":"\udc00"})",
                            "{\"a\":\"\xFF\"}",
                            "{\"a\":\"\xC0\x80\"}",
                            "{\"a\":\"\xED\xA0\x80\"}",
                            R"({a:1})",
                            R"({"a" 1})",
                            R"({"a":[1 2]})",
                            R"({"a":"b)"})
        QVERIFY2(!StrictJson::isObject(bad), bad);
    QVERIFY(StrictJson::isObject(kEvent));
}

void TestRepair::one_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<unsigned>("repairs");
    QTest::addColumn<QByteArray>("rest");
    const auto row = [](const char* name, const std::string& text, const std::string& json,
                        std::uint32_t repairs, const std::string& rest = "") {
        QTest::newRow(name) << QByteArray::fromStdString(text) << QByteArray::fromStdString(json)
                            << static_cast<unsigned>(repairs) << QByteArray::fromStdString(rest);
    };
    using namespace Repair;
    row("nothing to do", R"({"ph":"X","a":[1,{"b":"c"}]},{)", R"({"ph":"X","a":[1,{"b":"c"}]})", 0, ",{");
    row("empty", "{} , ", "{}", 0, " , ");
    row("separators before", " \n,\n {\"a\":1}", R"({"a":1})", 0);
    row("two commas before", " ,, {\"a\":1}", R"({"a":1})", ExtraComma);
    row("raw newline", "{\"name\":\"a\nb\tc\x01\",\"ts\":1}", R"({"name":"a\nb\tc\u0001","ts":1})",
        ControlCharacter);
    row("raw zero byte", "{\"name\":\"a\0b\",\"ts\":1}"s, R"({"name":"a\u0000b","ts":1})", ControlCharacter);
    row("bad escape", R"({"name":"C:\work\x \u12","ts":1})", R"({"name":"C:\\work\\x \\u12","ts":1})",
        BadEscape);
    row("half a surrogate", R"({"name":"\ud83d","b":"\ude00x","c":"\ud83d\ude00"})",
        R"({"name":"\ufffd","b":"\ufffdx","c":"\ud83d\ude00"})", BadEscape);
    row("backslash before the end", R"({"name":"C:\tmp\","ts":1})", R"({"name":"C:\tmp\\","ts":1})",
        BadEscape);
    row("backslash before the end of an event", R"({"args":{"dir":"C:\tmp\"}},
 {"ph":"X"})",
        R"({"args":{"dir":"C:\tmp\\"}})", BadEscape, ",\n {\"ph\":\"X\"}");
    row("quotes in a name", R"({"name":"say "hi" there","ts":1})", R"({"name":"say \"hi\" there","ts":1})",
        UnescapedQuote);
    row("quotes and commas in a name", R"j({"ph":"X","name":"f<"x", "y">(int, "z")","pid":1})j",
        R"j({"ph":"X","name":"f<\"x\", \"y\">(int, \"z\")","pid":1})j", UnescapedQuote);
    row("a quote at the end of a name", R"({"name":"operator""","ts":1})",
        R"({"name":"operator\"\"","ts":1})", UnescapedQuote);
    row("quotes in a last value", R"({"args":{"a":"b "c" d"}},{"ph":"X"})", R"({"args":{"a":"b \"c\" d"}})",
        UnescapedQuote, R"(,{"ph":"X"})");
    row("quotes in a list", R"({"a":["x "y" z","w"]})", R"({"a":["x \"y\" z","w"]})", UnescapedQuote);
    row("no closing quote", R"({"ph":"X","name":"foo, "pid": 1, "tid":2})",
        R"({"ph":"X","name":"foo","pid":1,"tid":2})", UnescapedQuote);
    row("nan", R"({"a":NaN,"b":Infinity,"c":-Infinity,"d":nan,"e":-inf,"f":-nan(ind),"g":None,"h":1})",
        R"({"a":null,"b":null,"c":null,"d":null,"e":null,"f":null,"g":null,"h":1})", BareNumber);
    row("numbers of other languages",
        R"({"a":+1,"b":.5,"c":1.,"d":007,"e":-00.50,"f":1.e5,"g":0x1F,"h":True})",
        R"({"a":1,"b":0.5,"c":1,"d":7,"e":-0.50,"f":1e5,"g":"0x1F","h":true})", BareNumber);
    row("commas too many", R"({"a":1,,"b":[1,,2,],"c":{"d":1,},})", R"({"a":1,"b":[1,2],"c":{"d":1}})",
        ExtraComma);
    row("leading comma", R"({,"a":[,1]})", R"({"a":[1]})", ExtraComma);
    row("commas too few", R"({"a":1 "b":"x" "c":[1 2] "d":{"e":1} "f":2})",
        R"({"a":1,"b":"x","c":[1,2],"d":{"e":1},"f":2})", MissingComma);
    row("bad utf-8", "{\"name\":\"a\xFF\xC3(\xE2\x82 \xC3\xA9\xED\xA0\x80\"}",
        "{\"name\":\"a\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD "
        "\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"}",
        InvalidUtf8);
    row("no value", R"({"a":,"b":})", R"({"a":null,"b":null})", Garbage);
    row("no colon", R"({"a" 1,"b","c":2})", R"({"a":1,"c":2})", Garbage);
    row("no quotes around a key", R"({ph:1,2:"x"})", R"({"ph":1,"2":"x"})", Garbage);
    row("another list", R"(] [ {"a":1})", R"({"a":1})", Restart);
    row("another list after a comma", "],\n[{\"a\":1}", R"({"a":1})", Restart);
    row("wrong bracket", R"({"a":[1,2},{"ph":"X"})", R"({"a":[1,2]})", Garbage, R"(,{"ph":"X"})");
    row("bracket in an object", R"({"a":1],"b":2})", R"({"a":1,"b":2})", Garbage);
    row("no brace at the end of the list", R"({"a":1,"b":2 ] })", R"({"a":1,"b":2})", Truncated, "] }");
    row("no brace at the end of the list, frame", R"({"a":"b","c":2 ], "traceName": "x"})",
        R"({"a":"b","c":2})", Truncated, R"(], "traceName": "x"})");
    row("next event in the middle", R"({"ph":"X","pid":1,"args":{"a":1, {"ph":"B"})",
        R"({"ph":"X","pid":1,"args":{"a":1}})", Truncated, R"({"ph":"B"})");
    row("next event in a name", "{\"ph\":\"X\",\"name\":\"aten::a{\"ph\": \"B\"}", R"({"ph":"X"})", Truncated,
        R"({"ph": "B"})");
    row("next event in a number", R"({"ph":"X","ts":12{"ph":"B"})", R"({"ph":"X","ts":12})", Truncated,
        R"({"ph":"B"})");
    row("next event in a list", R"({"ph":"X","a":[1,{"ph":"B"})", R"({"ph":"X","a":[1]})", Truncated,
        R"({"ph":"B"})");
    row("objects in a list are values", R"({"a":[{"name":"x"},{"name":"y"},],"b":1})",
        R"({"a":[{"name":"x"},{"name":"y"}],"b":1})", ExtraComma);
    row("zero bytes after an event", "{\"name\":\"a\"}\0\0\0"s, R"({"name":"a"})", 0, "\0\0\0"s);
    row("events by line", "{\"name\":\"a\"}\n{\"name\":\"b\"}", R"({"name":"a"})", 0, "\n{\"name\":\"b\"}");
}

void TestRepair::one() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, json);
    QFETCH(unsigned, repairs);
    QFETCH(QByteArray, rest);
    const std::string whole = text.toStdString();
    const RepairedEvent r = repairEvent(whole, true);
    QCOMPARE(r.status, Status::Event);
    QCOMPARE(QByteArray::fromStdString(r.json), json);
    QCOMPARE(r.repairs, static_cast<std::uint32_t>(repairs));
    QCOMPARE(QByteArray::fromStdString(whole.substr(r.consumed)), rest);
    QVERIFY(StrictJson::isObject(r.json));
}

void TestRepair::sequences_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QStringList>("events");
    const auto row = [](const char* name, const std::string& text, const QStringList& events) {
        QTest::newRow(name) << QByteArray::fromStdString(text) << events;
    };
    row("nothing", "", {});
    row("white space", " \n ,", {});
    row("end", " ]", {});
    row("end of the frame", "] , \"traceName\": \"x\" }", {});
    row("tail of an event", R"(foo", "pid": 1, "args": {"dims": [1, 2], "x": 3}}, {"ph":"X"}, {"ph":"B"}])",
        {"skip", R"({"ph":"X"})", R"({"ph":"B"})"});
    row("tail that begins in a list", R"(2], "x": 3}}, {"ph":"X"}])", {"skip", R"({"ph":"X"})"});
    row("words between", R"({"a":1} oops {"b":2}])", {R"({"a":1})", "skip", R"({"b":2})"});
    row("numbers between", R"({"a":1}, 17, {"b":2}])", {R"({"a":1})", "skip", R"({"b":2})"});
    row("zeros between", "{\"a\":\"b\"}\0\0\0\0,{\"c\":2}"s, {R"({"a":"b"})", "skip", R"({"c":2})"});
    row("an extra brace", R"({"a":1}}, {"b":2}])", {R"({"a":1})", "skip", R"({"b":2})"});
    row("three lists", R"({"a":1}][{"b":2}], [{"c":3}])", {R"({"a":1})", R"({"b":2})", R"({"c":3})"});
    row("cut", R"({"a":1},{"b":"c","d":12)", {R"({"a":1})", R"({"b":"c"})"});
    row("cut at once", R"({"a":1},{)", {R"({"a":1})", "skip"});
    row("cut in a key", R"({"a":1},{"b)", {R"({"a":1})", "skip"});
    row("cut in arguments", R"({"a":1,"args":{"b":[1,2,3)", {R"({"a":1,"args":{"b":[1,2]}})"});
    row("braces only", "{{{{", {"skip"});
}

void TestRepair::sequences() {
    QFETCH(QByteArray, text);
    QFETCH(QStringList, events);
    QCOMPARE(readAll(text.toStdString()), events);
}

void TestRepair::everyCut() {
    // What is whole before the cut stays, and nothing is made up.
    const RepairedEvent whole = repairEvent(kEvent, true);
    QCOMPARE(whole.status, Status::Event);
    QCOMPARE(whole.repairs, 0u);
    for (std::size_t n = 1; n < kEvent.size(); ++n) {
        const RepairedEvent r = repairEvent(std::string_view(kEvent).substr(0, n), true);
        QCOMPARE(r.consumed, n);
        QVERIFY((r.repairs & Repair::Truncated) != 0);
        QCOMPARE(r.repairs & ~Repair::Truncated, 0u);
        if (r.status == Status::Skipped)
            continue;
        QCOMPARE(r.status, Status::Event);
        QVERIFY2(StrictJson::isObject(r.json), r.json.c_str());
        // All but the brackets that were added is a beginning of the whole.
        const std::size_t same = static_cast<std::size_t>(
            std::mismatch(r.json.begin(), r.json.end(), whole.json.begin(), whole.json.end()).first -
            r.json.begin());
        QVERIFY2(r.json.find_first_not_of("}]", same) == std::string::npos, r.json.c_str());
        QCOMPARE(repairEvent(std::string_view(kEvent).substr(0, n), false).status, Status::NeedMore);
    }
}

void TestRepair::growingText() {
    // However the text comes in pieces, the events are the same.
    const std::string text = R"({"name":"a "b" c","ts":NaN,},
 {"name":"C:\x\","v":[1 2,],"u":"\ud83d\ude00\ud83d"} , {"n":1,"args":{"k":"v" "w":tru}} junk {"ph":"X","cat":"y" ],
[ {"last":"one)";
    const QStringList whole = readAll(text);
    QCOMPARE(whole.size(), 6);
    for (std::size_t step = 1; step < 40; ++step) {
        QStringList events;
        std::size_t at = 0;
        std::size_t have = step;
        for (;;) {
            const bool final = have >= text.size();
            const RepairedEvent r =
                repairEvent(std::string_view(text).substr(0, std::min(have, text.size())).substr(at), final);
            if (r.status == Status::NeedMore) {
                QVERIFY(!final);
                have += step;
                continue;
            }
            at += r.consumed;
            if (r.status == Status::Event)
                events << QString::fromStdString(r.json);
            if (r.status == Status::End)
                break;
        }
        QStringList expected = whole;
        expected.removeAll("skip");
        QCOMPARE(events, expected);
    }
}

void TestRepair::hugeEvents() {
    const std::string big = "{\"name\":\"" + std::string(20 << 20, 'x');
    RepairedEvent r = repairEvent(big, false);
    QCOMPARE(r.status, Status::Skipped);
    QVERIFY((r.repairs & Repair::Unreadable) != 0);
    QCOMPARE(r.consumed, big.size());
    QCOMPARE(repairEvent(std::string_view(big).substr(0, 15 << 20), false).status, Status::NeedMore);

    const std::string deep = "{\"a\":" + std::string(1000, '[');
    r = repairEvent(deep, true);
    QCOMPARE(r.status, Status::Skipped);
    QVERIFY((r.repairs & Repair::Unreadable) != 0);
    QCOMPARE(readAll(deep + std::string(1000, ']') + "},{\"ph\":\"X\"}]").back(),
             QStringLiteral("{\"ph\":\"X\"}"));
}

void TestRepair::costIsLinear() {
    // Each would take hours if a step looked back or ahead without a bound.
    constexpr std::size_t kSize = 2 << 20;
    const auto repeated = [](const std::string& start, const std::string& piece) {
        std::string text = start;
        while (text.size() < kSize)
            text += piece;
        return text;
    };
    for (const std::string& text : {repeated("", "{"),
                                    repeated("", "["),
                                    repeated("", "\""),
                                    repeated("{\"a\":\"", "\","),
                                    repeated("{\"a\":\"", "\",\""),
                                    repeated("{\"a\":\"", "\\\""),
                                    repeated("{\"a\":\"", "\\\","),
                                    repeated("{\"a\":\"", "\" }"),
                                    repeated("{\"a\":\"", "{\""),
                                    repeated("{\"a\":\"", ",\"ph"),
                                    repeated("{\"a\":\"", "\", \"b"),
                                    repeated("{", "\"a\":\"b\" "),
                                    repeated("{", "\"a\" "),
                                    repeated("{", "a "),
                                    repeated("{\"a\":[", "1 "),
                                    repeated("{\"a\":[", "{\"b\":1},"),
                                    repeated("", "]"),
                                    repeated("", "] ,"),
                                    repeated("x", "]"),
                                    repeated("x", "{ "),
                                    repeated("{\"a\":\"x", " "),
                                    repeated("{", ","),
                                    repeated("{\"a\":", ":"),
                                    repeated("", "{\"a\":1]"),
                                    repeated("{\"a\":\"", "\xFF"),
                                    repeated("", "{\"a\":1")}) {
        QElapsedTimer timer;
        timer.start();
        const QStringList events = readAll(text);
        QVERIFY2(timer.elapsed() < 10'000, text.substr(0, 40).c_str());
        QVERIFY(events.isEmpty() || !events.back().startsWith("not strict"));
        QVERIFY(!events.contains("no progress") && !events.contains("wrong answer"));
    }
}

void TestRepair::mutations() {
    // Damage of every kind: the answers stay strict, go on, and most events live.
    std::mt19937 random(20261201);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    static constexpr char kBytes[] = "\"\\{}[]:,\n\t \0\x01\x80\xFFnNaeE-+.0159u'";
    std::string base;
    for (int i = 0; i < 5; ++i)
        base += kEvent + (i < 4 ? ",\n  " : "\n]");
    std::size_t lived = 0;
    constexpr int kRounds = 6000;
    for (int round = 0; round < kRounds; ++round) {
        std::string text = base;
        for (std::size_t n = 1 + below(4); n > 0; --n) {
            const std::size_t at = below(text.size());
            switch (below(5)) {
            case 0:
                text[at] = kBytes[below(sizeof kBytes - 1)];
                break;
            case 1:
                text.insert(at, 1, kBytes[below(sizeof kBytes - 1)]);
                break;
            case 2:
                text.erase(at, 1 + below(3));
                break;
            case 3:
                text.erase(at, below(300)); // a block lost
                break;
            default:
                text.insert(at, text.substr(below(text.size()), below(200))); // a block twice
            }
        }
        const QStringList events = readAll(text);
        for (const QString& e : events)
            if (!e.startsWith('{') && e != "skip")
                QFAIL(qPrintable(e + "\nin\n" + QString::fromStdString(text)));
        lived += static_cast<std::size_t>(events.filter(QRegularExpression(R"(^\{.*"ph".*"ts")")).size());
    }
    qInfo("%.1f of 5 events live through the damage on average", static_cast<double>(lived) / kRounds);
    QVERIFY(lived > 4 * kRounds);
}

QTEST_GUILESS_MAIN(TestRepair)
#include "tst_repair.moc"
