import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { connectCri } from '../../../cri/client/connectCri.ts';
import { inProcessCri } from '../../../cri/simulated/inProcessCri.ts';
import { createSimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import { serveSimulatedRuntime } from '../../../cri/simulated/serveSimulatedRuntime.ts';
import { playScenario } from '../scenario.ts';
import { expectedOf } from '../scenarioExpected.ts';

const image = 'statelet.local/busybox:1';

test('the scenario passes in this process, on a simulated clock with the latencies of a real runtime', async () => {
  const clock = new SimulatedClock();
  const cri = inProcessCri(createSimulatedRuntime({ clock, images: { present: [image] } }));
  const wait = (ms: number) => new Promise<void>((resolve) => void clock.setTimeout(resolve, ms));
  const signal = new AbortController().signal;
  const seen = await clock.advanceUntilSettled(playScenario({ cri, image, uid: 'u1', signal, wait }));
  expect(seen).toEqual(expectedOf(image));
});

test('the scenario passes over gRPC, on the system clock', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'simulated-'));
  const socket = join(directory, 'runtime.sock');
  const clock = { now: Date.now, setTimeout, clearTimeout: (id: unknown) => clearTimeout(id as NodeJS.Timeout) };
  const runtime = createSimulatedRuntime({ clock, latency: 0, images: { present: [image] } });
  const server = await serveSimulatedRuntime(runtime, socket);
  const cri = connectCri({ runtimeEndpoint: `unix://${socket}`, requestTimeoutMs: 10_000 });
  const wait = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));
  try {
    const signal = new AbortController().signal;
    expect(await playScenario({ cri, image, uid: 'u2', signal, wait })).toEqual(expectedOf(image));
  } finally {
    cri.close();
    await server.close();
    await rm(directory, { recursive: true });
  }
}, 20_000);
