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
  /**
   * Number of commands that can still be executed, shared by all subshells. A script with more commands is assumed
   * never to exit.
   */
  readonly commandBudget: { remaining: number };
  /** Final behaviour of the script, once it is determined. */
  readonly end?: Behaviour;
}

type Builtin = (state: ShellState, args: readonly string[], programs: ProgramBehaviour) => ShellState;

const ASSIGNMENT = /^([A-Za-z_]\w*)=([\s\S]*)$/;

const builtins: Readonly<Record<string, Builtin>> = {
  exit: (state, args) => ({ ...state, end: exitAfter(state.elapsedMs, exitCode(args[0], state.status)) }),
  exec: (state, args, programs) =>
    args.length === 0 ? state : { ...state, end: delayedBy(programs(args), state.elapsedMs) },
  trap: (state, args) => ({ ...state, onTerm: args.some(isTermSignal) ? trapBehaviour(args[0] ?? '') : state.onTerm }),
  wait: (state) => ({ ...[...state.background].reduce(waitForCommand, state), status: 0, background: [] }),
};

/** Returns the behaviour of a shell script. `programs` returns the behaviour of the programs in it. */
export function scriptBehaviour(script: string, programs: ProgramBehaviour): Behaviour {
  const initialState = { onTerm: {}, background: [], variables: new Map(), functions: new Map() };
  const state = runStatements(
    { elapsedMs: 0, status: 0, commandBudget: { remaining: STEP_LIMIT }, ...initialState },
    parseScript(script),
    programs,
  );
  return { ...outcome(state), ...state.onTerm };
}

function runStatements(start: ShellState, statements: readonly Statement[], programs: ProgramBehaviour): ShellState {
  let state = start;
  for (const { command, join, background } of statements) {
    if (state.end !== undefined) break;
    if (state.commandBudget.remaining-- <= 0) return { ...state, end: {} };
    if (join === '&&' && state.status !== 0) continue;
    if (join === '||' && state.status === 0) continue;
    if (background)
      state = { ...state, background: [...state.background, subshellBehaviour(state, command, programs)] };
    else state = runCommand(state, command, programs);
  }
  return state;
}

function runCommand(state: ShellState, command: Command, programs: ProgramBehaviour): ShellState {
  switch (command.kind) {
    case 'endless':
      return { ...state, end: {} };
    case 'group':
      return runStatements(state, command.body, programs);
    case 'subshell':
      return waitForCommand(state, subshellBehaviour(state, { kind: 'group', body: command.body }, programs));
    case 'function':
      return { ...state, functions: new Map(state.functions).set(command.name, command.body) };
    case 'for':
      return runLoop(state, command, programs);
    case 'simple':
      return runSimple(state, command.words, programs);
  }
}

function runLoop(
  start: ShellState,
  { name, items, body }: Command & { kind: 'for' },
  programs: ProgramBehaviour,
): ShellState {
  const values = items.flatMap((item) => expand(item, start.variables));
  let state = start;
  for (const value of values) {
    if (state.end !== undefined) break;
    state = runStatements({ ...state, variables: new Map(state.variables).set(name, value) }, body, programs);
  }
  return state;
}

function runSimple(state: ShellState, rawWords: readonly string[], programs: ProgramBehaviour): ShellState {
  const first = rawWords.findIndex((word) => !ASSIGNMENT.test(word));
  if (first === -1) return { ...state, status: 0, variables: assignVariables(state.variables, rawWords) };
  const words = rawWords.slice(first).flatMap((word) => expand(word, state.variables));
  const [word = '', ...args] = words;
  const body = state.functions.get(word);
  if (body !== undefined) return callFunction(state, word, body, programs);
  const builtin = Object.hasOwn(builtins, word) ? lookUp(builtins, word) : undefined;
  return builtin ? builtin(state, args, programs) : waitForCommand(state, delayedBy(programs(words), state.elapsedMs));
}

/** Calls a function, which is undefined within its own body so that recursion is not followed. */
function callFunction(
  state: ShellState,
  name: string,
  body: readonly Statement[],
  programs: ProgramBehaviour,
): ShellState {
  const otherFunctions = new Map([...state.functions].filter(([functionName]) => functionName !== name));
  return { ...runStatements({ ...state, functions: otherFunctions }, body, programs), functions: state.functions };
}

function assignVariables(variables: Variables, assignments: readonly string[]): Variables {
  const assigned = new Map(variables);
  for (const assignment of assignments) {
    const [, name = '', value = ''] = ASSIGNMENT.exec(assignment) ?? [];
    assigned.set(name, expand(value, assigned).join(' '));
  }
  return assigned;
}

/** Returns the behaviour of a command in a subshell that starts at this point of the script. */
function subshellBehaviour(state: ShellState, command: Command, programs: ProgramBehaviour): Behaviour {
  return outcome(runCommand({ ...state, background: [] }, command, programs));
}

function outcome({ end, elapsedMs, status }: ShellState): Behaviour {
  return end ?? exitAfter(elapsedMs, status);
}

/** Waits for a command, which may have already exited. */
function waitForCommand(state: ShellState, { exitAfterMs, exitCode = 0 }: Behaviour): ShellState {
  if (state.end !== undefined) return state;
  if (exitAfterMs === undefined) return { ...state, end: {} };
  return { ...state, elapsedMs: Math.max(state.elapsedMs, exitAfterMs), status: exitCode };
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
