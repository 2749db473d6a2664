/** Completion scripts for bash, zsh and fish. */
import { dashed, namesOf, type Option } from '../arguments/option.ts';
import type { Positional } from '../arguments/parse.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** A command as a completion script sees it. */
export interface CommandWords {
  /** One or two words. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly options: readonly Option[];
  readonly positionals: readonly Positional[];
}

export function completionScript(shell: Shell, commands: readonly CommandWords[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(commands);
    case 'zsh':
      return zshScript(commands);
    case 'fish':
      return fishScript(commands);
  }
}

function flagsOf(options: readonly Option[]): readonly string[] {
  return options.flatMap(namesOf).map(dashed);
}

/** Every option of any command, once. */
function allOptions(commands: readonly CommandWords[]): readonly Option[] {
  const byName = new Map(commands.flatMap(({ options }) => options.map((option) => [option.name, option] as const)));
  return [...byName.values()];
}

/** Words that may follow: names of commands, or the choices of the first argument. */
function wordsAfter(commands: readonly CommandWords[], path: readonly string[]): readonly string[] {
  const deeper = commands.filter((command) => path.every((word, index) => command.path[index] === word));
  const exact = deeper.find((command) => command.path.length === path.length);
  return exact === undefined
    ? [...new Set(deeper.map((command) => command.path[path.length] ?? ''))]
    : (exact.positionals[0]?.choices ?? []);
}

/** Prefixes of commands (none, `state`, `state list`), each with what may follow. */
function positions(commands: readonly CommandWords[]) {
  const paths = new Map<string, readonly string[]>([['', []]]);
  for (const { path } of commands) {
    path.forEach((_, index) => {
      const prefix = path.slice(0, index + 1);
      paths.set(prefix.join(' '), prefix);
    });
  }
  return [...paths].map(([name, path]) => {
    const exact = commands.find((command) => command.path.join(' ') === name);
    return {
      name,
      words: wordsAfter(commands, path),
      flags: flagsOf(exact?.options ?? allOptions(commands)),
      takesFile: exact?.positionals[0]?.complete === 'file',
    };
  });
}

function bashScript(commands: readonly CommandWords[]): string {
  const options = allOptions(commands);
  const taking = options.filter((option) => option.value !== undefined);
  const files = taking.filter((option) => option.complete === 'file');
  const nodes = positions(commands);
  const cases = nodes.map(
    ({ name, words, flags, takesFile }) =>
      `    '${name}') words='${words.join(' ')}'; flags='${flags.join(' ')}'; file=${takesFile ? 1 : 0} ;;`,
  );
  const nested = nodes.filter(({ name }) => name !== '').map(({ name }) => `'${name}'`);
  return `# Completion of obsiac for bash. Made by "obsiac completion bash".
_obsiac() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command='' index word words flags file
  COMPREPLY=()
  case $previous in
    ${flagsOf(files).join('|')}) COMPREPLY=($(compgen -f -- "$current")); compopt -o filenames 2>/dev/null; return ;;
    ${flagsOf(taking.filter((option) => option.complete !== 'file')).join('|')}) return ;;
  esac
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case $word in
      ${flagsOf(taking).join('|')}) ((index++)); continue ;;
      -*) continue ;;
    esac
    case "\${command:+$command }$word" in
      ${nested.join('|')}) command="\${command:+$command }$word" ;;
    esac
  done
  case $command in
${cases.join('\n')}
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif ((file)); then
    COMPREPLY=($(compgen -f -- "$current")); compopt -o filenames 2>/dev/null
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}
complete -F _obsiac obsiac
`;
}

function zshQuote(text: string): string {
  return text.replaceAll("'", "'\\''").replace(/[[\]:]/g, '\\$&');
}

function zshOption(option: Option): string {
  const value = option.value === undefined ? '' : `:${option.value}:${option.complete === 'file' ? '_files' : ''}`;
  return namesOf(option)
    .map(dashed)
    .map((flag) => `'${option.repeatable === true ? '*' : ''}${flag}[${zshQuote(option.summary)}]${value}'`)
    .join(' ');
}

function zshScript(commands: readonly CommandWords[]): string {
  const described = (path: readonly string[]) =>
    wordsAfter(commands, path).map((word) => {
      const summary = commands.find((command) => command.path[path.length] === word)?.summary ?? '';
      return `'${word}:${zshQuote(summary)}'`;
    });
  const groups = [...new Set(commands.filter(({ path }) => path.length > 1).map(({ path }) => path[0] ?? ''))];
  const options = allOptions(commands).map((option) => `    ${zshOption(option)}`);
  const arguments_ = commands
    .filter(({ path, positionals }) => path.length === 1 && positionals[0] !== undefined)
    .map(({ path, positionals }) => {
      const first = positionals[0];
      const action = first?.choices === undefined ? '_files' : `compadd -- ${first.choices.join(' ')}`;
      return `        ${path[0]}) ${first?.choices === undefined && first?.complete !== 'file' ? ':' : action} ;;`;
    });
  return `#compdef obsiac
# Completion of obsiac for zsh. Made by "obsiac completion zsh".
_obsiac() {
  local -a commands
  commands=(${described([]).join(' ')})
  local context state line
  typeset -A opt_args
  _arguments -C \\
${options.join(' \\\n')} \\
    '1: :->command' '2: :->word' '*::argument:_files'
  case $state in
    command) _describe command commands ;;
    word)
      case $line[1] in
${groups.map((group) => `        ${group}) local -a subcommands; subcommands=(${described([group]).join(' ')}); _describe command subcommands ;;`).join('\n')}
${arguments_.join('\n')}
      esac ;;
  esac
}
if [ "$funcstack[1]" = _obsiac ]; then _obsiac "$@"; else compdef _obsiac obsiac; fi
`;
}

function fishQuote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function fishScript(commands: readonly CommandWords[]): string {
  const top = [...new Set(commands.map(({ path }) => path[0] ?? ''))];
  const lines: string[] = [];
  for (const word of top) {
    const own = commands.find(({ path }) => path[0] === word);
    const summary = own?.path.length === 1 ? own.summary : `Commands under ${word}`;
    lines.push(`complete -c obsiac -f -n __fish_use_subcommand -a ${word} -d ${fishQuote(summary)}`);
  }
  for (const { path, summary, positionals } of commands) {
    const [first = '', second] = path;
    const seen = `'__fish_seen_subcommand_from ${first}'`;
    if (second !== undefined) {
      lines.push(`complete -c obsiac -f -n ${seen} -a ${second} -d ${fishQuote(summary)}`);
    }
    for (const choice of positionals[0]?.choices ?? []) {
      lines.push(`complete -c obsiac -f -n ${seen} -a ${choice}`);
    }
  }
  for (const option of allOptions(commands)) {
    const users = commands.filter(({ options }) => options.some(({ name }) => name === option.name));
    const condition =
      users.length === commands.length
        ? ''
        : ` -n '__fish_seen_subcommand_from ${[...new Set(users.map(({ path }) => path[0]))].join(' ')}; or __fish_use_subcommand'`;
    const names = namesOf(option).map((name) =>
      name.length === 1 ? `-s ${name}` : name.length === 2 ? `-o ${name}` : `-l ${name}`,
    );
    const value = option.value === undefined ? '' : option.complete === 'file' ? ' -r -F' : ' -x';
    lines.push(`complete -c obsiac${condition} ${names.join(' ')}${value} -d ${fishQuote(option.summary)}`);
  }
  return `# Completion of obsiac for fish. Made by "obsiac completion fish".\n${lines.join('\n')}\n`;
}
