import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { root } from '../../support/root.ts';
import '../../support/unchangedHost.ts';
import { eventually, Hopeless } from './eventually.ts';

/** The Node.js of the package, as npm scripts find it, with the sources of the command. */
export const packageNode = [join(root, 'node_modules', '.bin', 'node'), join(root, 'cli', 'main.ts')] as const;

const execute = promisify(execFile);

/** Returns the installed command, which runs the bundle. Builds the bundle if it is stale. */
export async function installedCommand(): Promise<readonly string[]> {
  const script = `import(${JSON.stringify(join(root, 'scripts/setup/bundle.mjs'))}).then(({ bundle }) => bundle())`;
  await execute(packageNode[0], ['-e', script]);
  return [join(root, 'cli', 'statelet.sh')];
}

/** A running statelet command. */
export interface Statelet {
  readonly pid: number;
  out(): string;
  err(): string;
  /** Throws `Hopeless` with all output if the process has exited. */
  mustLive(): void;
  /** Waits until this text appears on either output stream. */
  says(text: string | RegExp): Promise<void>;
  /** Signals only the process or, with `group`, its process group, as a terminal does. */
  kill(signal: NodeJS.Signals, to?: 'group'): void;
  /** Exit code, or the signal that killed the process. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

export interface StartOptions {
  /** The program and its first arguments. Default: the package's Node.js with the sources. */
  readonly by?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts a statelet command in a process group of its own. */
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
        const output = `${out()}${err()}`;
        if (typeof text === 'string' ? output.includes(text) : text.test(output)) return true;
        mustLive();
        return undefined;
      });
    },
  };
}

/** Runs a statelet command until it exits. */
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
