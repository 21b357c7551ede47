/**
 * Contains the completion scripts, which users source in their shells. On Tab, a script calls `statelet __complete`.
 */

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

// The scripts expand ~/ in the first word themselves, because a shell does not expand it in a variable.

const bashScript = `# Completion of statelet in bash: source <(statelet completion bash)
_statelet() {
  local -a found
  local command=\${COMP_WORDS[0]/#\\~\\//$HOME/}
  mapfile -t found < <("$command" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=()
  (( \${#found[@]} > 0 )) || return 0
  [[ \${found[-1]} == :file ]] && compopt -o default
  unset 'found[-1]'
  COMPREPLY=("\${found[@]}")
}
complete -F _statelet statelet
`;

const zshScript = `#compdef statelet
# Completion of statelet in zsh: source <(statelet completion zsh), or this as _statelet in a folder of fpath
_statelet() {
  local -a found
  local command=\${words[1]/#\\~\\//$HOME/}
  found=("\${(@f)$("$command" __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ \${found[-1]} == :file ]]; then
    [[ $PREFIX == --*=* ]] && compset -P 1 '*='
    _files
  fi
  found[-1]=()
  compadd -- "\${found[@]}"
}
if [[ \${funcstack[1]} == _statelet ]]; then
  # It was loaded for this very Tab.
  _statelet "$@"
else
  (( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit -i }
  compdef _statelet statelet
fi
`;

const fishScript = `# Completion of statelet in fish: statelet completion fish | source
function __statelet_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l command (string replace -r '^~/' "$HOME/" -- $words[1])
    set -l found ($command __complete -- $words[2..-1] "$typed" 2>/dev/null)
    if test "$found[-1]" = :file
        set -l flag (string match -r '^--[\\w-]+=' -- $typed)
        for path in (__fish_complete_path (string replace -- "$flag" '' $typed))
            echo "$flag$path"
        end
    end
    string match -v -r '^:' -- $found
end
complete -c statelet -f -a '(__statelet_complete)'
`;

const scriptsByShell: Readonly<Record<Shell, string>> = { bash: bashScript, zsh: zshScript, fish: fishScript };

export const completionScript = (shell: Shell): string => scriptsByShell[shell];
