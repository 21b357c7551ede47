import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { root } from '../../support/root.ts';
import '../../support/unchangedHost.ts';
import { eventually, Hopeless } from './eventually.ts';

/** The Node of the package, as npm's scripts find it. */
export const packageNode = [join(root, 'node_modules', '.bin', 'node'), join(root, 'cli', 'main.ts')] as const;

const execute = promisify(execFile);

/** The command that the package installs, over the bundle, which is built when it is stale. */
export async function installedCommand(): Promise<readonly string[]> {
  const script = `import(${JSON.stringify(join(root, 'scripts/setup/bundle.mjs'))}).then(({ bundle }) => bundle())`;
  await execute(packageNode[0], ['-e', script]);
  return [join(root, 'cli', 'statelet.sh')];
}

/** A command of statelet at work, as a process. */
export interface Statelet {
  readonly pid: number;
  out(): string;
  err(): string;
  /** Throws `Hopeless` with all that it has written when it has ended. */
  mustLive(): void;
  /** Waits until it has written this, on whichever stream. */
  says(text: string | RegExp): Promise<void>;
  /** Signals the process alone; with `group` all of its process group, as a terminal does. */
  kill(signal: NodeJS.Signals, to?: 'group'): void;
  /** Its exit code when it has ended, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/** How a command is started. */
export interface StartOptions {
  /** What runs it, before its arguments; absent: the package's Node over the sources. */
  readonly by?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts a command of statelet in a process group of its own. */
export function startStatelet(args: readonly string[], { by = packageNode, env = {} }: StartOptions = {}): Statelet {
  const [program = '', ...before] = by;
  const child = spawn(program, [...before, ...args], {
    detached: true,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  const { pid } = child;
  if (pid === undefined) throw new Error(`${program} does not start`);
  const ended = endOf(child);
  const mustLive = () => {
    if (child.exitCode === null && child.signalCode === null) return;
    throw new Hopeless(`statelet ${args[0]} has ended with ${child.exitCode ?? child.signalCode}:\n${out()}${err()}`);
  };
  return {
    pid,
    out,
    err,
    ended,
    mustLive,
    kill: (signal, to) => process.kill(to === 'group' ? -pid : pid, signal),
    says: async (text) => {
      await eventually(`statelet ${args.join(' ')} says ${text}`, () => {
        const said = `${out()}${err()}`;
        if (typeof text === 'string' ? said.includes(text) : text.test(said)) return true;
        mustLive();
        return undefined;
      });
    },
  };
}

/** Runs a command of statelet to its end. */
export async function statelet(
  ...args: string[]
): Promise<{ code: number | NodeJS.Signals; out: string; err: string }> {
  const { ended, out, err } = startStatelet(args);
  const code = await ended;
  return { code, out: out(), err: err() };
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

async function endOf(child: Child): Promise<number | NodeJS.Signals> {
  await once(child, 'close');
  return child.exitCode ?? child.signalCode ?? 0;
}

function collect(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  return () => text;
}
