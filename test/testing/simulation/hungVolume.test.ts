/** Reports about a pod while one of its volumes hangs when a new agent adopts it. */
import { expect, test } from '@jest/globals';
import { formatExplanation } from '../../../show/explain/formatExplanation.ts';
import { PATHS } from '../../../testing/simulation/host/host.ts';
import { invariants } from '../../../testing/simulation/invariants/invariants.ts';
import { simulateNode } from '../../../testing/simulation/simulateNode.ts';
import { container, manifest } from '../../../testing/simulation/stories/manifests.ts';

const SECOND = 1_000;
const web = manifest('web', {
  volumes: [{ name: 'data', emptyDir: { medium: 'Memory' } }],
  containers: [
    container('main', {
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
      readinessProbe: { exec: { command: ['true'] }, periodSeconds: 1 },
    }),
  ],
});

test('a pod whose volume hangs after a restart of the agent is explained, and its probe results are retained', async () => {
  let hangs = false;
  const simulation = await simulateNode({
    seed: 1,
    invariants,
    faults: ({ target }) => (hangs && target === 'mounts' ? { kind: 'hang' } : undefined),
  });
  const explained = () => {
    const explanation = simulation.explain('web');
    return explanation && formatExplanation(explanation);
  };
  const probes = () => simulation.host.podRemains().filter((path) => path.startsWith(`${PATHS.root}/statelet/probes`));
  const written = () => probes().map((path) => simulation.host.files.readFileSync(path));
  simulation.apply(web);
  await simulation.advance(20 * SECOND);
  const before = written();
  expect(before).toEqual([expect.stringContaining('"ready":true')]);
  simulation.kill();
  hangs = true;
  await simulation.startAgent();
  await simulation.advance(10 * SECOND);
  expect(explained()).toContain('volume data is not mounted yet: waiting for its mount to complete');
  await simulation.advance(180 * SECOND);
  expect(explained()).toContain('volume data is not mounted: FailedMount: timed out');
  expect(simulation.pods().map(({ metadata: { name } }) => name)).toEqual(['web-node-1']);
  expect(written()).toEqual(before);
  simulation.endFaults();
  await simulation.advance(180 * SECOND);
  expect(simulation.pods()).toMatchObject([
    { status: { phase: 'Running', containerStatuses: [{ ready: true, restartCount: 0 }] } },
  ]);
  simulation.kill();
});

test('a pod whose volume hangs is explained even if it had to wait for the runtime before', async () => {
  let hangs = false;
  const simulation = await simulateNode({
    seed: 1,
    invariants,
    faults: ({ target }) => (hangs && target === 'mounts' ? { kind: 'hang' } : undefined),
  });
  const waitsFor = () => simulation.explain('web')?.pod.waitingFor;
  simulation.apply(web);
  await simulation.advance(20 * SECOND);
  simulation.kill();
  hangs = true;
  simulation.perform({ kind: 'stall', forMs: 20 * SECOND });
  await simulation.startAgent();
  await simulation.advance(19 * SECOND);
  expect(waitsFor()).toContain('the container runtime, which is not ready');
  await simulation.advance(10 * SECOND);
  expect(waitsFor()).toBe('its volumes to be mounted');
  simulation.kill();
});
