// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold completion SHELL` and `fourfold manual`: completion scripts and the man page, made from the parser itself.
#include "app/cli/command.h"
#include "app/cli/planning/completion_names.h"
#include "core/base/text.h"

#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

std::vector<const CLI::App*> subcommands_of(const CLI::App& app)
{
    return app.get_subcommands([](const CLI::App*) { return true; });
}

// "--set", "-o".
std::vector<std::string> names_of(const CLI::Option& option)
{
    std::vector<std::string> names;
    for (const std::string& name : option.get_snames())
        names.push_back("-" + name);
    for (const std::string& name : option.get_lnames())
        names.push_back("--" + name);
    return names;
}

// One line for each command: where it stands, what may follow, its options, the kinds of its arguments, and what the
// options that take a value take ("--target=targets", "--output=" a file). ":history:list" is the place.
void add_cases(const CLI::App& app, const std::string& place, std::string& out)
{
    std::vector<std::string> subcommands, options, kinds, values;
    for (const CLI::App* subcommand : subcommands_of(app))
        subcommands.push_back(subcommand->get_name());
    for (const CLI::Option* option : app.get_options()) {
        const std::string kind = completed_kind(*option);
        if (option->get_positional() && !kind.empty())
            kinds.push_back(kind);
        for (std::string& name : names_of(*option)) {
            if (option->get_items_expected_max() > 0)
                values.push_back(name + "=" + kind);
            options.push_back(std::move(name));
        }
    }
    out += "        '" + place + "') commands='" + joined(subcommands, " ") + "'; options='" + joined(options, " ")
        + "'; kinds='" + joined(kinds, " ") + "'; values='" + joined(values, " ") + "' ;;\n";
    for (const CLI::App* subcommand : subcommands_of(app))
        add_cases(*subcommand, place + ":" + subcommand->get_name(), out);
}

std::string cases_of(const CLI::App& app)
{
    std::string out = "    case $place in\n";
    add_cases(app, "", out);
    return out + "    esac\n";
}

// What is typed so far decides the command; a word of it that is no subcommand is an argument.
std::string bash_script(const CLI::App& app)
{
    return R"(# bash completion of fourfold, made by `fourfold completion bash`
_fourfold_command()
{
    local place=$1
)" + cases_of(app)
        + R"(    printf '%s\n%s\n%s\n%s\n' "$commands" "$options" "$kinds" "$values"
}
_fourfold()
{
    local place='' word commands options kinds values lines
    mapfile -t lines < <(_fourfold_command "$place")
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        if [[ " ${lines[0]} " == *" $word "* ]]; then
            place+=":$word"
            mapfile -t lines < <(_fourfold_command "$place")
        fi
    done
    commands=${lines[0]} options=${lines[1]} kinds=${lines[2]} values=${lines[3]}
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    if [[ $current == = ]]; then # --target=
        current=''
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for word in $values; do
        if [[ ${word%%=*} == "$before" ]]; then
            kinds=${word#*=} commands=''
        fi
    done
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    elif [[ -n $commands ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        local kind name
        for kind in $kinds; do
            while IFS= read -r name; do
                if [[ $name == "$current"* ]]; then
                    COMPREPLY+=("$name")
                fi
            done < <("${COMP_WORDS[0]/#\~/$HOME}" completion --names "$kind" 2>/dev/null)
        done
    fi
}
complete -o filenames -F _fourfold fourfold
)";
}

std::string zsh_script(const CLI::App& app)
{
    return R"(#compdef fourfold
# zsh completion of fourfold, made by `fourfold completion zsh`
_fourfold_command()
{
    local place=$1
)" + cases_of(app)
        + R"zsh(}
_fourfold()
{
    local place='' word commands options kinds values kind
    _fourfold_command "$place"
    for word in ${words[2,CURRENT-1]}; do
        if [[ " $commands " == *" $word "* ]]; then
            place+=":$word"
            _fourfold_command "$place"
        fi
    done
    local before=$words[CURRENT-1]
    if [[ $words[CURRENT] == --*=* ]]; then
        before=${words[CURRENT]%%=*}
        compset -P '*='
    fi
    for word in ${=values}; do
        if [[ ${word%%=*} == $before ]]; then
            kinds=${word#*=} commands=''
        fi
    done
    if [[ $PREFIX == -* ]]; then
        compadd -- ${=options}
    elif [[ -n $commands ]]; then
        compadd -- ${=commands}
    else
        for kind in ${=kinds}; do
            compadd -- ${(f)"$(${~words[1]} completion --names $kind 2>/dev/null)"}
        done
        _files
    fi
}
# A file of fpath runs as the function itself; `source <(fourfold completion zsh)` does not.
if [[ ${funcstack[1]} == _fourfold ]]; then
    _fourfold "$@"
elif (( $+functions[compdef] )); then
    compdef _fourfold fourfold
else
    print -u2 'fourfold: completion needs zsh to have begun it (autoload -U compinit && compinit)'
fi
)zsh";
}

// Text of a man page: backslashes and a leading dot or quote mean something to troff, and "-" is a hyphen there.
std::string troff(const std::string& text)
{
    std::string out;
    for (const char c : text) {
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
            out += std::string("\\&") + c;
        else
            out += c;
    }
    return out;
}

void add_options(const CLI::App& app, std::string& out)
{
    for (const CLI::Option* option : app.get_options()) {
        const std::vector<std::string> names = names_of(*option);
        std::string head = names.empty() ? option->get_name(true) : joined(names, ", ");
        if (!names.empty() && option->get_items_expected_max() > 0 && !option->get_type_name().empty())
            head += " " + option->get_type_name();
        if (!names.empty() && option->get_positional())
            head = option->get_name(true) + ", " + head;
        out += ".TP\n.B " + troff(head) + "\n" + troff(option->get_description()) + "\n";
    }
}

void add_command(const CLI::App& app, const std::string& name, std::string& out)
{
    out += ".SS " + troff(name) + "\n" + troff(app.get_description()) + "\n";
    add_options(app, out);
    for (const CLI::App* subcommand : subcommands_of(app))
        add_command(*subcommand, name + " " + subcommand->get_name(), out);
}

std::string man_page(const CLI::App& app)
{
    std::string out = ".TH FOURFOLD 1 \"\" \"Fourfold " FOURFOLD_VERSION "\" \"User Commands\"\n.SH NAME\n"
                      "fourfold \\- planner and cluster runner for 4D\\-parallel training of language models\n"
                      ".SH SYNOPSIS\n.B fourfold\n.I COMMAND\n[\\fIARGUMENTS\\fR]\n.SH DESCRIPTION\n"
        + troff(app.get_description()) + "\n.SH OPTIONS\n";
    add_options(app, out);
    out += ".SH COMMANDS\n";
    for (const CLI::App* subcommand : subcommands_of(app))
        add_command(*subcommand, subcommand->get_name(), out);
    out += ".SH EXIT STATUS\n.TP\n.B 0\ndone\n.TP\n.B 1\nfailed while running; one line on standard error says what "
           "and "
           "what to do\n.TP\n.B 2\nunusable arguments or input\n"
           ".SH FILES\n.TP\n.I ~/.local/share/fourfold/history.db\nthe history of runs\n"
           ".TP\n.I ~/.local/share/fourfold/runs/\nplan, prediction, events and logs of every run\n"
           ".TP\n.I ~/.config/fourfold/presets/\nmodels, clusters, stacks and targets of your own\n"
           ".TP\n.I ~/.cache/fourfold/\nthe LibTorch that was fetched\n"
           ".SH ENVIRONMENT\n.TP\n.B XDG_DATA_HOME, XDG_CONFIG_HOME, XDG_CACHE_HOME\nmove these folders\n"
           ".TP\n.B FOURFOLD_PRESETS\na further folder of presets\n"
           ".TP\n.B FOURFOLD_LIBTORCH\nthe LibTorch of the trainer: a folder that holds lib/\n"
           ".SH SEE ALSO\n.BR fourfold\\-desktop (1)\n";
    return out;
}

} // namespace

void add_completion(Cli& cli)
{
    auto* completion = cli.app.add_subcommand("completion", "Print the completion script of a shell");
    struct Options {
        std::string shell, kind;
    };
    const auto options = std::make_shared<Options>();
    auto* shell = completion->add_option("SHELL", options->shell, "bash or zsh")->check(CLI::IsMember({"bash", "zsh"}));
    auto* names = completion
                      ->add_option("--names", options->kind,
                          "instead print the names that the script offers: " + joined(completed_kinds(), ", "))
                      ->type_name("KIND")
                      ->check(CLI::IsMember(completed_kinds()));
    shell->excludes(names);
    completion->callback([&cli, options] {
        cli.chosen = [&cli, options]() -> Expected<int> {
            if (!options->kind.empty()) {
                FOURFOLD_TRY(const auto found, completed_names(options->kind));
                for (const std::string& name : found)
                    std::cout << name << "\n";
                return kDone;
            }
            if (options->shell.empty())
                return Problem{ProblemCode::bad_input, "of which shell?", "fourfold completion bash, or zsh", "SHELL"};
            std::cout << (options->shell == "bash" ? bash_script(cli.app) : zsh_script(cli.app));
            return kDone;
        };
    });
    cli.app.add_subcommand("manual", "Print the man page")->callback([&cli] {
        cli.chosen = [&cli] {
            std::cout << man_page(cli.app);
            return kDone;
        };
    });
}

} // namespace fourfold::cli
