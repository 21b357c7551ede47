import { expect, test } from '@jest/globals';
import type { Cri } from '../../../cri/client/calls.ts';
import { runtimeFailure } from '../../../cri/client/failure.ts';
import { CallError } from '../../../cri/simulated/faults/callError.ts';
import { openStreamEndpoint } from '../../../node/serve/openStreamEndpoint.ts';
import type { StreamRequest } from '../../../socket/agent.ts';
import { containerWith } from '../../fakes/pods.ts';
import { runningContainers } from '../../fakes/runningContainers.ts';
import { exited, podView, running, seenPod, waiting } from '../../kubernetes/views.ts';

const { pod } = seenPod(
  podView({
    main: {
      web: running({ containerId: 'c-web' }),
      shell: running({ containerId: 'c-shell' }),
      slow: waiting(),
      over: exited(1),
      // The postStart hook of this container is running.
      hooked: waiting(),
    },
    meta: { name: 'web-host', namespace: 'shop', uid: 'u' },
  }),
);
const shown = {
  ...pod,
  spec: {
    ...pod.spec,
    containers: pod.spec.containers.map((each) =>
      each.name === 'shell' ? { ...containerWith('shell'), tty: true } : each,
    ),
  },
};

const request: StreamRequest = {
  uid: 'u',
  container: 'web',
  command: ['ls', '-l'],
  stdin: false,
  stdout: true,
  stderr: true,
  tty: false,
};

/** Returns the calls to the runtime, and the outcome. */
async function place(asked: Partial<StreamRequest>, failure?: Error) {
  const calls: unknown[] = [];
  const answer = (call: string) => async (given: object) => {
    calls.push([call, given]);
    if (failure) throw failure;
    return { url: `http://127.0.0.1:1/${call}/t` };
  };
  const listContainers = runningContainers('u', { web: 'c-web', shell: 'c-shell', hooked: 'c-hooked' });
  const cri: Pick<Cri, 'exec' | 'attach' | 'listContainers'> = {
    exec: answer('exec'),
    attach: answer('attach'),
    listContainers,
  };
  const signal = new AbortController().signal;
  const found = await openStreamEndpoint(
    { agent: { knownPods: () => [shown] }, cri },
    { ...request, ...asked },
    signal,
  );
  return { calls, found };
}

test('a command is requested in the running container', async () => {
  const streams = { stdin: false, stdout: true, stderr: true, tty: false };
  expect(await place({})).toEqual({
    calls: [['exec', { containerId: 'c-web', cmd: ['ls', '-l'], ...streams }]],
    found: { url: 'http://127.0.0.1:1/exec/t', ...streams },
  });
});

test('exec with a terminal has no stderr, and attach has a terminal if its container has one', async () => {
  const { found } = await place({ tty: true });
  expect(found).toMatchObject({ tty: true, stderr: false });
  const { calls } = await place({ container: 'shell', command: undefined });
  const streams = { stdin: false, stdout: true, stderr: false, tty: true };
  expect(calls).toEqual([['attach', { containerId: 'c-shell', ...streams }]]);
  expect((await place({ command: undefined, tty: true })).found).toMatchObject({ tty: false, stderr: true });
});

test('C41: a command can run in a container whose postStart hook is running, because the runtime reports it as running', async () => {
  const { calls } = await place({ container: 'hooked' });
  expect(calls).toMatchObject([['exec', { containerId: 'c-hooked' }]]);
});

test.each<[string, Partial<StreamRequest>, string, string]>([
  ['no stream', { stdout: false, stderr: false }, 'BadRequest', 'you must specify at least 1 of stdin, stdout, stderr'],
  ['a pod that is not there', { uid: 'x' }, 'NotFound', 'pod does not exist'],
  ['a container that is not there', { container: 'x' }, 'ContainerNotRunning', 'container not found ("x")'],
  [
    'a container that waits',
    { container: 'slow' },
    'ContainerNotRunning',
    'container not found ("slow"): its state is ContainerCreating',
  ],
  [
    'a container that has ended',
    { container: 'over', command: undefined },
    'ContainerNotRunning',
    'container over not found in pod web-host_shop: its state is Error',
  ],
])('a stream request for %s is rejected', async (_, asked, reason, message) => {
  await expect(place(asked)).rejects.toMatchObject({ reason, message });
});

test('a rejection by the runtime is returned in the wording of the runtime', async () => {
  const failure = runtimeFailure(
    'Exec',
    new CallError('NOT_FOUND', 'failed to find container "c-web" in store: not found'),
  );
  await expect(place({}, failure)).rejects.toMatchObject({
    reason: 'NotFound',
    message: 'failed to find container "c-web" in store: not found',
  });
});
