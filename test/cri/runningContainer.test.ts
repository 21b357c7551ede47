import { expect, test } from '@jest/globals';
import { systemClock } from '../../base/time/clock.ts';
import { findRunningContainer } from '../../cri/runningContainer.ts';
import { inProcessCri } from '../../cri/simulated/inProcessCri.ts';
import { createSimulatedRuntime } from '../../cri/simulated/runtime.ts';
import { simulatedNode } from '../fakes/node.ts';
import { containerWith, podWith } from '../fakes/pods.ts';

const signal = new AbortController().signal;

test('C41: finds the running container of a pod during its postStart hook and after an agent restart', async () => {
  const hook = { postStart: { exec: { command: ['sleep', '60'] } } };
  const node = await simulatedNode({
    pods: [podWith('web', { containers: [containerWith('main', { lifecycle: hook })] })],
    runtime: { exec: ({ cmd }) => (cmd[0] === 'sleep' ? { afterMs: 60_000 } : undefined) },
  });
  await node.advance('3s');
  expect(node.container('web').state).toHaveProperty('waiting');
  const cri = inProcessCri(node.runtime);
  const find = (name: string) => {
    const id = findRunningContainer(cri, { podUid: 'web-uid', name }, { signal });
    return node.advance('1s').then(() => id);
  };
  const [running] = node.runtime.contents().containers;
  expect(await find('main')).toBe(running?.id);
  expect(await find('other')).toBeUndefined();
  await node.restartAgent();
  expect(node.agent.pods()).toEqual([]);
  expect(node.agent.knownPods()).toMatchObject([{ metadata: { uid: 'web-uid' } }]);
});

test('finds no container of an unknown pod', async () => {
  const cri = inProcessCri(createSimulatedRuntime({ clock: systemClock, latency: 0 }));
  expect(await findRunningContainer(cri, { podUid: 'u', name: 'main' }, { signal })).toBeUndefined();
});
