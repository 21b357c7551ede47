import { expect, test } from '@jest/globals';
import { namespaceOptions, withTargetPidNamespace } from '../../../cri/config/namespaces.ts';
import { NamespaceMode } from '../../../cri/generated/runtime.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { aContainer } from '../../kubernetes/fixtures.ts';

const { POD, NODE, CONTAINER, TARGET } = NamespaceMode;
const optionsOf = (over: Partial<PodSpec>) => namespaceOptions({ containers: [aContainer()], ...over });

test.each<[Partial<PodSpec>, { network: NamespaceMode; ipc: NamespaceMode; pid: NamespaceMode }]>([
  [{}, { network: POD, ipc: POD, pid: CONTAINER }],
  [{ hostNetwork: true }, { network: NODE, ipc: POD, pid: CONTAINER }],
  [{ hostIPC: true }, { network: POD, ipc: NODE, pid: CONTAINER }],
  [{ hostPID: true }, { network: POD, ipc: POD, pid: NODE }],
  [{ shareProcessNamespace: true }, { network: POD, ipc: POD, pid: POD }],
])('a pod with %j has the expected namespaces, and no user namespace', (spec, expected) => {
  expect(optionsOf(spec)).toMatchObject(expected);
  expect(optionsOf(spec).usernsOptions).toBeUndefined();
});

test('a user namespace maps a range of host IDs', () => {
  const { usernsOptions } = namespaceOptions({ containers: [aContainer()] }, { hostId: 65_536, length: 1_000 });
  const ids = [{ hostId: 65_536, containerId: 0, length: 1_000 }];
  expect(usernsOptions).toMatchObject({ mode: POD, uids: ids, gids: ids });
});

test("a container with a target joins the target's PID namespace", () => {
  expect(withTargetPidNamespace(optionsOf({}), 'id')).toMatchObject({
    network: POD,
    ipc: POD,
    pid: TARGET,
    targetId: 'id',
  });
});
