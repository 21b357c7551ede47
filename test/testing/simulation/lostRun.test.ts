import { expect, test } from '@jest/globals';
import { simulateNode } from '../../../testing/simulation/simulateNode.ts';
import { container, manifest } from '../../../testing/simulation/stories/manifests.ts';

test('an explanation counts a run that the runtime loses while no agent runs, as the status does', async () => {
  const node = await simulateNode({
    seed: 1,
    config: { crashLoop: { baseMs: 60_000, maxMs: 60_000 }, garbage: { perContainer: 5, total: 100 } },
  });
  const pod = manifest('crashing', { containers: [container('main', { command: ['sh', '-c', 'exit 1'] })] });
  node.apply({ ...pod, metadata: { ...pod.metadata, uid: 'crashing' } });
  await node.advance(150_000);
  const restartCount = () => node.pods()[0]?.status?.containerStatuses?.[0]?.restartCount;
  const explainedRestarts = () => /\d+ restarts?/.exec(JSON.stringify(node.explain('crashing')))?.[0];
  expect([restartCount(), explainedRestarts()]).toEqual([3, '3 restarts']);
  node.kill();
  const [newest] = node.host.containers().toSorted((first, second) => second.attempt - first.attempt);
  const { signal } = new AbortController();
  const removal = node.host.runtime.call('removeContainer', { containerId: newest?.id ?? '' }, signal);
  await node.advance(1_000);
  await removal;
  await node.startAgent();
  const seen = new Set<string>();
  for (let step = 0; step < 100; step += 1) {
    await node.advance(10);
    // The new agent publishes no status before it knows the containers.
    if (restartCount() !== undefined)
      seen.add(`${restartCount()} in the status, ${explainedRestarts()} in the explanation`);
  }
  expect([...seen]).toEqual(['3 in the status, 3 restarts in the explanation']);
});
