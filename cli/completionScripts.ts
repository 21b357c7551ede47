/** What a shell has to source so that Tab asks `statelet __complete` for what may follow. */

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const bash = `# Completion of statelet in bash: source <(statelet completion bash)
_statelet() {
  local -a found
  mapfile -t found < <("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=()
  (( \${#found[@]} > 0 )) || return 0
  [[ \${found[-1]} == :file ]] && compopt -o default
  unset 'found[-1]'
  COMPREPLY=("\${found[@]}")
}
complete -F _statelet statelet
`;

const zsh = `#compdef statelet
# Completion of statelet in zsh: source <(statelet completion zsh)
_statelet() {
  local -a found
  found=("\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ \${found[-1]} == :file ]] && _files
  found[-1]=()
  compadd -- "\${found[@]}"
}
compdef _statelet statelet
`;

const fish = `# Completion of statelet in fish: statelet completion fish | source
function __statelet_complete
    set -l words (commandline -opc)
    set -l found ($words[1] __complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
    if test "$found[-1]" = :file
        __fish_complete_path (commandline -ct)
    end
    string match -v -r '^:' -- $found
end
complete -c statelet -f -a '(__statelet_complete)'
`;

const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };

export const completionScript = (shell: Shell): string => scripts[shell];
