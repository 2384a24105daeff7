// SPDX-License-Identifier: GPL-3.0-or-later
// Target files: read strictly (a misspelt key is an error), written completely.
#include "core/base/text.h"
#include "runner/protocol/message.h"
#include "runner/protocol/run_spec.h"
#include "runner/protocol/slurm_time.h"
#include "runner/target/target_hosts.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

namespace {

Problem bad(const std::string& where, std::string message, std::string hint = {})
{
    return {ProblemCode::bad_input, std::move(message), std::move(hint), where};
}

// Reads the keys of one object; the first thing that is wrong is kept, and a key that nobody asked for is wrong too.
class Fields {
public:
    Fields(const Json& json, std::string where, std::string prefix = {})
        : json_(json)
        , where_(std::move(where))
        , prefix_(std::move(prefix))
    {
        if (!json.is_object())
            complain(prefix_.empty() ? "a target must be an object" : prefix_ + " must be an object");
    }

    const Json* find(const char* key)
    {
        known_.emplace_back(key);
        return json_.is_object() && json_.contains(key) && !json_[key].is_null() ? &json_[key] : nullptr;
    }
    void text(const char* key, std::string& out)
    {
        if (const Json* value = find(key)) {
            if (!value->is_string() || value->get_ref<const std::string&>().find('\0') != std::string::npos)
                complain(prefix_ + key + " must be text");
            else
                out = value->get<std::string>();
        }
    }
    void choice(const char* key, std::string& out, const std::vector<std::string>& choices)
    {
        text(key, out);
        if (std::find(choices.begin(), choices.end(), out) == choices.end())
            complain(prefix_ + key + " " + in_quotes(out) + " is not known", "expected " + joined(choices, " or "));
    }
    void number(const char* key, double& out, double minimum, double maximum)
    {
        if (const Json* value = find(key)) {
            if (!value->is_number() || !(value->get<double>() >= minimum && value->get<double>() <= maximum))
                complain(prefix_ + key + " must be a number from " + shown(minimum) + " to " + shown(maximum));
            else
                out = value->get<double>();
        }
    }
    void integer(const char* key, int& out, int minimum, int maximum)
    {
        if (const Json* value = find(key)) {
            if (!value->is_number_integer() || value->get<int64_t>() < minimum || value->get<int64_t>() > maximum)
                complain(prefix_ + key + " must be a whole number from " + std::to_string(minimum) + " to "
                    + std::to_string(maximum));
            else
                out = value->get<int>();
        }
    }
    void flag(const char* key, bool& out)
    {
        if (const Json* value = find(key)) {
            if (!value->is_boolean())
                complain(prefix_ + key + " must be true or false");
            else
                out = value->get<bool>();
        }
    }
    // A list of texts; one text alone counts as a list of one.
    void texts(const char* key, std::vector<std::string>& out)
    {
        const Json* value = find(key);
        if (!value)
            return;
        const Json list = value->is_string() ? Json::array({*value}) : *value;
        if (!list.is_array()
            || !std::all_of(list.begin(), list.end(), [](const Json& item) { return item.is_string(); }))
            return complain(prefix_ + key + " must be a list of texts");
        out = list.get<std::vector<std::string>>();
    }
    void complain(std::string message, std::string hint = {})
    {
        if (!problem_)
            problem_ = bad(where_, std::move(message), std::move(hint));
    }
    void take(Expected<void> result)
    {
        if (!result && !problem_)
            problem_ = result.error();
    }
    [[nodiscard]] const std::string& where() const { return where_; }
    [[nodiscard]] std::string at(const std::string& key) const { return prefix_ + key; }

    Expected<void> done()
    {
        if (problem_)
            return *problem_;
        for (const auto& [key, value] : json_.items()) {
            if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
                const auto near = nearest_words(key, known_, 1);
                return bad(where_, "the key " + in_quotes(prefix_ + key) + " is not known",
                    (near.empty() ? "" : "did you mean " + near.front() + "? ") + std::string("expected one of ")
                        + joined(known_, ", "));
            }
        }
        return {};
    }

private:
    static std::string shown(double number)
    {
        char text[32];
        std::snprintf(text, sizeof text, "%g", number);
        return text;
    }

    const Json& json_;
    std::string where_, prefix_;
    std::vector<std::string> known_;
    std::optional<Problem> problem_;
};

void read_place(Fields& fields, std::string& address, std::string& user, int& port, std::string& key_file)
{
    fields.text("address", address);
    fields.text("user", user);
    fields.integer("port", port, 0, 65535);
    fields.text("key_file", key_file);
}

Expected<std::vector<SshPlace>> places_from_json(const Json& json, const std::string& where)
{
    std::vector<SshPlace> out;
    const Json list = json.is_array() ? json : Json::array({json});
    for (const Json& item : list) {
        if (item.is_string()) {
            FOURFOLD_TRY(SshPlace place, place_from_text(item.get<std::string>(), where));
            out.push_back(std::move(place));
            continue;
        }
        SshPlace place;
        Fields fields(item, where, "jump.");
        read_place(fields, place.address, place.user, place.port, place.key_file);
        FOURFOLD_CHECK(fields.done());
        FOURFOLD_CHECK(check_place(place, where));
        out.push_back(std::move(place));
    }
    return out;
}

// One entry of `hosts`: a range of addresses makes several hosts.
Expected<std::vector<TargetHost>> hosts_from_json(const Json& json, const std::string& where)
{
    std::vector<TargetHost> out;
    if (json.is_string()) {
        FOURFOLD_TRY(const auto names, expand_ranges(json.get<std::string>(), where));
        for (const std::string& name : names) {
            FOURFOLD_TRY(const SshPlace place, place_from_text(name, where));
            out.push_back(host_at(place));
        }
        return out;
    }
    if (!json.is_object())
        return bad(where, "a host must be an object or text like \"user@host:22\"");
    TargetHost host;
    Fields fields(json, where);
    read_place(fields, host.address, host.user, host.port, host.key_file);
    fields.text("node_address", host.node_address);
    fields.integer("ranks", host.ranks, 0, 4096);
    const Json* jump = fields.find("jump");
    FOURFOLD_CHECK(fields.done());
    if (jump) {
        FOURFOLD_TRY(host.jumps, places_from_json(*jump, where));
    }
    FOURFOLD_TRY(const auto names, expand_ranges(host.address, where));
    for (const std::string& name : names) {
        host.address = name;
        FOURFOLD_CHECK(check_host(host, where));
        out.push_back(host);
    }
    if (out.size() > 1 && !host.node_address.empty())
        return bad(where, "one node_address cannot belong to " + std::to_string(out.size()) + " hosts",
            "list the hosts one by one, or leave node_address out");
    return out;
}

// Goes into a remote path: spelled so that no shell and no tool finds a meaning in it.
bool is_safe_path(const std::string& path, bool home_allowed)
{
    const bool anchored = path.starts_with('/') || (home_allowed && path.starts_with("~/"));
    return anchored && path.size() <= 512 && consists_of(path.substr(1), "/_.+-")
        && path.find("..") == std::string::npos;
}

void read_container(Fields& fields, Target& target)
{
    const Json* json = fields.find("container");
    if (!json)
        return;
    Container container;
    if (json->is_string()) {
        container.image = json->get<std::string>();
    } else {
        Fields inner(*json, fields.where(), "container.");
        inner.text("image", container.image);
        inner.texts("binds", container.binds);
        fields.take(inner.done());
    }
    const std::size_t scheme = container.image.find("://");
    const bool reference = scheme != std::string::npos && consists_of(container.image.substr(0, scheme), "")
        && consists_of(container.image.substr(scheme + 3), "/_.:@-") && !container.image.substr(scheme + 3).empty();
    if (container.image.empty())
        fields.complain("container.image is missing", "as in \"/images/cuda.sif\" or \"docker://debian:12\"");
    if (!reference && !is_safe_path(container.image, true))
        fields.complain(
            "container.image " + in_quotes(container.image) + " is neither an absolute path nor a reference",
            "as in \"/images/cuda.sif\" or \"docker://debian:12\"");
    for (const std::string& bind : container.binds) {
        const std::string source = bind.substr(0, bind.find(':'));
        if (!is_safe_path(source, true) || !consists_of(bind, "/_.+-:~"))
            fields.complain("container.binds: " + in_quotes(bind) + " cannot be used", "as in \"/data:/data:ro\"");
    }
    target.container = std::move(container);
}

void read_timeouts(Fields& fields, Target& target)
{
    // The first two also stand at the top, where older files have them.
    fields.number("connect_timeout_s", target.connect_timeout_s, 0.1, 600);
    fields.number("stop_grace_s", target.stop_grace_s, 0, 600);
    const Json* json = fields.find("timeouts");
    if (!json)
        return;
    constexpr double kWeek = 7 * 86400;
    Fields inner(*json, fields.where(), "timeouts.");
    inner.number("connect_s", target.connect_timeout_s, 0.1, 600);
    inner.number("link_s", target.link_s, 2, 600);
    inner.number("reconnect_s", target.reconnect_s, 0, kWeek);
    inner.number("stop_grace_s", target.stop_grace_s, 0, 600);
    inner.number("prelude_s", target.prelude_timeout_s, 1, 3600);
    inner.number("first_step_s", target.first_step_s, 1, kWeek);
    inner.number("stall_s", target.stall_s, 0, kWeek);
    inner.number("stall_steps", target.stall_steps, 1, 1e6);
    inner.number("hang_s", target.hang_s, 0, kWeek);
    inner.number("collective_s", target.collective_s, 0, kWeek);
    inner.number("lease_s", target.lease_s, 0, 52 * kWeek);
    fields.take(inner.done());
}

// Options that would undo what Fourfold itself asks for, or run something else.
bool is_allowed_line(const std::string& line)
{
    static const std::vector<std::string> kRefused{"--output", "--error", "--input", "--job-name", "--export",
        "--export-file", "--wrap", "--array", "--nodes", "--ntasks", "--ntasks-per-node", "--chdir", "--open-mode",
        "--parsable", "--get-user-env", "--signal", "--requeue", "--no-requeue", "--propagate", "--uid", "--gid"};
    const std::string option = line.substr(0, line.find_first_of("= "));
    return line.starts_with("--") && line.size() <= 256 && consists_of(line, "-=_.,:/+%@* []")
        && std::find(kRefused.begin(), kRefused.end(), option) == kRefused.end();
}

bool is_time_limit(const std::string& text)
{
    const std::string plain = lower_case(text);
    return plain.empty() || plain == "infinite" || plain == "unlimited" || slurm_seconds(plain);
}

Expected<void> read_slurm(const Json& json, const std::string& where, Target& target)
{
    SlurmSettings slurm;
    Fields fields(json, where, "slurm.");
    const Json* login = fields.find("login");
    if (login) {
        FOURFOLD_TRY(const auto hosts, hosts_from_json(*login, where + ": slurm.login"));
        if (hosts.size() != 1)
            return bad(where, "slurm.login must be one host");
        slurm.login = hosts.front();
    }
    fields.integer("nodes", slurm.nodes, 0, 65536);
    fields.integer("ranks_per_node", slurm.ranks_per_node, 0, 4096);
    for (const auto& [key, out] : {std::pair("partition", &slurm.partition), std::pair("account", &slurm.account),
             std::pair("qos", &slurm.qos), std::pair("time", &slurm.time), std::pair("gres", &slurm.gres),
             std::pair("constraint", &slurm.constraint), std::pair("reservation", &slurm.reservation)}) {
        fields.text(key, *out);
        if (out->size() > 256 || out->starts_with('-') || !consists_of(*out, "_.,:+-=&|[]*()/@"))
            fields.complain(fields.at(key) + " " + in_quotes(*out) + " holds characters that sbatch does not expect");
    }
    if (!is_time_limit(slurm.time))
        fields.complain("slurm.time " + in_quotes(slurm.time) + " is no time limit",
            "minutes, hours:minutes:seconds or days-hours, as in \"90\", \"1:30:00\" or \"2-12\"");
    fields.flag("requeue", slurm.requeue);
    fields.texts("lines", slurm.lines);
    for (const std::string& line : slurm.lines) {
        if (!is_allowed_line(line))
            fields.complain("slurm.lines: " + in_quotes(line) + " is not allowed",
                "a long option of sbatch that Fourfold does not set itself, as in \"--mail-type=END\"");
    }
    FOURFOLD_CHECK(fields.done());
    target.slurm = std::move(slurm);
    return {};
}

void read_environment(Fields& fields, Target& target)
{
    for (const char* key : {"environment", "env"}) {
        const Json* json = fields.find(key);
        if (!json)
            continue;
        if (!json->is_object())
            return fields.complain(std::string(key) + " must be an object");
        for (const auto& [variable, value] : json->items()) {
            if (!value.is_string())
                return fields.complain(std::string(key) + "." + variable + " must be text");
            const auto [place, is_new] = target.environment.emplace(variable, value.get<std::string>());
            if (!is_new && place->second != value)
                return fields.complain(
                    variable + " has one value in environment and another in env", "they are the same key: use one");
        }
    }
    fields.take(check_environment(target.environment, fields.where() + ": environment"));
    fields.texts("secrets", target.secrets);
    std::map<std::string, std::string> names;
    for (const std::string& secret : target.secrets)
        names[secret];
    fields.take(check_environment(names, fields.where() + ": secrets"));
}

void read_node_settings(Fields& fields, Target& target)
{
    fields.text("base_folder", target.base_folder);
    if (!target.base_folder.empty() && !is_safe_path(target.base_folder, true))
        fields.complain("base_folder " + in_quotes(target.base_folder) + " cannot be used",
            "begin it with / or ~/ and use letters, digits, '/', '_', '.' and '-' only");
    fields.texts("group_writable_folders", target.group_writable_folders);
    for (std::string& folder : target.group_writable_folders) {
        folder.erase(folder.find_last_not_of('/') + 1);
        if (folder.empty() || !is_safe_path(folder, false))
            fields.complain("group_writable_folders: " + in_quotes(folder) + " cannot be used",
                "an absolute path as in the message that asks for it, like \"/project/lab\"");
    }
    fields.choice("backend", target.backend, {"", "gloo", "nccl"});
    fields.texts("prelude", target.prelude);
    for (const std::string& line : target.prelude) {
        if (line.size() > 4096 || line.find_first_of("\n\r") != std::string::npos)
            fields.complain("prelude: a line is over 4096 bytes or holds a line break", "one command an entry");
    }
    read_container(fields, target);
    fields.text("interface", target.interface);
    if (target.interface.size() > 64 || !consists_of(target.interface, "_.,:^=-"))
        fields.complain("interface " + in_quotes(target.interface) + " is not a name of a network interface");
    fields.texts("hcas", target.hcas);
    for (const std::string& hca : target.hcas) {
        if (hca.empty() || hca.size() > 64 || !consists_of(hca, "_.:-"))
            fields.complain(
                "hcas: " + in_quotes(hca) + " is not a name of an adapter", "as in \"mlx5_0\" or \"mlx5_0:1\"");
    }
    std::string numa = target.numa == NumaBinding::gpu ? "gpu" : "none";
    fields.choice("numa", numa, {"gpu", "spread", "none"});
    target.numa = numa == "gpu" ? NumaBinding::gpu : numa == "spread" ? NumaBinding::spread : NumaBinding::none;
    fields.choice("host_order", target.host_order, {"given", "name"});
    fields.flag("mixed_gpus", target.mixed_gpus);
    fields.flag("preflight", target.preflight);
    fields.flag("reuse_files", target.reuse_files);
    fields.choice("upload", target.upload, {"auto", "parallel", "chain"});
    fields.number("events_gib", target.events_gib, 0, 1e6);
}

Json to_json(const SshPlace& place)
{
    return {{"address", place.address}, {"user", place.user}, {"port", place.port}, {"key_file", place.key_file}};
}

Json to_json(const TargetHost& host)
{
    Json jumps = Json::array();
    for (const SshPlace& jump : host.jumps)
        jumps.push_back(to_json(jump));
    return {{"address", host.address}, {"user", host.user}, {"port", host.port}, {"key_file", host.key_file},
        {"node_address", host.node_address}, {"ranks", host.ranks}, {"jump", std::move(jumps)}};
}

Json to_json(const SlurmSettings& slurm)
{
    return {{"login", slurm.login ? to_json(*slurm.login) : Json(nullptr)}, {"nodes", slurm.nodes},
        {"ranks_per_node", slurm.ranks_per_node}, {"partition", slurm.partition}, {"account", slurm.account},
        {"qos", slurm.qos}, {"time", slurm.time}, {"gres", slurm.gres}, {"constraint", slurm.constraint},
        {"reservation", slurm.reservation}, {"requeue", slurm.requeue}, {"lines", slurm.lines}};
}

} // namespace

Expected<Target> target_from_json(const Json& json, const std::string& where)
{
    Fields fields(json, where);
    if (const Json* version = fields.find("fourfold_target"); version && *version != 1)
        fields.complain("fourfold_target must be 1", "use the version of Fourfold that wrote the file");
    Target target;
    target.id = where;
    fields.text("id", target.id);
    std::string title;
    fields.text("name", title);
    const Json* hosts = fields.find("hosts");
    const Json* slurm = fields.find("slurm");
    std::string kind = slurm ? "slurm" : hosts ? "ssh" : "local";
    fields.choice("kind", kind, {"local", "ssh", "slurm"});
    target.kind = kind == "ssh" ? TargetKind::ssh : kind == "slurm" ? TargetKind::slurm : TargetKind::local;
    read_node_settings(fields, target);
    read_environment(fields, target);
    read_timeouts(fields, target);
    FOURFOLD_CHECK(fields.done());

    if (hosts && !hosts->is_array())
        return bad(where, "hosts must be a list");
    for (std::size_t i = 0; hosts && i < hosts->size(); ++i) {
        FOURFOLD_TRY(auto more, hosts_from_json((*hosts)[i], where + ": hosts[" + std::to_string(i) + "]"));
        target.hosts.insert(target.hosts.end(), more.begin(), more.end());
    }
    if (target.host_order == "name")
        std::stable_sort(target.hosts.begin(), target.hosts.end(),
            [](const TargetHost& a, const TargetHost& b) { return before_by_name(a.address, b.address); });
    if (target.kind == TargetKind::slurm) {
        if (!target.hosts.empty())
            return bad(where, "Slurm chooses the hosts", "leave hosts out, or use kind ssh");
        FOURFOLD_CHECK(read_slurm(slurm ? *slurm : Json::object(), where, target));
        if (!target.secrets.empty())
            return bad(where, "secrets cannot be handed to a queued job without storing them",
                "put them into a file on the cluster that only you can read, and source it in prelude");
    } else if (slurm) {
        return bad(where, "slurm belongs to kind slurm");
    }
    if (target.kind == TargetKind::ssh && target.hosts.empty())
        return bad(where, "hosts is missing or empty", "list the hosts, as in \"user@node1\"");
    if (target.kind == TargetKind::local
        && (target.hosts.size() > 1
            || !std::all_of(target.hosts.begin(), target.hosts.end(), [](const TargetHost& host) {
                   return (host.address == "127.0.0.1" || host.address == "localhost") && host.user.empty()
                       && host.port == 0 && host.jumps.empty();
               })))
        return bad(
            where, "a local target runs on this computer and has no other hosts", "leave hosts out, or use kind ssh");
    if (target.kind == TargetKind::local && target.hosts.empty())
        target.hosts.emplace_back().address = "127.0.0.1";
    return target;
}

Json to_json(const Target& target)
{
    Json hosts = Json::array();
    for (const TargetHost& host : target.hosts)
        hosts.push_back(to_json(host));
    Json environment = Json::object();
    for (const auto& [key, value] : target.environment)
        environment[key] = value;
    Json out = {{"fourfold_target", 1}, {"id", target.id}, {"kind", std::string(name(target.kind))},
        {"hosts", std::move(hosts)}, {"base_folder", target.base_folder},
        {"group_writable_folders", target.group_writable_folders}, {"backend", target.backend},
        {"prelude", target.prelude}};
    if (target.container)
        out["container"] = {{"image", target.container->image}, {"binds", target.container->binds}};
    out.update(Json{{"environment", std::move(environment)}, {"secrets", target.secrets},
        {"interface", target.interface}, {"hcas", target.hcas},
        {"numa",
            target.numa == NumaBinding::gpu          ? "gpu"
                : target.numa == NumaBinding::spread ? "spread"
                                                     : "none"},
        {"host_order", target.host_order}, {"mixed_gpus", target.mixed_gpus}, {"preflight", target.preflight},
        {"reuse_files", target.reuse_files}, {"upload", target.upload}, {"events_gib", target.events_gib},
        {"timeouts",
            {{"connect_s", target.connect_timeout_s}, {"link_s", target.link_s}, {"reconnect_s", target.reconnect_s},
                {"stop_grace_s", target.stop_grace_s}, {"prelude_s", target.prelude_timeout_s},
                {"first_step_s", target.first_step_s}, {"stall_s", target.stall_s}, {"stall_steps", target.stall_steps},
                {"hang_s", target.hang_s}, {"collective_s", target.collective_s}, {"lease_s", target.lease_s}}}});
    if (target.slurm)
        out["slurm"] = to_json(*target.slurm);
    return out;
}

} // namespace fourfold
