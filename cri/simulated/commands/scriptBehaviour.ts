import { lookUp } from '../../../base/values/lookUp.ts';
import type { Behaviour } from './behaviour.ts';
import { type Command, parseScript, type Statement } from './shellScript.ts';
import { expandWord, MAX_STEPS, type Variables } from './shellTokens.ts';

/** Returns the behaviour of a program that a script runs. */
type GetProgramBehaviour = (argv: readonly string[]) => Behaviour;

/** Execution state of a script. */
interface ShellState {
  readonly elapsedMs: number;
  readonly status: number;
  readonly onTerm: Behaviour;
  readonly backgroundJobs: readonly Behaviour[];
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

type Builtin = (state: ShellState, args: readonly string[], programs: GetProgramBehaviour) => ShellState;

const ASSIGNMENT_PATTERN = /^([A-Za-z_]\w*)=([\s\S]*)$/;

const builtins: Readonly<Record<string, Builtin>> = {
  exit: (state, args) => ({ ...state, end: exitBehaviour(state.elapsedMs, exitCode(args[0], state.status)) }),
  exec: (state, args, programs) =>
    args.length === 0 ? state : { ...state, end: delayBehaviour(programs(args), state.elapsedMs) },
  trap: (state, args) => ({ ...state, onTerm: args.some(isTermSignal) ? trapBehaviour(args[0] ?? '') : state.onTerm }),
  wait: (state) => ({ ...[...state.backgroundJobs].reduce(waitForCommand, state), status: 0, backgroundJobs: [] }),
};

/**
 * Returns the behaviour of a shell script. `programBehaviour` returns the behaviour of the programs that the script
 * runs.
 */
export function scriptBehaviour(script: string, programBehaviour: GetProgramBehaviour): Behaviour {
  const initialState = { onTerm: {}, backgroundJobs: [], variables: new Map(), functions: new Map() };
  const state = runStatements(
    { elapsedMs: 0, status: 0, commandBudget: { remaining: MAX_STEPS }, ...initialState },
    parseScript(script),
    programBehaviour,
  );
  return { ...finalBehaviour(state), ...state.onTerm };
}

function runStatements(
  initialState: ShellState,
  statements: readonly Statement[],
  programBehaviour: GetProgramBehaviour,
): ShellState {
  let state = initialState;
  for (const { command, joinOperator, isBackground } of statements) {
    if (state.end !== undefined) break;
    if (state.commandBudget.remaining-- <= 0) return { ...state, end: {} };
    if (joinOperator === '&&' && state.status !== 0) continue;
    if (joinOperator === '||' && state.status === 0) continue;
    if (isBackground)
      state = {
        ...state,
        backgroundJobs: [...state.backgroundJobs, subshellBehaviour(state, command, programBehaviour)],
      };
    else state = runCommand(state, command, programBehaviour);
  }
  return state;
}

function runCommand(state: ShellState, command: Command, programBehaviour: GetProgramBehaviour): ShellState {
  switch (command.kind) {
    case 'endless':
      return { ...state, end: {} };
    case 'group':
      return runStatements(state, command.body, programBehaviour);
    case 'subshell':
      return waitForCommand(state, subshellBehaviour(state, { kind: 'group', body: command.body }, programBehaviour));
    case 'function':
      return { ...state, functions: new Map(state.functions).set(command.name, command.body) };
    case 'for':
      return runLoop(state, command, programBehaviour);
    case 'simple':
      return runSimpleCommand(state, command.words, programBehaviour);
  }
}

function runLoop(
  initialState: ShellState,
  { name, items, body }: Command & { kind: 'for' },
  programBehaviour: GetProgramBehaviour,
): ShellState {
  const loopValues = items.flatMap((item) => expandWord(item, initialState.variables));
  let state = initialState;
  for (const value of loopValues) {
    if (state.end !== undefined) break;
    state = runStatements({ ...state, variables: new Map(state.variables).set(name, value) }, body, programBehaviour);
  }
  return state;
}

function runSimpleCommand(
  state: ShellState,
  rawWords: readonly string[],
  programBehaviour: GetProgramBehaviour,
): ShellState {
  const commandIndex = rawWords.findIndex((word) => !ASSIGNMENT_PATTERN.test(word));
  if (commandIndex === -1) return { ...state, status: 0, variables: assignVariables(state.variables, rawWords) };
  const commandWords = rawWords.slice(commandIndex).flatMap((word) => expandWord(word, state.variables));
  const [word = '', ...args] = commandWords;
  const functionBody = state.functions.get(word);
  if (functionBody !== undefined) return callFunction(state, word, functionBody, programBehaviour);
  const builtin = Object.hasOwn(builtins, word) ? lookUp(builtins, word) : undefined;
  return builtin
    ? builtin(state, args, programBehaviour)
    : waitForCommand(state, delayBehaviour(programBehaviour(commandWords), state.elapsedMs));
}

/**
 * Executes the body of a function. The function is undefined within its own body, so that recursion ends immediately.
 */
function callFunction(
  state: ShellState,
  name: string,
  body: readonly Statement[],
  programBehaviour: GetProgramBehaviour,
): ShellState {
  const otherFunctions = new Map([...state.functions].filter(([functionName]) => functionName !== name));
  return {
    ...runStatements({ ...state, functions: otherFunctions }, body, programBehaviour),
    functions: state.functions,
  };
}

function assignVariables(variables: Variables, assignments: readonly string[]): Variables {
  const updatedVariables = new Map(variables);
  for (const assignment of assignments) {
    const [, name = '', value = ''] = ASSIGNMENT_PATTERN.exec(assignment) ?? [];
    updatedVariables.set(name, expandWord(value, updatedVariables).join(' '));
  }
  return updatedVariables;
}

/** Returns the behaviour of a command in a subshell that starts at this point of the script. */
function subshellBehaviour(state: ShellState, command: Command, programBehaviour: GetProgramBehaviour): Behaviour {
  return finalBehaviour(runCommand({ ...state, backgroundJobs: [] }, command, programBehaviour));
}

function finalBehaviour({ end, elapsedMs, status }: ShellState): Behaviour {
  return end ?? exitBehaviour(elapsedMs, status);
}

/** Advances the script to the exit of a command, unless the script is already past that time. */
function waitForCommand(state: ShellState, { exitAfterMs, exitCode = 0 }: Behaviour): ShellState {
  if (state.end !== undefined) return state;
  if (exitAfterMs === undefined) return { ...state, end: {} };
  return { ...state, elapsedMs: Math.max(state.elapsedMs, exitAfterMs), status: exitCode };
}

function exitBehaviour(exitAfterMs: number, exitCode: number): Behaviour {
  return { exitAfterMs, exitCode };
}

function delayBehaviour(behaviour: Behaviour, ms: number): Behaviour {
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
