import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  type ContainerServiceDependencies,
  containerServices,
} from '../../../../actors/services/containers/containers.ts';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { createLayout } from '../../../../host/pods/layout.ts';
import { simulate } from '../../../cri/simulated/support.ts';
import { aContainer, aPod } from '../../../kubernetes/fixtures.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-create-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const readySandbox = {
  id: 's1',
  attempt: 0,
  state: 'ready' as const,
  createdAt: 0,
  ips: ['10.0.0.2'],
  namespace: 'default',
  podName: 'web',
};

test('an aborted creation does not consume the objects that a later creation has read', async () => {
  const layout = createLayout({ rootDir: directory, podLogsDir: join(directory, 'logs') });
  const pod = aPod({ containers: [aContainer({ securityContext: { runAsUser: 0 } })] });
  const { uid } = pod.metadata;
  await mkdir(layout.terminationLogsDir(uid), { recursive: true });
  await mkdir(dirname(layout.hostsFile(uid)), { recursive: true });
  const [waiting, turn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const next = () => {
    waiting.resolve();
    return turn.promise;
  };
  let takenObjects = 0;
  const take = () => {
    takenObjects += 1;
    return new Map();
  };
  // A creation that is aborted while it waits for its turn uses only these parts.
  const { createContainer } = containerServices({
    cri: simulate().cri,
    clock: Object.assign(new SimulatedClock(), { turns: { acquire: next } }),
    layout,
    node: () => ({ hostIps: [], clusterDomain: '' }),
    variableObjects: { takeObjects: take },
  } as unknown as ContainerServiceDependencies);
  const aborter = new AbortController();
  const sandbox = { ...readySandbox, podUid: uid };
  const input = { pod, container: 'main', sandbox, attempt: 0, imageRef: 'sha256:1', volumes: {} };
  const creation = createContainer(input, { signal: aborter.signal });
  await Promise.race([waiting.promise, creation]);
  aborter.abort(new Error('no longer wanted'));
  turn.resolve();
  await expect(creation).rejects.toThrow('no longer wanted');
  expect(takenObjects).toBe(0);
});
