/** A simulated node whose agents are recorded, each in a life of its own, in one ring. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import { createRedaction, type Redaction } from '../../actors/replay/redaction.ts';
import type { FindCredentials } from '../../actors/services/images/nodeCredentials.ts';
import type { Clock } from '../../base/time/clock.ts';
import { type FileSystem, hostFiles } from '../../host/files/fileSystem.ts';
import { combineObservers } from '../../node/start/observation/nodeObservers.ts';
import { deflate } from '../../recording/deflate.ts';
import { createFlightRecorder, type FlightRecorder } from '../../recording/flightRecorder.ts';
import { type CheckResult, checkStretch } from '../../recording/play.ts';
import { RecordingFile } from '../../recording/recordingFile.ts';
import { findStretches } from '../../recording/stretches.ts';
import { type SimulatedNode, type SimulatedNodeOptions, simulatedNode } from '../fakes/node.ts';

export const MACHINES = 'these machines';

const directories: string[] = [];

afterEach(async () => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true });
});

export interface RecordedOptions extends Pick<SimulatedNodeOptions, 'pods' | 'runtime' | 'config' | 'store'> {
  readonly sizeBytes?: number;
  readonly files?: FileSystem;
  /** The digest of the machines that it says it is of. */
  readonly machines?: string;
  /** Whether the limits of its calls count down, at once. */
  readonly limits?: boolean;
  readonly findCredentials?: FindCredentials;
  /** Who looks on besides the recorder, at each agent anew. */
  readonly watch?: (redaction: Redaction) => Parameters<typeof combineObservers>[0];
}

export interface Recorded {
  readonly node: SimulatedNode;
  readonly directory: string;
  /** What the recorders said that they could not do. */
  readonly errors: readonly unknown[];
  /** That of the present agent. */
  readonly recorder: FlightRecorder;
  /** Lets time go by, a minute at a time, all that happens in which is written at its end. */
  readonly live: (minutes: number) => Promise<void>;
  /** Kills the agent, and starts another one. */
  readonly restart: () => Promise<void>;
}

/** Timers of the recorder never elapse, or those of limits alone: what waits is written when a test asks for it. */
const clockOf = (now: () => number, limits: boolean): Clock => ({
  now,
  monotonic: now,
  setTimeout: (fn, ms) => (limits && ms > 1_000 ? setTimeout(fn, ms / 100) : 0),
  clearTimeout: (id) => clearTimeout(id as NodeJS.Timeout),
});

export async function recordedNode({
  sizeBytes = 2 ** 26,
  files = hostFiles,
  machines = MACHINES,
  limits = false,
  watch = () => [],
  findCredentials,
  ...options
}: RecordedOptions = {}): Promise<Recorded> {
  const directory = join(await mkdtemp(join(tmpdir(), 'statelet-recording-')), 'recording');
  directories.push(join(directory, '..'));
  const errors: unknown[] = [];
  let node: SimulatedNode | undefined;
  let lives = 0;
  const nextLife = () => {
    lives += 1;
    return `life ${lives}`;
  };
  // As of a process of its own.
  let redaction = createRedaction();
  const another = () =>
    createFlightRecorder({
      files,
      directory,
      sizeBytes,
      deflate,
      redact: redaction.redact,
      clock: clockOf(() => node?.clock.now() ?? 0, limits),
      program: { machines, versions: { statelet: '0.1.0', node: 'v24' }, life: nextLife() },
      onError: (error) => void errors.push(error),
    });
  let recorder = another();
  const parts = () => ({ ...combineObservers([recorder.listeners, ...watch(redaction)]), redaction, findCredentials });
  node = await simulatedNode({ ...options, parts: parts() });
  recorder.start(node.agent);
  const present = node;
  return {
    node,
    directory,
    errors,
    get recorder() {
      return recorder;
    },
    live: async (minutes) => {
      for (let minute = 0; minute < minutes; minute += 1) {
        await present.advance('1m');
        await recorder.flush();
      }
    },
    restart: async () => {
      await recorder.flush();
      redaction = createRedaction();
      recorder = another();
      present.withParts(parts());
      await present.restartAgent();
      recorder.start(present.agent);
    },
  };
}

/** What came of playing each stretch of a recording beside what was written down. */
export async function checkedStretches(path: string): Promise<CheckResult[]> {
  const file = await RecordingFile.open(path);
  const checked: CheckResult[] = [];
  for (const stretch of await findStretches(file)) checked.push(await checkStretch(file, stretch, MACHINES));
  return checked;
}
