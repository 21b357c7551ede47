/** Security settings of pods that only some runtimes support, tested on the messages that a runtime receives. */
import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import type { CreateContainerRequest, RunPodSandboxRequest } from '../../cri/generated/runtime.ts';
import { simulatedNode } from '../fakes/node.ts';
import { containerWith, podWith } from '../fakes/pods.ts';

const own = { hostUsers: false, volumes: [{ name: 'data', emptyDir: {} }] };
const containers = [
  containerWith('main', {
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
    securityContext: { procMount: 'Unmasked' },
  }),
];

test('each pod with hostUsers: false gets its own user namespace, the same across a restart, with files mapped to its users', async () => {
  const node = await simulatedNode({
    pods: [podWith('a', { ...own, containers }), podWith('b', own), podWith('plain')],
    runtime: { features: { userNamespaces: true } },
  });
  await node.advance('3s');
  // Each call is logged with the request of its kind.
  const sandboxes = node.calls('runPodSandbox').map(({ request }) => request as RunPodSandboxRequest);
  const users = (name: string) =>
    sandboxes.find(({ config }) => config?.metadata?.name === name)?.config?.linux?.securityContext?.namespaceOptions
      ?.usernsOptions;
  const from = (hostId: number) => [{ hostId, containerId: 0, length: 65_536 }];
  const firsts = [users('a'), users('b')].map((each) => each?.uids[0]?.hostId).sort();
  expect(firsts).toEqual([131_072, 65_536]);
  expect(users('plain')).toBeUndefined();
  const hostId = users('a')?.uids[0]?.hostId ?? 0;
  expect(users('a')).toEqual({ mode: 0, uids: from(hostId), gids: from(hostId) });

  const { config } = node
    .calls('createContainer')
    .map(({ request }) => request as CreateContainerRequest)
    .find(({ sandboxConfig }) => sandboxConfig?.metadata?.name === 'a') as CreateContainerRequest;
  expect(config?.linux?.securityContext).toMatchObject({
    namespaceOptions: { usernsOptions: users('a') },
    maskedPaths: [],
    readonlyPaths: [],
  });
  const data = config?.mounts.find(({ containerPath }) => containerPath === '/data');
  expect(data).toMatchObject({ uidMappings: from(hostId), gidMappings: from(hostId) });

  const note = node.path('root', 'pods', 'a-uid', 'userns');
  expect(JSON.parse(await readFile(note, 'utf8'))).toEqual({ uidMappings: from(hostId), gidMappings: from(hostId) });
  node.remove('a', 'b', 'plain');
  await node.advance('5s');
  expect(await node.leftovers()).toEqual([]);
});

test('a pod waits while all ID ranges are in use, including those of pods that are being removed', async () => {
  const node = await simulatedNode({
    pods: [podWith('a', { hostUsers: false, terminationGracePeriodSeconds: 10 })],
    runtime: { features: { userNamespaces: true } },
    config: { userNamespaces: { pods: 1, idsPerPod: 65_536 } },
  });
  await node.advance('3s');
  node.apply(podWith('b', { hostUsers: false }));
  await node.advance('3s');
  expect(node.pod('b').phase).toBe('Pending');
  expect(node.view('b').lastFailure?.message).toContain('could not find an empty slot to allocate a user namespace');
  node.remove('a');
  await node.advance('2m');
  expect(node.has('a')).toBe(false);
  expect(node.pod('b').phase).toBe('Running');
});

test('a pod with hostUsers: false waits with the reason if the runtime has no user namespaces', async () => {
  const node = await simulatedNode({ pods: [podWith('a', own)] });
  await node.advance('3s');
  expect(node.calls('runPodSandbox')).toEqual([]);
  expect(node.pod('a').phase).toBe('Pending');
  expect(node.view('a').lastFailure).toMatchObject({
    reason: 'FailedCreatePodSandBox',
    message:
      "Failed to create pod sandbox: can't set `spec.hostUsers: false`, runtime does not support user namespaces",
  });
});

test('supplementalGroupsPolicy Strict is passed to a runtime that supports it, and rejected otherwise', async () => {
  const strict = podWith('a', { securityContext: { supplementalGroupsPolicy: 'Strict', supplementalGroups: [5] } });
  const able = await simulatedNode({ pods: [strict], runtime: { features: { supplementalGroupsPolicy: true } } });
  await able.advance('3s');
  const [call] = able.calls('createContainer').map(({ request }) => request as CreateContainerRequest);
  expect(call?.config?.linux?.securityContext).toMatchObject({ supplementalGroupsPolicy: 1, supplementalGroups: [5n] });
  const unable = await simulatedNode({ pods: [strict] });
  await unable.advance('3s');
  expect(unable.pod('a')).toMatchObject({ phase: 'Failed', reason: 'SupplementalGroupsPolicyNotSupported' });
});
