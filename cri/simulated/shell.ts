import { lookUp } from '../../base/lookUp.ts';
import type { Behaviour } from './behaviour.ts';
import { type Command, type Statement, statementsOf } from './shellScript.ts';
import { expand, STEP_LIMIT, type Variables } from './shellTokens.ts';

/** What a program does that a script runs. */
type Programs = (argv: readonly string[]) => Behaviour;

/** Where a script has got to. */
interface Progress {
  readonly elapsedMs: number;
  readonly status: number;
  readonly onTerm: Behaviour;
  readonly background: readonly Behaviour[];
  readonly variables: Variables;
  readonly functions: ReadonlyMap<string, readonly Statement[]>;
  /** How many more commands are followed, in whichever shell; a script that is longer runs on. */
  readonly steps: { left: number };
  /** What the script does as a whole, once that is settled. */
  readonly end?: Behaviour;
}

type Simple = (at: Progress, args: readonly string[], programs: Programs) => Progress;

const ASSIGNMENT = /^([A-Za-z_]\w*)=([\s\S]*)$/;

const builtins: Readonly<Record<string, Simple>> = {
  exit: (at, args) => ({ ...at, end: ending(at.elapsedMs, exitCode(args[0], at.status)) }),
  exec: (at, args, programs) => (args.length === 0 ? at : { ...at, end: later(programs(args), at.elapsedMs) }),
  trap: (at, args) => ({ ...at, onTerm: args.some(isTerm) ? trap(args[0] ?? '') : at.onTerm }),
  wait: (at) => ({ ...[...at.background].reduce(after, at), status: 0, background: [] }),
};

/** What a shell script does; `programs` tells what each program in it does. */
export function scriptBehaviour(script: string, programs: Programs): Behaviour {
  const nothing = { onTerm: {}, background: [], variables: new Map(), functions: new Map() };
  const at = runAll(
    { elapsedMs: 0, status: 0, steps: { left: STEP_LIMIT }, ...nothing },
    statementsOf(script),
    programs,
  );
  return { ...outcome(at), ...at.onTerm };
}

function runAll(start: Progress, statements: readonly Statement[], programs: Programs): Progress {
  let at = start;
  for (const { command, join, background } of statements) {
    if (at.end !== undefined) break;
    if (at.steps.left-- <= 0) return { ...at, end: {} };
    if (join === '&&' && at.status !== 0) continue;
    if (join === '||' && at.status === 0) continue;
    if (background) at = { ...at, background: [...at.background, aside(at, command, programs)] };
    else at = step(at, command, programs);
  }
  return at;
}

function step(at: Progress, command: Command, programs: Programs): Progress {
  switch (command.kind) {
    case 'endless':
      return { ...at, end: {} };
    case 'group':
      return runAll(at, command.body, programs);
    case 'subshell':
      return after(at, aside(at, { kind: 'group', body: command.body }, programs));
    case 'function':
      return { ...at, functions: new Map(at.functions).set(command.name, command.body) };
    case 'for':
      return each(at, command, programs);
    case 'simple':
      return simple(at, command.words, programs);
  }
}

function each(start: Progress, { name, items, body }: Command & { kind: 'for' }, programs: Programs): Progress {
  const values = items.flatMap((item) => expand(item, start.variables));
  let at = start;
  for (const value of values) {
    if (at.end !== undefined) break;
    at = runAll({ ...at, variables: new Map(at.variables).set(name, value) }, body, programs);
  }
  return at;
}

function simple(at: Progress, written: readonly string[], programs: Programs): Progress {
  const first = written.findIndex((word) => !ASSIGNMENT.test(word));
  if (first === -1) return { ...at, status: 0, variables: assigned(at.variables, written) };
  const words = written.slice(first).flatMap((word) => expand(word, at.variables));
  const [word = '', ...args] = words;
  const body = at.functions.get(word);
  if (body !== undefined) return called(at, word, body, programs);
  const builtin = Object.hasOwn(builtins, word) ? lookUp(builtins, word) : undefined;
  return builtin ? builtin(at, args, programs) : after(at, later(programs(words), at.elapsedMs));
}

/** A function that calls itself is not followed. */
function called(at: Progress, name: string, body: readonly Statement[], programs: Programs): Progress {
  const others = new Map([...at.functions].filter(([other]) => other !== name));
  return { ...runAll({ ...at, functions: others }, body, programs), functions: at.functions };
}

function assigned(variables: Variables, assignments: readonly string[]): Variables {
  const all = new Map(variables);
  for (const assignment of assignments) {
    const [, name = '', value = ''] = ASSIGNMENT.exec(assignment) ?? [];
    all.set(name, expand(value, all).join(' '));
  }
  return all;
}

/** A command in a shell of its own, which begins where this one is. */
function aside(at: Progress, command: Command, programs: Programs): Behaviour {
  return outcome(step({ ...at, background: [] }, command, programs));
}

function outcome({ end, elapsedMs, status }: Progress): Behaviour {
  return end ?? ending(elapsedMs, status);
}

/** Goes on when that has ended, which it may have done already. */
function after(at: Progress, { exitAfterMs, exitCode = 0 }: Behaviour): Progress {
  if (at.end !== undefined) return at;
  if (exitAfterMs === undefined) return { ...at, end: {} };
  return { ...at, elapsedMs: Math.max(at.elapsedMs, exitAfterMs), status: exitCode };
}

function ending(exitAfterMs: number, exitCode: number): Behaviour {
  return { exitAfterMs, exitCode };
}

function later(behaviour: Behaviour, ms: number): Behaviour {
  const { exitAfterMs } = behaviour;
  return exitAfterMs === undefined ? behaviour : { ...behaviour, exitAfterMs: exitAfterMs + ms };
}

function trap(handler: string): Behaviour {
  if (handler === '') return { ignoresSigterm: true };
  for (const { command } of statementsOf(handler)) {
    if (command.kind === 'simple' && command.words[0] === 'exit')
      return { termExitCode: exitCode(command.words[1], 0) };
  }
  return { ignoresSigterm: true };
}

function isTerm(word: string): boolean {
  return word === 'TERM' || word === 'SIGTERM' || word === '15';
}

function exitCode(word: string | undefined, status: number): number {
  const code = Number(word ?? status);
  return Number.isInteger(code) ? code & 255 : status;
}
