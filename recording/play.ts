/** Plays recordings again: to a moment, or from end to end beside what was written down. */
import { isDeepStrictEqual } from 'node:util';
import type { NodeAgent } from '../actors/nodeAgent.ts';
import { createReplay, type Replay } from '../actors/replay.ts';
import type { Move } from '../actors/status/since.ts';
import type { PodStatus } from '../pod/api/schema/status.ts';
import { messageOf } from '../pod/failure.ts';
import { firstDifference } from '../pod/firstDifference.ts';
import type { Line, StatusLine } from './lines.ts';
import { RecordingError } from './recordingError.ts';
import type { RecordingFile } from './recordingFile.ts';
import { type Beginning, beganAt, beginningBefore, linesFrom, type Stretch } from './stretches.ts';

/** A moment of a recording. */
export interface Played {
  /** The agent as it was then; it is to be stopped. */
  readonly agent: NodeAgent;
  /** The moment, or that of the last thing that was recorded, in milliseconds since the epoch. */
  readonly at: number;
}

/** Throws where the recording is of other machines: they would take other ways. */
function expectMachines({ machines: recorded, versions }: Stretch, machines: string): void {
  if (recorded === machines) return;
  throw new RecordingError(
    `recorded by statelet ${versions.statelet}, whose state machines differ from this version's: use --story, or replay it with that version`,
  );
}

/** Plays a recording up to a moment and with it; undefined where there is nothing to begin with. */
export async function playTo(
  file: RecordingFile,
  stretches: readonly Stretch[],
  { until, machines }: { readonly until: number; readonly machines: string },
): Promise<Played | undefined> {
  const found = beginningBefore(stretches, until);
  if (found === undefined) return undefined;
  const { stretch, beginning } = found;
  expectMachines(stretch, machines);
  const { agent, enter, passTo } = await replayFrom(file, beginning);
  agent.start();
  let { at } = beginning;
  for await (const line of linesFrom(file, stretch, beginning)) {
    // Before all that was recorded there is nothing to see.
    at = Math.max(beginning.at, Math.min(line.at, until));
    if (line.at > until) break;
    if (isEntry(line)) await entered(enter, line);
  }
  passTo(at);
  return { agent, at };
}

type Entered = Extract<Line, { readonly source: string }>;

const isEntry = (line: Line): line is Entered => 'source' in line;

async function replayFrom(
  file: RecordingFile,
  beginning: Beginning,
  options: Parameters<typeof createReplay>[2] = {},
): Promise<Replay> {
  const { input, from, at } = await beganAt(file, beginning);
  try {
    return createReplay(input, [], { ...options, ...(from ? { from } : {}), at });
  } catch (cause) {
    throw notPlayable(at, cause);
  }
}

async function entered(enter: Replay['enter'], line: Entered): Promise<boolean> {
  try {
    return await enter(line);
  } catch (cause) {
    throw notPlayable(line.at, cause);
  }
}

/** Whatever the machines are given that they never were given live. */
const notPlayable = (at: number, cause: unknown): RecordingError =>
  new RecordingError(`${new Date(at).toISOString()}: it cannot be replayed: ${messageOf(cause)}`, { cause });

/** Where a replay comes to something else than what was written down. */
interface Difference {
  readonly at: number;
  /** Which actor's state it is, or which pod's status, or which part of that. */
  readonly of: string;
  readonly recorded: unknown;
  /** Absent where it comes to nothing. */
  readonly replayed?: unknown;
}

/** How much was compared. */
export interface Checked {
  readonly entries: number;
  readonly states: number;
  readonly statuses: number;
  readonly difference?: Difference;
}

/** Plays a stretch from its first beginning on, and compares every state and status with what was written down. */
export async function checkStretch(file: RecordingFile, stretch: Stretch, machines: string): Promise<Checked> {
  const [beginning] = stretch.beginnings;
  const counts = { entries: 0, states: 0, statuses: 0 };
  if (beginning === undefined) return counts;
  expectMachines(stretch, machines);
  const comparison = new Comparison();
  const { agent, enter } = await replayFrom(file, beginning, { moves: (move) => comparison.move(move) });
  agent.subscribe(({ uid, removed, pod }) => comparison.tell(uid, removed ? undefined : pod.status));
  agent.start();
  try {
    for await (const line of linesFrom(file, stretch, beginning)) {
      if (isEntry(line)) await entered(enter, line);
      const difference = comparison.with(line);
      if (isEntry(line)) counts.entries += 1;
      if (line.kind === 'state') counts.states += 1;
      if (line.kind === 'status') counts.statuses += 1;
      if (difference) return { ...counts, difference };
    }
    return counts;
  } finally {
    await agent.stop();
  }
}

/** What a replay has come to, beside what was written down: both in their order. */
class Comparison {
  readonly #moves: Move[] = [];
  /** The statuses of each pod that were told and not compared yet, as they are written down. */
  readonly #statuses = new Map<string, unknown[]>();

  move(move: Move): void {
    this.#moves.push(move);
  }

  tell(uid: string, status: PodStatus | undefined): void {
    const told = this.#statuses.get(uid) ?? [];
    const next = inJson(status);
    // As in what is written down, only another one counts.
    if (told.length === 0 || !isDeepStrictEqual(told.at(-1), next)) told.push(next);
    this.#statuses.set(uid, told);
  }

  /** Undefined where the replay has come to the same. */
  with(line: Line): Difference | undefined {
    if (line.kind === 'status') return this.#status(line);
    if (line.kind !== 'state') return undefined;
    const { at, actor, state } = line;
    const next = this.#moves.shift();
    if (next?.actor === actor && next.state === state) return undefined;
    const replayed = next === undefined ? {} : { replayed: `${next.actor} ${next.state}` };
    return { at, of: actor, recorded: state, ...replayed };
  }

  /** A replay tells at once what an agent tells when it is saved, and each of what that tells together. */
  #status({ at, uid, pod, status }: StatusLine): Difference | undefined {
    const told = this.#statuses.get(uid) ?? [];
    const index = told.findIndex((each) => isDeepStrictEqual(each, status));
    if (index >= 0) this.#statuses.set(uid, told.slice(index));
    if (index >= 0) return undefined;
    const { path, one, other } = firstDifference(status, told.at(-1)) ?? { path: '', one: status, other: told.at(-1) };
    return { at, of: `${pod} status${path}`, recorded: one, replayed: other };
  }
}

const inJson = (status: PodStatus | undefined): unknown =>
  status === undefined ? undefined : JSON.parse(JSON.stringify(status));
