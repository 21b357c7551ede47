/**
 * Runs a node of fifty pods on a simulated runtime in its own process, with or without a flight recorder. Prints the
 * CPU time of the process, and the recorder's part of it, for the start of the pods and for ten idle minutes, and the
 * memory at the end.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { createRedaction } from '../../actors/replay/redaction.ts';
import { SimulatedClock } from '../../actors/simulated/simulatedClock.ts';
import { startSimulatedNode } from '../../actors/simulated/startSimulatedNode.ts';
import { hostFiles } from '../../host/files/fileSystem.ts';
import { COMPRESSION_LEVEL } from '../../recording/deflate.ts';
import { createFlightRecorder, type FlightRecorder } from '../../recording/flightRecorder.ts';

const PODS = 50;
const IDLE_MS = 10 * 60_000;
const SETTLES_MS = 30_000;

const isRecorded = process.argv[2] === 'recorded';
let ownMs = 0;
/** Number of nested calls of its functions. */
let depth = 0;

/** Returns the function with its run time attributed to the recorder. */
const timed =
  <A extends readonly unknown[], R>(act: (...args: A) => R) =>
  (...args: A): R => {
    const began = performance.now();
    depth += 1;
    try {
      return act(...args);
    } finally {
      depth -= 1;
      if (depth === 0) ownMs += performance.now() - began;
    }
  };

/** Creates a recorder that compresses on this thread, so that all of its work is measured. */
function timedRecorder(directory: string, clock: SimulatedClock, redact: <T>(value: T) => T): FlightRecorder {
  const recorder = createFlightRecorder({
    files: hostFiles,
    directory,
    sizeBytes: 2 ** 26,
    redact,
    // Measure the recorder's timers up to their first asynchronous operation.
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      setTimeout: (fn, ms) => clock.setTimeout(timed(fn), ms),
      clearTimeout: (id) => clock.clearTimeout(id),
    },
    deflate: timed(async (bytes: Uint8Array) => deflateRawSync(bytes, { level: COMPRESSION_LEVEL })),
    program: { machines: '', versions: { statelet: '', node: '' }, life: '' },
    onError: (error) => {
      throw error;
    },
  });
  const { onInput: record, onPortCall: calls, onStateChange: moves, events } = recorder.listeners;
  return {
    flush: () => recorder.flush(),
    waitUntilWritten: () => recorder.waitUntilWritten(),
    close: () => recorder.close(),
    progress: () => recorder.progress(),
    start: ({ draftKeyframe, subscribe, ...agent }) =>
      recorder.start({
        ...agent,
        input: agent.input,
        draftKeyframe: timed(() => {
          const { at, steps } = draftKeyframe();
          return { at, steps: { next: timed(() => steps.next()) } };
        }),
        subscribe: (listener) => subscribe(timed(listener)),
      }),
    listeners: { onInput: timed(record), onPortCall: timed(calls), onStateChange: timed(moves), events: timed(events) },
  };
}

/** Returns the CPU time of this process, in milliseconds. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

const pod = (index: number) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `pod-${index}` },
  spec: { containers: [{ name: 'main', image: 'example.org/app:1', env: [{ name: 'A', value: 'not-a-secret-0' }] }] },
});

const directory = await mkdtemp(join(tmpdir(), 'statelet-bench-'));
const clock = new SimulatedClock();
const { redact, ...learning } = createRedaction();
const timedRedact = timed(redact) as typeof redact;
const recorder = isRecorded ? timedRecorder(directory, clock, timedRedact) : undefined;
const node = await startSimulatedNode({
  clock,
  parts: { ...recorder?.listeners, redaction: { ...learning, redact: isRecorded ? timedRedact : redact } },
});
recorder?.start(node.agent);
await clock.advance(SETTLES_MS);

const beforeBurst = { cpu: cpuMs(), own: ownMs };
node.apply(Array.from({ length: PODS }, (_, index) => pod(index)));
await clock.advance(SETTLES_MS);
const burst = { cpuMs: cpuMs() - beforeBurst.cpu, ownMs: ownMs - beforeBurst.own };
const running = node.agent.pods().filter(({ status }) => status?.phase === 'Running').length;
if (running !== PODS) throw new Error(`${running} of ${PODS} pods run`);

const beforeIdle = ownMs;
await clock.advance(IDLE_MS);
const idle = { ownMs: ownMs - beforeIdle, ms: IDLE_MS };
globalThis.gc?.();
const { heapUsed, external } = process.memoryUsage();
await recorder?.close();
await node.stop();
await rm(directory, { recursive: true });
process.stdout.write(JSON.stringify({ burst, idle, memoryBytes: heapUsed + external }));
