import { lookUp } from '../../../base/lookUp.ts';
import type { Behaviour } from './behaviour.ts';
import { type Command, parseScript, type Statement } from './shellScript.ts';
import { expand, STEP_LIMIT, type Variables } from './shellTokens.ts';

/** Returns the behaviour of a program that a script runs. */
type ProgramBehaviour = (argv: readonly string[]) => Behaviour;

/** State of the execution of a script. */
interface ShellState {
  readonly elapsedMs: number;
  readonly status: number;
  readonly onTerm: Behaviour;
  readonly background: readonly Behaviour[];
  readonly variables: Variables;
  readonly functions: ReadonlyMap<string, readonly Statement[]>;
  /** Remaining number of commands to follow, shared by all subshells. A script with more commands never exits. */
  readonly commandBudget: { remaining: number };
  /** Final behaviour of the script, once it is determined. */
  readonly end?: Behaviour;
}

type Builtin = (at: ShellState, args: readonly string[], programs: ProgramBehaviour) => ShellState;

const ASSIGNMENT = /^([A-Za-z_]\w*)=([\s\S]*)$/;

const builtins: Readonly<Record<string, Builtin>> = {
  exit: (at, args) => ({ ...at, end: exitAfter(at.elapsedMs, exitCode(args[0], at.status)) }),
  exec: (at, args, programs) => (args.length === 0 ? at : { ...at, end: delayedBy(programs(args), at.elapsedMs) }),
  trap: (at, args) => ({ ...at, onTerm: args.some(isTermSignal) ? trapBehaviour(args[0] ?? '') : at.onTerm }),
  wait: (at) => ({ ...[...at.background].reduce(waitForCommand, at), status: 0, background: [] }),
};

/** Returns the behaviour of a shell script. `programs` returns the behaviour of the programs in it. */
export function scriptBehaviour(script: string, programs: ProgramBehaviour): Behaviour {
  const initialState = { onTerm: {}, background: [], variables: new Map(), functions: new Map() };
  const at = runStatements(
    { elapsedMs: 0, status: 0, commandBudget: { remaining: STEP_LIMIT }, ...initialState },
    parseScript(script),
    programs,
  );
  return { ...outcome(at), ...at.onTerm };
}

function runStatements(start: ShellState, statements: readonly Statement[], programs: ProgramBehaviour): ShellState {
  let at = start;
  for (const { command, join, background } of statements) {
    if (at.end !== undefined) break;
    if (at.commandBudget.remaining-- <= 0) return { ...at, end: {} };
    if (join === '&&' && at.status !== 0) continue;
    if (join === '||' && at.status === 0) continue;
    if (background) at = { ...at, background: [...at.background, subshellBehaviour(at, command, programs)] };
    else at = runCommand(at, command, programs);
  }
  return at;
}

function runCommand(at: ShellState, command: Command, programs: ProgramBehaviour): ShellState {
  switch (command.kind) {
    case 'endless':
      return { ...at, end: {} };
    case 'group':
      return runStatements(at, command.body, programs);
    case 'subshell':
      return waitForCommand(at, subshellBehaviour(at, { kind: 'group', body: command.body }, programs));
    case 'function':
      return { ...at, functions: new Map(at.functions).set(command.name, command.body) };
    case 'for':
      return runLoop(at, command, programs);
    case 'simple':
      return runSimple(at, command.words, programs);
  }
}

function runLoop(
  start: ShellState,
  { name, items, body }: Command & { kind: 'for' },
  programs: ProgramBehaviour,
): ShellState {
  const values = items.flatMap((item) => expand(item, start.variables));
  let at = start;
  for (const value of values) {
    if (at.end !== undefined) break;
    at = runStatements({ ...at, variables: new Map(at.variables).set(name, value) }, body, programs);
  }
  return at;
}

function runSimple(at: ShellState, rawWords: readonly string[], programs: ProgramBehaviour): ShellState {
  const first = rawWords.findIndex((word) => !ASSIGNMENT.test(word));
  if (first === -1) return { ...at, status: 0, variables: assignVariables(at.variables, rawWords) };
  const words = rawWords.slice(first).flatMap((word) => expand(word, at.variables));
  const [word = '', ...args] = words;
  const body = at.functions.get(word);
  if (body !== undefined) return callFunction(at, word, body, programs);
  const builtin = Object.hasOwn(builtins, word) ? lookUp(builtins, word) : undefined;
  return builtin ? builtin(at, args, programs) : waitForCommand(at, delayedBy(programs(words), at.elapsedMs));
}

/** Calls a function, which is undefined within its own body so that recursion is not followed. */
function callFunction(
  at: ShellState,
  name: string,
  body: readonly Statement[],
  programs: ProgramBehaviour,
): ShellState {
  const otherFunctions = new Map([...at.functions].filter(([functionName]) => functionName !== name));
  return { ...runStatements({ ...at, functions: otherFunctions }, body, programs), functions: at.functions };
}

function assignVariables(variables: Variables, assignments: readonly string[]): Variables {
  const assigned = new Map(variables);
  for (const assignment of assignments) {
    const [, name = '', value = ''] = ASSIGNMENT.exec(assignment) ?? [];
    assigned.set(name, expand(value, assigned).join(' '));
  }
  return assigned;
}

/** Returns the behaviour of a command in a subshell that starts now. */
function subshellBehaviour(at: ShellState, command: Command, programs: ProgramBehaviour): Behaviour {
  return outcome(runCommand({ ...at, background: [] }, command, programs));
}

function outcome({ end, elapsedMs, status }: ShellState): Behaviour {
  return end ?? exitAfter(elapsedMs, status);
}

/** Waits for a command, which may have exited already. */
function waitForCommand(at: ShellState, { exitAfterMs, exitCode = 0 }: Behaviour): ShellState {
  if (at.end !== undefined) return at;
  if (exitAfterMs === undefined) return { ...at, end: {} };
  return { ...at, elapsedMs: Math.max(at.elapsedMs, exitAfterMs), status: exitCode };
}

function exitAfter(exitAfterMs: number, exitCode: number): Behaviour {
  return { exitAfterMs, exitCode };
}

function delayedBy(behaviour: Behaviour, ms: number): Behaviour {
  const { exitAfterMs } = behaviour;
  return exitAfterMs === undefined ? behaviour : { ...behaviour, exitAfterMs: exitAfterMs + ms };
}

function trapBehaviour(handler: string): Behaviour {
  if (handler === '') return { ignoresSigterm: true };
  for (const { command } of parseScript(handler)) {
    if (command.kind === 'simple' && command.words[0] === 'exit')
      return { termExitCode: exitCode(command.words[1], 0) };
  }
  return { ignoresSigterm: true };
}

function isTermSignal(word: string): boolean {
  return word === 'TERM' || word === 'SIGTERM' || word === '15';
}

function exitCode(word: string | undefined, status: number): number {
  const code = Number(word ?? status);
  return Number.isInteger(code) ? code & 255 : status;
}
