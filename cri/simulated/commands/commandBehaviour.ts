import { lookUp } from '../../../base/values/lookUp.ts';
import type { Behaviour } from './behaviour.ts';
import { scriptBehaviour } from './scriptBehaviour.ts';

const SHELLS = new Set(['sh', 'ash', 'bash', 'dash']);
const INSTANT_COMMANDS = new Set(
  'true : echo printf date mkdir touch cat rm cp mv ln ls set cd export test [ id env seq unset umask'.split(' '),
);
const DURATION_UNITS_MS: Readonly<Record<string, number>> = {
  '': 1000,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Returns the behaviour of a command line. Supports `sleep`, `true`, `false`, programs that exit immediately, and shell
 * scripts that consist of these. Other commands never exit.
 */
export function commandBehaviour(argv: readonly string[]): Behaviour {
  const [path = '', ...args] = argv;
  const program = path.slice(path.lastIndexOf('/') + 1);
  if (program === 'busybox') return commandBehaviour(args);
  if (SHELLS.has(program)) return shellBehaviour(args);
  if (program === 'sleep') return exitBehaviour(sleepMs(args), 0);
  if (program === 'false') return exitBehaviour(0, 1);
  return INSTANT_COMMANDS.has(program) ? exitBehaviour(0, 0) : {};
}

function shellBehaviour(args: readonly string[]): Behaviour {
  const scriptFlagIndex = args.findIndex((arg) => /^-[a-z]*c$/.test(arg));
  if (scriptFlagIndex === -1) return args.length === 0 ? exitBehaviour(0, 0) : {};
  return scriptBehaviour(args[scriptFlagIndex + 1] ?? '', commandBehaviour);
}

function exitBehaviour(exitAfterMs: number | undefined, exitCode: number): Behaviour {
  return exitAfterMs === undefined ? {} : { exitAfterMs, exitCode };
}

function sleepMs(args: readonly string[]): number | undefined {
  let sum = 0;
  for (const arg of args) {
    const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(arg) ?? [];
    if (amount === undefined) return undefined;
    sum += Number(amount) * (lookUp(DURATION_UNITS_MS, unit) ?? 1000);
  }
  return sum;
}
