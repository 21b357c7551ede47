import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { status } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { systemClock } from '../../base/time/clock.ts';
import type { Cri } from '../../cri/client/calls.ts';
import { runtimeFailure } from '../../cri/client/failure.ts';
import { inProcessCri } from '../../cri/simulated/inProcessCri.ts';
import { createSimulatedRuntime } from '../../cri/simulated/runtime.ts';
import { hostFiles } from '../../host/files/fileSystem.ts';
import { checkpointRoute } from '../../kubelet-api/checkpoint.ts';
import { runningContainers } from '../fakes/runningContainers.ts';
import { podView, running, seenPod, waiting } from '../kubernetes/views.ts';
import { serve } from './logs/servedLogs.ts';

type Asked = Parameters<Cri['checkpointContainer']>;

let root: string;
let asked: Asked[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'checkpoint-'));
  asked = [];
});
afterEach(() => rmSync(root, { recursive: true }));

const { pod } = seenPod(
  podView({
    init: { first: waiting() },
    // `hooked` counts as waiting, because its postStart hook is still running.
    main: { main: running({ containerId: 'c0ffee' }), slow: waiting(), hooked: waiting() },
    meta: { name: 'web', namespace: 'shop', uid: 'u1' },
  }),
);

async function post(path: string, checkpointContainer?: Cri['checkpointContainer']) {
  const cri: Pick<Cri, 'checkpointContainer' | 'listContainers'> = {
    listContainers: runningContainers('u1', { main: 'c0ffee', hooked: 'c1' }),
    checkpointContainer:
      checkpointContainer ??
      (async (...args) => {
        asked.push(args);
        return {};
      }),
  };
  const parts = { pods: () => [pod], cri, now: () => Date.parse('2026-05-04T12:00:00.250Z'), files: hostFiles };
  const route = checkpointRoute({ ...parts, directory: join(root, 'checkpoints'), limitMs: 120_000 });
  const { port } = await serve(route);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const made = request({ host: '127.0.0.1', port, path: `/checkpoint/${path}`, method: 'POST', agent: false });
  made.on('response', async (response) => resolve(`${response.statusCode} ${await text(response)}`));
  made.on('error', reject).end();
  return promise;
}

test('C39: the runtime writes a checkpoint to a separate file, in a directory that is private to the agent', async () => {
  const file = join(root, 'checkpoints', 'checkpoint-web_shop-main-2026-05-04T12:00:00Z.tar');
  expect(await post('shop/web/main')).toBe(`200 {"items":["${file}"]}`);
  expect(asked[0]?.[0]).toEqual({ containerId: 'c0ffee', location: file, timeout: 120n });
  expect(statSync(join(root, 'checkpoints')).mode % 0o1000).toBe(0o700);
});

test('C39: a container in its postStart hook is checkpointed as well, because the runtime has it running', async () => {
  expect(await post('shop/web/hooked')).toMatch(/^200 /);
  expect(asked[0]?.[0]).toMatchObject({ containerId: 'c1' });
});

test.each([
  ['timeout=30', 120n, 120_000],
  ['timeout=1&timeout=300', 300n, 300_000],
  ['timeout=+9223372036854775807', 9_223_372_036_854_775_807n, 2 ** 31 - 1],
])('a client can extend the checkpoint timeout, but not shorten it: %s', async (query, timeout, timeoutMs) => {
  expect(await post(`shop/web/main?${query.replace('+', '%2B')}`)).toMatch(/^200 /);
  expect(asked[0]).toMatchObject([{ timeout }, { timeoutMs }]);
});

const failed = '500 checkpointing of shop/web';

test.each([
  ['shop/none/main', '404 pod does not exist'],
  ['shop/web/none', '404 container none does not exist'],
  ['shop/web/main?timeout=soon', '404 cannot parse value of timeout parameter'],
  ['shop/web/main?timeout=', '404 cannot parse value of timeout parameter'],
  ['shop/web/main?timeout=9223372036854775808', '404 cannot parse value of timeout parameter'],
  ['shop/web/main?timeout=-1', `${failed}/main failed (CheckpointContainer requires the timeout value to be > 0)`],
  ['shop/web/slow', `${failed}/slow failed (container slow not found)`],
  ['shop/web/first', `${failed}/first failed (container first not found)`],
])('a checkpoint request for %s is answered with %s', async (path, answer) => {
  expect(await post(path)).toBe(answer);
  expect(asked).toEqual([]);
});

test('C39: an error of the runtime is passed on', async () => {
  const details = 'unknown method CheckpointContainer for service runtime.v1.RuntimeService';
  const error = Object.assign(new Error(details), { code: status.UNIMPLEMENTED, details, metadata: Object(null) });
  const answer = await post('shop/web/main', async () => {
    throw runtimeFailure('CheckpointContainer', error);
  });
  expect(answer).toBe(`${failed}/main failed (rpc error: code = Unimplemented desc = ${details})`);
});

test('the simulated runtime checks for its containers', async () => {
  const { checkpointContainer } = inProcessCri(createSimulatedRuntime({ clock: systemClock, latency: 0 }));
  expect(await post('shop/web/main', checkpointContainer)).toContain('code = NotFound desc = ');
});
