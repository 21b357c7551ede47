import type { Behaviour } from './behaviour.ts';
import { type Statement, statementsOf } from './shellWords.ts';

const SHELLS = new Set(['sh', 'ash', 'bash', 'dash']);
const LOOPS = new Set(['while', 'until', 'for']);
const INSTANT = new Set(
  'true : echo printf date mkdir touch cat rm cp mv ln ls set cd export test [ id env'.split(' '),
);
const UNIT_MS: Readonly<Record<string, number>> = { '': 1000, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** What a command line does, as far as it is `sleep`, `true`, `false`, or a shell script of such; others run on. */
export function behaviourOf(argv: readonly string[]): Behaviour {
  const [path = '', ...args] = argv;
  const program = path.slice(path.lastIndexOf('/') + 1);
  if (program === 'busybox') return behaviourOf(args);
  if (SHELLS.has(program)) return shell(args);
  if (program === 'sleep') return lasting(sleepMs(args), 0);
  if (program === 'false') return lasting(0, 1);
  return INSTANT.has(program) ? lasting(0, 0) : {};
}

/** Where a script has got to; `endMs` undefined stands for never. */
interface Progress {
  readonly elapsedMs: number;
  readonly status: number;
  readonly onTerm: Behaviour;
  readonly background: readonly Behaviour[];
}

function shell(args: readonly string[]): Behaviour {
  const flag = args.findIndex((arg) => /^-[a-z]*c$/.test(arg));
  if (flag === -1) return args.length === 0 ? lasting(0, 0) : {};
  let at: Progress = { elapsedMs: 0, status: 0, onTerm: {}, background: [] };
  for (const statement of statementsOf(args[flag + 1] ?? '')) {
    if (statement.join === '&&' && at.status !== 0) continue;
    if (statement.join === '||' && at.status === 0) continue;
    const next = step(at, statement);
    if ('end' in next) return { ...next.end, ...at.onTerm };
    at = next;
  }
  return { ...lasting(at.elapsedMs, at.status), ...at.onTerm };
}

function step(at: Progress, { words, background }: Statement): Progress | { end: Behaviour } {
  const [word = '', ...args] = words;
  if (word === 'exit') return { end: lasting(at.elapsedMs, exitCode(args[0], at.status)) };
  if (word === 'exec') return { end: later(behaviourOf(args), at.elapsedMs) };
  if (word === 'trap') return { ...at, onTerm: args.some(isTerm) ? trap(args[0] ?? '') : at.onTerm };
  if (word === 'wait') return afterAll(at);
  if (LOOPS.has(word)) return { end: {} };
  const behaviour = later(behaviourOf(words), at.elapsedMs);
  if (background) return { ...at, background: [...at.background, behaviour] };
  if (behaviour.exitAfterMs === undefined) return { end: {} };
  return { ...at, elapsedMs: behaviour.exitAfterMs, status: behaviour.exitCode ?? 0 };
}

function afterAll(at: Progress): Progress | { end: Behaviour } {
  let elapsedMs = at.elapsedMs;
  for (const { exitAfterMs } of at.background) {
    if (exitAfterMs === undefined) return { end: {} };
    elapsedMs = Math.max(elapsedMs, exitAfterMs);
  }
  return { ...at, elapsedMs, status: 0, background: [] };
}

function trap(handler: string): Behaviour {
  if (handler === '') return { ignoresSigterm: true };
  const [end] = statementsOf(handler).filter(({ words }) => words[0] === 'exit');
  return end ? { termExitCode: exitCode(end.words[1], 0) } : { ignoresSigterm: true };
}

function isTerm(word: string): boolean {
  return word === 'TERM' || word === 'SIGTERM' || word === '15';
}

function exitCode(word: string | undefined, status: number): number {
  const code = Number(word ?? status);
  return Number.isInteger(code) ? code & 255 : status;
}

function lasting(exitAfterMs: number | undefined, exitCode: number): Behaviour {
  return exitAfterMs === undefined ? {} : { exitAfterMs, exitCode };
}

function later(behaviour: Behaviour, ms: number): Behaviour {
  const { exitAfterMs } = behaviour;
  return exitAfterMs === undefined ? behaviour : { ...behaviour, exitAfterMs: exitAfterMs + ms };
}

function sleepMs(args: readonly string[]): number | undefined {
  let sum = 0;
  for (const arg of args) {
    const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(arg) ?? [];
    if (amount === undefined) return undefined;
    sum += Number(amount) * (UNIT_MS[unit] ?? 1000);
  }
  return sum;
}
