// SPDX-License-Identifier: GPL-3.0-or-later
// Requests and replies as JSON: how fields are read from a peer that may be hostile, and the names both ends use.
//
// Request {"do": ...}           Reply {"is": ...} or {"is": "error", code, message, hint, where}
//   hello                         hello: NodeFacts
//   have {files}                  have: {found: [{sha256, path}], missing: [sha256]}
//   put {sha256, size}            put: {state: "send" (offset) | "present" | "busy"}; then data frames (zstd), then
//   put-end                       stored
//   (put-from {offset}            before the pieces: they begin here, from a node of a chain)
//   relay {address, token, next}  relaying: {port}; the node then takes files there from the one before it in a chain
//   chain {address, port, token}  chained; files with `chain` are then handed on to that node
//   prepare {spec}                prepared: {folder, port}
//   start {master_address, port, secrets}  started: {pid, state}
//   tail {run, node, offset, seq} lines {offset, count} + one data frame ... heartbeat {state} ... end {state, status}
//                                 (a heartbeat of a stopping run also says status, why and the failing rank; `note`:
//                                 what is wrong there; skipped {offset, bytes}: a line too long to be sent)
//   stop {run, node, status, ...} stopping {note}, also while a tail runs
//   ping, diagnose                while a tail runs; no answer
//   submit {specs, script}        submitted: {job, folder}          (Slurm)
//   find {run}                    found: {runs: [{run, state}], specs: [...] when it is one}
//   attempts {run}                attempts: {last, state, reason}   (Slurm)
//   probe {ranks, on_gpus, speed, slurm, container, prelude, cluster}  probe: {findings, speed; links, slurm}
//   clear {older_than_s, dry_run, end_processes}  cleared: counts, strays
//   clock                         clock: {time_s}
//   listen {address, token}       listening: {port, interface}
//   reach {address, port, ...}    reached: {state, latency_us, bandwidth_gb_s, mtu ...}
//   kept {run, node}              noted: all events of the ended run are stored here; its folder may go one day
//   status, sweep, fetch          status: {...}, swept: {count}, file: {size} + data frames ... file-end
#pragma once

#include "core/base/json.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace fourfold {

inline constexpr int kProtocolVersion = 1;
// A line of an event file; longer ones are dropped by the agent with a warning.
inline constexpr std::size_t kMaxEventLine = 1u << 20;
// Events that may be missing; a number further on than that is damaged itself.
inline constexpr std::int64_t kMostMissingEvents = 100'000;

// JSON text; invalid UTF-8 is replaced, so that hostile bytes cannot make it throw.
std::string to_wire(const Json& json);

// A field of an object, or the fallback when it is missing or of another type.
std::string text_field(const Json& json, const char* key, std::string fallback = {});
int64_t integer_field(const Json& json, const char* key, int64_t fallback = 0);
double number_field(const Json& json, const char* key, double fallback = 0);
bool flag_field(const Json& json, const char* key, bool fallback = false);
const Json& object_field(const Json& json, const char* key); // an empty object when there is none
const Json& array_field(const Json& json, const char* key); // an empty array when there is none

Json error_reply(const Problem& problem);
// `host` is put before the reply's own `where`.
Problem problem_from_reply(const Json& reply, const std::string& host);

// The number that an event's line begins with, as the agent writes it ({"seq":17,...); -1 when there is none.
int64_t seq_of_line(std::string_view line);

std::string utc_now(); // "2026-01-01T00:00:00.000Z"
bool is_run_id(std::string_view text); // what ends up in folder names: 1..40 of [0-9A-Za-z]
bool is_sha256(std::string_view text); // 64 of [0-9a-f]
// A relative path of plain names: no "..", no empty part, no control characters, at most 512 bytes.
bool is_plain_relative_path(std::string_view text);

} // namespace fourfold
