/**
 * Completion with Tab in each shell: the shell's line editor with the completion script, the installed command and a
 * running agent.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { findProgram } from '../../../host/program.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { installedCommand } from '../../e2e/support/statelet.ts';
import { root } from '../../support/root.ts';

jest.setTimeout(120_000);

/** Home directory of a user who has the command in ~/bin. It is also the root directory of the agent. */
let home: string;
let agent: ChildProcess;
let shell: ChildProcess;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'statelet-shells-'));
  const [command = ''] = await installedCommand();
  await mkdir(join(home, 'bin'));
  await symlink(command, join(home, 'bin', 'statelet'));
  await writeFile(join(home, 'kubelet.yaml'), '');
  agent = spawn(join(root, 'node_modules/.bin/node'), [join(root, 'test/cli/nodeProcess.ts'), 'run', home], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  for await (const text of agent.stderr?.setEncoding('utf8') ?? []) {
    said += String(text);
    if (said.includes('the node agent is running')) break;
  }
});

afterAll(async () => {
  await waitForExit(agent);
  await rm(home, { recursive: true });
});

async function waitForExit(process: ChildProcess): Promise<void> {
  const over = once(process, 'close');
  process.kill('SIGKILL');
  await over;
}

interface Way {
  /** Command line of the shell, without the user's startup files. */
  readonly command: string;
  /** Command that loads the completion script. */
  readonly set: string;
  /** Returns the command that binds Ctrl-X b to writing the line being edited to this file. */
  readonly tell: (file: string) => string;
}

const BASH = {
  command: 'bash --noprofile --norc -i',
  tell: (file: string) => `bind -x '"\\C-xb": echo "$READLINE_LINE" >${file}'`,
};
const ZSH = {
  command: 'zsh -f -i',
  tell: (file: string) => `tell() { print -r -- "$BUFFER" >${file} }; zle -N tell; bindkey '^Xb' tell`,
};
const FISH = { command: 'fish -i', tell: (file: string) => `bind \\cxb 'commandline >${file}'` };

/** Pairs of the text typed before Tab and the expected line. `HOME` stands for the home directory. */
type Lines = readonly (readonly [string, string])[];

const FIRST: Lines = [
  ['statelet desc', 'statelet describe'],
  ['statelet run --config=HOME/kub', 'statelet run --config=HOME/kubelet.yaml'],
];
const ALL: Lines = [
  ...FIRST,
  ['statelet get pods --al', 'statelet get pods --all-namespaces'],
  ['statelet get pods -o j', 'statelet get pods -o json'],
  ['statelet get pods --output=j', 'statelet get pods --output=json'],
  ['statelet get pods --root-dir ~ w', 'statelet get pods --root-dir ~ web-host'],
  ['statelet explain --root-dir=HOME pod/w', 'statelet explain --root-dir=HOME pod/web-host'],
  ['statelet run --config HOME/kub', 'statelet run --config HOME/kubelet.yaml'],
  ['statelet get nodes HOME/kub', 'statelet get nodes HOME/kub'],
  ['HOME/bin/statelet desc', 'HOME/bin/statelet describe'],
  ['~/bin/statelet desc', '~/bin/statelet describe'],
];

const WAYS: readonly (readonly [string, Way, Lines])[] = [
  ['bash', { ...BASH, set: 'source <(statelet completion bash)' }, ALL],
  ['zsh', { ...ZSH, set: 'source <(statelet completion zsh)' }, ALL],
  [
    'zsh with the script in a folder of functions',
    { ...ZSH, set: 'fpath=(~ $fpath); statelet completion zsh >~/_statelet; autoload -Uz compinit; compinit -u -D' },
    FIRST,
  ],
  ['fish', { ...FISH, set: 'statelet completion fish | source' }, ALL],
  [
    'fish with the script in its folder of completions',
    {
      ...FISH,
      set: 'mkdir -p ~/.config/fish/completions; statelet completion fish >~/.config/fish/completions/statelet.fish',
    },
    FIRST,
  ],
];

/** Starts a shell on its own terminal, and waits until it has loaded the completion script. */
async function start({ command, set, tell }: Way): Promise<void> {
  const [name = ''] = command.split(' ');
  if ((await findProgram(name)) === undefined) {
    throw new Error(`${name} is missing, which this test runs: apt-get install ${name}`);
  }
  const terminal = spawn('script', ['-qec', `stty cols 200; ${command}`, '/dev/null'], {
    env: { PATH: `${join(home, 'bin')}:${process.env.PATH}`, HOME: home, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  shell = terminal;
  let out = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  const ready = join(home, 'ready');
  await rm(ready, { force: true });
  terminal.stdin.write(`${set}\n${tell(join(home, 'line'))}\necho >${ready}\n`);
  await eventually(`${name} has the script`, async () => readFile(ready)).catch((cause: unknown) => {
    throw new Error(`${name} does not take the script: ${out}`, { cause });
  });
}

/** Types the text and Tab at a new prompt, and returns the resulting line. */
async function tab(typed: string): Promise<string> {
  const file = join(home, 'line');
  await rm(file, { force: true });
  shell.stdin?.write(`\x15${typed}\t\x18b`);
  const line = await eventually('the line is told', async () => {
    const text = await readFile(file, 'utf8');
    return text.endsWith('\n') && text;
  });
  return line.trimEnd();
}

describe.each(WAYS)('%s', (_name, way, lines) => {
  beforeAll(() => start(way));
  afterAll(() => waitForExit(shell));

  test.each(lines)('Tab completes "%s" to "%s"', async (typed, line) => {
    const withHome = (text: string) => text.replaceAll('HOME', home);
    expect(await tab(withHome(typed))).toBe(withHome(line));
  });
});
