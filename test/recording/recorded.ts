/** A simulated node whose agents are each recorded as one run, in the same ring. */
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
  /** Digest of the machines that the recording states. */
  readonly machines?: string;
  /** Whether the time limits of calls count down, 100 times as fast. */
  readonly limits?: boolean;
  readonly findCredentials?: FindCredentials;
  /** Returns the observers of each new agent, in addition to the recorder. */
  readonly watch?: (redaction: Redaction) => Parameters<typeof combineObservers>[0];
}

export interface Recorded {
  readonly node: SimulatedNode;
  readonly directory: string;
  /** Errors that the recorders reported. */
  readonly errors: readonly unknown[];
  /** Recorder of the current agent. */
  readonly recorder: FlightRecorder;
  /** Advances the clock by this number of minutes. The recorder is flushed after each minute. */
  readonly live: (minutes: number) => Promise<void>;
  /** Kills the agent, and starts a new one. */
  readonly restart: () => Promise<void>;
}

/**
 * Returns a clock on which only time limits elapse, or no timer at all. The recorder writes when the test flushes it.
 */
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
  // Each agent has its own redaction, as a separate process would.
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

/** Replays each stretch of a recording and compares it with the recorded statuses. Returns the results. */
export async function checkedStretches(path: string): Promise<CheckResult[]> {
  const file = await RecordingFile.open(path);
  const checked: CheckResult[] = [];
  for (const stretch of await findStretches(file)) checked.push(await checkStretch(file, stretch, MACHINES));
  return checked;
}
