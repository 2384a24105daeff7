// SPDX-License-Identifier: GPL-3.0-or-later
// One table of keys for each kind of event: the schema has the same, and what is written is read again.
#include "core/history/event_types.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace fourfold {
namespace {

using Keys = std::set<std::string>;

template <typename Event>
class EventTypes : public testing::Test {
};
using AllEvents
    = testing::Types<StartEvent, StepEvent, EvalEvent, TraceEvent, CheckpointEvent, WarningEvent, ErrorEvent, EndEvent>;
TYPED_TEST_SUITE(EventTypes, AllEvents);

// A value that the member takes; the number of the key tells them apart.
Json value_for(const std::string& /*member*/, int number)
{
    return "text " + std::to_string(number);
}
Json value_for(const std::optional<std::int64_t>& /*member*/, int number)
{
    return number;
}
Json value_for(const std::optional<double>& /*member*/, int number)
{
    return number + 0.5;
}
Json value_for(const Json& /*member*/, int number)
{
    return {{"number", number}};
}

template <typename Event>
Json full_event()
{
    Json json = Json::object();
    for (const EventKey<Event>& key : kEventKeys<Event>)
        std::visit([&](auto member) { json[key.key] = value_for(Event().*member, int(json.size())); }, key.member);
    return json;
}

TYPED_TEST(EventTypes, HaveTheKeysOfTheSchema)
{
    const auto schema = read_json_file(FOURFOLD_SOURCE_DIR "/resources/schemas/events.schema.json");
    ASSERT_TRUE(schema) << schema.error().line();
    Keys told, typed;
    for (const auto& [key, rule] : schema->at("$defs").at(std::string(name(TypeParam::kKind))).at("properties").items())
        told.insert(key);
    told.erase("event");
    for (const EventKey<TypeParam>& key : kEventKeys<TypeParam>)
        typed.insert(key.key);
    EXPECT_EQ(told, typed);
}

TYPED_TEST(EventTypes, AreReadAsTheyAreWritten)
{
    const Json full = full_event<TypeParam>();
    EXPECT_EQ(event_json(read_event<TypeParam>(full)).dump(), full.dump());
}

TYPED_TEST(EventTypes, LeaveOutWhatIsMissingOrOfAnotherType)
{
    Json nothing = Json::object(); // but what is told also when it is not known
    for (const EventKey<TypeParam>& key : kEventKeys<TypeParam>)
        if (key.always)
            nothing[key.key] = nullptr;
    for (const Json& odd : {Json(), Json("text"), Json::array({1}), Json::object()})
        EXPECT_EQ(event_json(read_event<TypeParam>(odd)).dump(), nothing.dump()) << odd;
    for (const EventKey<TypeParam>& key : kEventKeys<TypeParam>) {
        if (std::holds_alternative<Json TypeParam::*>(key.member))
            continue; // takes all
        Json json = {{key.key, Json::object()}};
        EXPECT_EQ(event_json(read_event<TypeParam>(json)).dump(), nothing.dump()) << key.key;
    }
}

TEST(EventValues, AreWithinWhatTheyCanHold)
{
    EXPECT_EQ(read_event<EvalEvent>({{"step", 3.0}}).step, 3) << "another program's 3.0";
    for (const Json& beyond : {Json(1e300), Json(-1e300), Json(std::uint64_t(-1))})
        EXPECT_FALSE(read_event<EvalEvent>({{"step", beyond}}).step) << beyond;
    EvalEvent event;
    event.loss = std::numeric_limits<double>::infinity();
    EXPECT_EQ(event_json(event).dump(), R"({"loss":null})");
}

TEST(EventTypesOfTheAgent, AreAlsoNamedInTheSchema)
{
    const auto schema = read_json_file(FOURFOLD_SOURCE_DIR "/resources/schemas/events.schema.json");
    ASSERT_TRUE(schema);
    Keys told, typed;
    for (const Json& kind : schema->at("properties").at("event").at("enum"))
        told.insert(kind.get<std::string>());
    for (const std::string_view kind : kWords<EventKind>)
        if (!kind.empty())
            typed.insert(std::string(kind));
    EXPECT_EQ(told, typed);
}

} // namespace
} // namespace fourfold
