// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/base/json.h"
#include "model/base/json_writer.h"

#include <cmath>
#include <limits>
#include <QtTest>

using namespace warpline;

class TestJsonWriter : public QObject {
    Q_OBJECT
  private slots:
    void escapesWhatMustBe();
    void replacesWhatIsNoUtf8();
    void integersAreExact();
    void numbersReadBackTheSame_data();
    void numbersReadBackTheSame();
    void writesDocuments();
    void indents();
};

void TestJsonWriter::escapesWhatMustBe() {
    std::string out;
    appendJsonString(out, std::string_view("a\"b\\c\n\t\r\x01\x7F\0z \xC2\xB5s", 16));
    QCOMPARE(out, std::string("\"a\\\"b\\\\c\\n\\t\\r\\u0001\\u007f\\u0000z \xC2\xB5s\""));
    // Every byte alone gives JSON that reads back; those that are text as they were.
    for (int c = 0; c < 256; ++c) {
        const std::string text(1, static_cast<char>(c));
        std::string json;
        appendJsonString(json, text);
        const auto value = parseJson(json);
        QVERIFY2(value.has_value(), json.c_str());
        QCOMPARE(value->text, c < 0x80 ? text : std::string("\xEF\xBF\xBD"));
    }
}

void TestJsonWriter::replacesWhatIsNoUtf8() {
    std::string out;
    appendJsonString(out, "caf\xE9 \xC3\xA9 \xED\xA0\x80");
    const auto value = parseJson(out);
    QVERIFY(value.has_value());
    QVERIFY(value->text.starts_with("caf\xEF\xBF\xBD \xC3\xA9 "));
}

void TestJsonWriter::integersAreExact() {
    std::string out;
    JsonWriter json(out);
    json.beginArray();
    json.integer(std::numeric_limits<std::int64_t>::min()).integer(9007199254740993);
    json.unsignedInteger(std::numeric_limits<std::uint64_t>::max());
    json.endArray();
    QCOMPARE(out, std::string("[-9223372036854775808,9007199254740993,18446744073709551615]"));
}

void TestJsonWriter::numbersReadBackTheSame_data() {
    QTest::addColumn<double>("value");
    for (const double v : {0.0, 1.0, -1.5, 0.1, 1e300, -1e-300, 9007199254740992.0, 1e16, 123456.789})
        QTest::addRow("%.17g", v) << v;
}

void TestJsonWriter::numbersReadBackTheSame() {
    QFETCH(double, value);
    std::string out;
    appendJsonNumber(out, value);
    QVERIFY2(isStrictJson(out), out.c_str());
    QCOMPARE(std::strtod(out.c_str(), nullptr), value);
    std::string none;
    appendJsonNumber(none, std::nan(""));
    appendJsonNumber(none, std::numeric_limits<double>::infinity());
    QCOMPARE(none, std::string("nullnull"));
}

void TestJsonWriter::writesDocuments() {
    std::string out;
    JsonWriter json(out);
    json.beginObject();
    json.field("a", "x").field("n", std::int64_t{1});
    json.key("list").beginArray().boolean(true).null().raw("[1, 2]").beginObject().endObject().endArray();
    json.key("empty").beginArray().endArray();
    json.endObject();
    QCOMPARE(out, std::string(R"({"a":"x","n":1,"list":[true,null,[1, 2],{}],"empty":[]})"));
}

void TestJsonWriter::indents() {
    std::string out;
    JsonWriter json(out, 2);
    json.beginObject();
    json.field("a", std::int64_t{1});
    json.key("b").beginArray().integer(2).endArray();
    json.key("c").beginObject().endObject();
    json.endObject();
    QCOMPARE(out, std::string("{\n  \"a\": 1,\n  \"b\": [\n    2\n  ],\n  \"c\": {}\n}"));
}

QTEST_APPLESS_MAIN(TestJsonWriter)
#include "tst_json_writer.moc"
