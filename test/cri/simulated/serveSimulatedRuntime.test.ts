import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Cri } from '../../../cri/client/calls.ts';
import { connectCri } from '../../../cri/client/connectCri.ts';
import { ListMetricDescriptorsRequest, RuntimeServiceService } from '../../../cri/generated/runtime.ts';
import { serveSimulatedRuntime } from '../../../cri/simulated/serveSimulatedRuntime.ts';
import { Actions } from '../scenarioActions.ts';
import { follow, IMAGE, noAbort, runOne, type Simulation, simulate } from './support.ts';

let directory: string;
let socket: string;
let server: { close: () => Promise<void> };
let simulation: Simulation;
let cri: Cri;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'simulated-'));
  socket = join(directory, 'runtime.sock');
  await writeFile(socket, 'left behind');
  simulation = simulate();
  server = await serveSimulatedRuntime(simulation.runtime, socket);
  cri = connectCri({ runtimeEndpoint: `unix://${socket}`, requestTimeoutMs: 5000 });
});

afterEach(async () => {
  cri.close();
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

const overGrpc = () => new Actions({ cri, image: IMAGE, uid: 'u1', signal: noAbort, wait: simulation.play.wait });

test('exits arrive over the event stream', async () => {
  const { containerEvents, opened } = follow(cri);
  await opened;
  const { container } = await runOne({ ...simulation, play: overGrpc() });
  simulation.runtime.exitContainer(container, 1);
  await until(() => containerEvents.length > 0);
  expect(containerEvents).toMatchObject([{ containerId: container }]);
});

test('a runtime that goes down breaks the stream and fails calls, which succeed again after its return', async () => {
  const { opened, ended } = follow(cri);
  await opened;
  const failed = expect(ended).rejects.toMatchObject({ reason: 'RuntimeUnavailable' });
  simulation.runtime.down();
  await failed;
  await expect(cri.status({ verbose: false }, { signal: noAbort })).rejects.toMatchObject({
    reason: 'RuntimeUnavailable',
  });
  simulation.runtime.restart();
  await expect(cri.status({ verbose: false }, { signal: noAbort })).resolves.toBeDefined();
});

test('an aborted call over gRPC has no effect', async () => {
  simulation.runtime.faults.add({ call: 'stopContainer', delayMs: 1000 });
  const { container } = await runOne({ ...simulation, play: overGrpc() });
  const caller = new AbortController();
  const call = cri.stopContainer({ containerId: container, timeout: 0n }, { signal: caller.signal });
  await until(() => simulation.runtime.calls.some(({ call }) => call === 'stopContainer'));
  caller.abort();
  await expect(call).rejects.toMatchObject({ reason: 'Cancelled' });
  await until(() => simulation.clock.pending === 0);
  expect(await overGrpc().containerState(container)).toMatch(/^CONTAINER_RUNNING/);
});

test('a call that is not simulated fails with UNIMPLEMENTED', async () => {
  const client = new Client(`unix://${socket}`, credentials.createInsecure());
  const { path, requestSerialize, responseDeserialize } = RuntimeServiceService.listMetricDescriptors;
  const request = ListMetricDescriptorsRequest.create();
  const error = await new Promise<ServiceError | null>((resolve) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, resolve);
  });
  client.close();
  expect(error?.code).toBe(status.UNIMPLEMENTED);
});

test('closing the server removes the socket', async () => {
  await server.close();
  await expect(stat(socket)).rejects.toMatchObject({ code: 'ENOENT' });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
