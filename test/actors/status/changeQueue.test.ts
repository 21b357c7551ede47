import { describe, expect, test } from '@jest/globals';
import type { PodChange } from '../../../actors/status/statusBoard.ts';
import type { NodeStore } from '../../../actors/store/durableFacts.ts';
import { type SimulatedNode, simulatedNode } from '../../fakes/node.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';

const probed = (name: string) => {
  const readinessProbe = { exec: { command: ['ready'] }, periodSeconds: 1 };
  return podWith(name, { containers: [containerWith('main', { readinessProbe })] });
};
const oneShot = (name: string) =>
  podWith(name, {
    restartPolicy: 'Never',
    containers: [containerWith('main', { command: ['sh', '-c', 'sleep 1; exit 3'] })],
  });

type Write = NodeStore['write'];

/** A disk whose writes of some facts are what the test makes of them. */
const disk =
  (isMeant: (...write: Parameters<Write>) => boolean, answer: (write: () => Promise<void>) => Promise<void>) =>
  (real: NodeStore): NodeStore => ({
    ...real,
    write: (...given) => (isMeant(...given) ? answer(() => real.write(...given)) : real.write(...given)),
  });

const isReadiness = (...[kind, , value]: Parameters<Write>) =>
  kind === 'probes' && JSON.stringify(value).includes('"ready":true');
const isEnd = (...[kind]: Parameters<Write>) => kind === 'statuses';

const readyOf = (node: SimulatedNode, name: string) =>
  node.pod(name).conditions?.find(({ type }) => type === 'Ready')?.status;

/** What was told of a pod, in its order. */
function toldOf(node: SimulatedNode): string[] {
  const told: string[] = [];
  node.agent.subscribe(({ pod, removed }: PodChange) => {
    const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    told.push(`${pod.metadata.name}: ${removed ? 'gone' : `${pod.status?.phase}, ready ${ready}`}`);
  });
  return told;
}

describe('a status that rests on a fact', () => {
  test('C29: Ready is told once it is durable what the probe has come to, and not before', async () => {
    const { promise, resolve: end } = Promise.withResolvers<void>();
    const node = await simulatedNode({
      pods: [probed('web')],
      store: disk(isReadiness, (write) => promise.then(write)),
    });
    const told = toldOf(node);
    await node.advance('4s');
    expect(node.containerView('web').ready).toBe(true);
    expect(readyOf(node, 'web')).toBe('False');
    expect(told).not.toContain('web: Running, ready True');
    expect(node.view('web').waitingFor).toBe('its status to be saved');
    end();
    await node.advance('0ms');
    expect(readyOf(node, 'web')).toBe('True');
    expect(told.at(-1)).toBe('web: Running, ready True');
    expect(node.view('web').waitingFor).toBeUndefined();
  });

  test('C2: an end is told once it is durable, and not before', async () => {
    const { promise, resolve: end } = Promise.withResolvers<void>();
    const node = await simulatedNode({ pods: [oneShot('job')], store: disk(isEnd, (write) => promise.then(write)) });
    await node.advance('4s');
    expect(node.view('job').hasEnded).toBe(true);
    expect(node.pod('job').phase).toBe('Running');
    end();
    await node.advance('0ms');
    expect(node.pod('job').phase).toBe('Failed');
  });

  test('a write that fails does not hold it back', async () => {
    const store = disk(
      (...write) => isReadiness(...write) || isEnd(...write),
      () => Promise.reject(new Error('no space left on device')),
    );
    const node = await simulatedNode({ pods: [probed('web'), oneShot('job')], store });
    await node.advance('4s');
    expect([readyOf(node, 'web'), node.pod('job').phase]).toEqual(['True', 'Failed']);
    expect(node.errors).toContain('store: Error: no space left on device');
  });

  test('a disk that never answers holds it back for five seconds', async () => {
    const node = await simulatedNode({ pods: [probed('web')], store: disk(isReadiness, () => new Promise(() => {})) });
    await node.advance('4s');
    expect(readyOf(node, 'web')).toBe('False');
    await node.advance('5s');
    expect(readyOf(node, 'web')).toBe('True');
  });

  test('no other pod waits for it, and of its own pod all is told in order', async () => {
    const { promise, resolve: end } = Promise.withResolvers<void>();
    const isMeant = (...write: Parameters<Write>) => isReadiness(...write) && write[1] === 'slow-uid';
    const node = await simulatedNode({
      pods: [probed('slow'), probed('web')],
      store: disk(isMeant, (write) => promise.then(write)),
    });
    const told = toldOf(node);
    await node.advance('3s');
    expect([readyOf(node, 'slow'), readyOf(node, 'web')]).toEqual(['False', 'True']);
    node.remove('slow');
    await node.advance('500ms');
    expect(told.at(-1)).toBe('web: Running, ready True');
    end();
    await node.advance('40s');
    const ofSlow = [...new Set(told.filter((line) => line.startsWith('slow')))];
    expect(ofSlow).toEqual([
      'slow: Pending, ready False',
      'slow: Running, ready False',
      'slow: Running, ready True',
      'slow: Failed, ready False',
      'slow: gone',
    ]);
    expect(node.has('slow')).toBe(false);
  });
});

test('an update that changes nothing that is kept writes nothing', async () => {
  const kinds: string[] = [];
  const counted = (real: NodeStore): NodeStore => ({
    ...real,
    write: (...given) => {
      kinds.push(given[0]);
      return real.write(...given);
    },
  });
  const pod = probed('web');
  const node = await simulatedNode({ pods: [pod], store: counted });
  await node.advance('4s');
  expect(kinds).toContain('allocations');
  kinds.length = 0;
  const metadata = { ...pod.metadata, resourceVersion: '7', annotations: { note: 'x' } };
  node.apply({ ...pod, metadata, status: { conditions: [{ type: 'example.com/in-service', status: 'True' }] } });
  await node.advance('1s');
  const shown = node.agent.pods().find(({ metadata: { name } }) => name === 'web');
  expect(shown?.metadata.annotations).toEqual({ note: 'x' });
  expect(node.pod('web').conditions).toContainEqual({ type: 'example.com/in-service', status: 'True' });
  expect(kinds).toEqual([]);
});
