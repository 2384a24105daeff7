// SPDX-License-Identifier: GPL-3.0-or-later
// Target files: read strictly (a misspelt key is an error), written completely.
#include "core/base/text.h"
#include "runner/protocol/message.h"
#include "runner/protocol/slurm_time.h"
#include "runner/target/target_fields.h"
#include "runner/target/target_hosts.h"

#include <algorithm>
#include <cmath>

namespace fourfold {

namespace {

Problem bad(const std::string& where, std::string message, std::string hint = {})
{
    return {ProblemCode::bad_input, std::move(message), std::move(hint), where};
}

const std::vector<FieldOf<SshPlace>> kPlaceKeys{
    {"address", &SshPlace::address},
    {"user", &SshPlace::user},
    {"port", FieldOf<SshPlace>::Whole{&SshPlace::port, 0, 65535}},
    {"key_file", &SshPlace::key_file},
};
const std::vector<FieldOf<TargetHost>> kHostKeys{
    {"node_address", &TargetHost::node_address},
    {"ranks", FieldOf<TargetHost>::Whole{&TargetHost::ranks, 0, 4096}},
};
const std::vector<FieldOf<Container>> kContainerKeys{{"image", &Container::image}, {"binds", &Container::binds}};
const std::vector<FieldOf<SlurmSettings>> kSlurmKeys{
    {"nodes", FieldOf<SlurmSettings>::Whole{&SlurmSettings::nodes, 0, 65536}},
    {"ranks_per_node", FieldOf<SlurmSettings>::Whole{&SlurmSettings::ranks_per_node, 0, 4096}},
    {"partition", &SlurmSettings::partition},
    {"account", &SlurmSettings::account},
    {"qos", &SlurmSettings::qos},
    {"time", &SlurmSettings::time},
    {"gres", &SlurmSettings::gres},
    {"constraint", &SlurmSettings::constraint},
    {"reservation", &SlurmSettings::reservation},
    {"requeue", &SlurmSettings::requeue},
    {"lines", &SlurmSettings::lines},
};
using TargetField = FieldOf<Target>;
const std::vector<TargetField> kFolderKeys{
    {"base_folder", &Target::base_folder},
    {"group_writable_folders", &Target::group_writable_folders},
    {"backend", TargetField::Choice{&Target::backend, {"", "gloo", "nccl"}}},
    {"prelude", &Target::prelude},
};
const std::vector<TargetField> kNodeKeys{
    {"secrets", &Target::secrets},
    {"interface", &Target::interface},
    {"hcas", &Target::hcas},
    {"numa", TargetField::Choice{&Target::numa, {"gpu", "spread", "none"}}},
    {"host_order", TargetField::Choice{&Target::host_order, {"given", "name"}}},
    {"mixed_gpus", &Target::mixed_gpus},
    {"preflight", &Target::preflight},
    {"reuse_files", &Target::reuse_files},
    {"upload", TargetField::Choice{&Target::upload, {"auto", "parallel", "chain"}}},
    {"events_gib", TargetField::Number{&Target::events_gib, 0, 1e6}},
};

std::vector<TargetField> timeout_keys()
{
    std::vector<TargetField> keys{
        {"connect_s", TargetField::Number{&Target::connect_timeout_s, 0.1, 600}},
        {"link_s", TargetField::Number{&Target::link_s, 2, 600}},
        {"reconnect_s", TargetField::Number{&Target::reconnect_s, 0, kWeekSeconds}},
        {"stop_grace_s", TargetField::Number{&Target::stop_grace_s, 0, 600}},
    };
    for (const RunLimit& limit : kRunLimits)
        keys.push_back({limit.key, TargetField::Number{limit.member, limit.least, limit.most}});
    return keys;
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
        TargetFields fields(item, where, "jump.");
        read_keys(fields, kPlaceKeys, place);
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
            FOURFOLD_TRY(SshPlace place, place_from_text(name, where));
            out.emplace_back(std::move(place));
        }
        return out;
    }
    if (!json.is_object())
        return bad(where, "a host must be an object or text like \"user@host:22\"");
    TargetHost host;
    TargetFields fields(json, where);
    read_keys<SshPlace>(fields, kPlaceKeys, host);
    read_keys(fields, kHostKeys, host);
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
constexpr std::size_t kMostPath = 512;

bool is_safe_path(const std::string& path, bool home_allowed)
{
    const bool anchored = path.starts_with('/') || (home_allowed && path.starts_with("~/"));
    return anchored && path.size() <= kMostPath && consists_of(path.substr(1), "/_.+-")
        && path.find("..") == std::string::npos;
}

void read_container(TargetFields& fields, Target& target)
{
    const Json* json = fields.find("container");
    if (!json)
        return;
    Container container;
    if (json->is_string()) {
        container.image = json->get<std::string>();
    } else {
        TargetFields inner(*json, fields.where(), "container.");
        read_keys(inner, kContainerKeys, container);
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

void read_timeouts(TargetFields& fields, Target& target)
{
    // The first two also stand at the top, where older files have them.
    fields.number("connect_timeout_s", target.connect_timeout_s, 0.1, 600);
    fields.number("stop_grace_s", target.stop_grace_s, 0, 600);
    const Json* json = fields.find("timeouts");
    if (!json)
        return;
    TargetFields inner(*json, fields.where(), "timeouts.");
    read_keys(inner, timeout_keys(), target);
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
    TargetFields fields(json, where, "slurm.");
    const Json* login = fields.find("login");
    if (login) {
        FOURFOLD_TRY(const auto hosts, hosts_from_json(*login, where + ": slurm.login"));
        if (hosts.size() != 1)
            return bad(where, "slurm.login must be one host");
        slurm.login = hosts.front();
    }
    read_keys(fields, kSlurmKeys, slurm);
    for (const FieldOf<SlurmSettings>& key : kSlurmKeys) {
        const auto* const member = std::get_if<std::string SlurmSettings::*>(&key.value);
        if (!member)
            continue;
        const std::string& text = slurm.**member;
        if (text.size() > 256 || text.starts_with('-') || !consists_of(text, "_.,:+-=&|[]*()/@"))
            fields.complain(
                fields.at(key.name) + " " + in_quotes(text) + " holds characters that sbatch does not expect");
    }
    if (!is_time_limit(slurm.time))
        fields.complain("slurm.time " + in_quotes(slurm.time) + " is not a time limit",
            "minutes, hours:minutes:seconds or days-hours, as in \"90\", \"1:30:00\" or \"2-12\"");
    for (const std::string& line : slurm.lines) {
        if (!is_allowed_line(line))
            fields.complain("slurm.lines: " + in_quotes(line) + " is not allowed",
                "a long option of sbatch that Fourfold does not set itself, as in \"--mail-type=END\"");
    }
    FOURFOLD_CHECK(fields.done());
    target.slurm = std::move(slurm);
    return {};
}

void read_environment(TargetFields& fields, Target& target)
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
    std::map<std::string, std::string> names;
    for (const std::string& secret : target.secrets)
        names[secret];
    fields.take(check_environment(names, fields.where() + ": secrets"));
}

void read_node_settings(TargetFields& fields, Target& target)
{
    read_keys(fields, kFolderKeys, target);
    if (target.base_folder.size() > kMostPath)
        fields.complain("base_folder has " + std::to_string(target.base_folder.size()) + " characters",
            "it may have " + std::to_string(kMostPath) + ": choose a shorter one");
    else if (!target.base_folder.empty() && !is_safe_path(target.base_folder, true))
        fields.complain("base_folder " + in_quotes(target.base_folder) + " cannot be used",
            "begin it with / or ~/ and use letters, digits, '/', '_', '.' and '-' only");
    for (std::string& folder : target.group_writable_folders) {
        folder.erase(folder.find_last_not_of('/') + 1);
        if (folder.empty() || !is_safe_path(folder, false))
            fields.complain("group_writable_folders: " + in_quotes(folder) + " cannot be used",
                "an absolute path as in the message that asks for it, like \"/project/lab\"");
    }
    for (const std::string& line : target.prelude) {
        if (line.size() > 4096 || line.find_first_of(std::string_view("\n\r\0", 3)) != std::string::npos)
            fields.complain(
                "prelude: a line is over 4096 bytes or holds a line break or a NUL", "one command per entry");
    }
    read_container(fields, target);
    read_keys(fields, kNodeKeys, target);
    if (target.interface.size() > 64 || !consists_of(target.interface, "_.,:^=-"))
        fields.complain("interface " + in_quotes(target.interface) + " is not a name of a network interface");
    for (const std::string& hca : target.hcas) {
        if (hca.empty() || hca.size() > 64 || !consists_of(hca, "_.:-"))
            fields.complain(
                "hcas: " + in_quotes(hca) + " is not a name of an adapter", "as in \"mlx5_0\" or \"mlx5_0:1\"");
    }
}

Json host_json(const TargetHost& host)
{
    Json out, jumps = Json::array();
    write_keys<SshPlace>(out, kPlaceKeys, host);
    write_keys(out, kHostKeys, host);
    for (const SshPlace& jump : host.jumps)
        write_keys(jumps.emplace_back(), kPlaceKeys, jump);
    out["jump"] = std::move(jumps);
    return out;
}

} // namespace

Expected<Target> target_from_json(const Json& json, const std::string& where)
{
    TargetFields fields(json, where);
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
        hosts.push_back(host_json(host));
    Json out = {{"fourfold_target", 1}, {"id", target.id}, {"kind", to_text(target.kind)}, {"hosts", std::move(hosts)}};
    write_keys(out, kFolderKeys, target);
    if (target.container)
        write_keys(out["container"], kContainerKeys, *target.container);
    Json& environment = out["environment"] = Json::object();
    for (const auto& [key, value] : target.environment)
        environment[key] = value;
    write_keys(out, kNodeKeys, target);
    write_keys(out["timeouts"], timeout_keys(), target);
    if (target.slurm) {
        Json& slurm = out["slurm"] = Json::object();
        slurm["login"] = target.slurm->login ? host_json(*target.slurm->login) : Json(nullptr);
        write_keys(slurm, kSlurmKeys, *target.slurm);
    }
    return out;
}

} // namespace fourfold
