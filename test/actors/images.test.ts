import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { containerWith, IMAGE, podWith } from '../fakes/pods.ts';

const REMOTE = 'registry.local/app:1';

const withImage = (image: string, imagePullPolicy: Container['imagePullPolicy'] = 'IfNotPresent') =>
  podWith('web', { containers: [containerWith('main', { image, imagePullPolicy })] });

const pullTimes = (node: SimulatedNode): number[] => {
  const [first = 0, ...rest] = node.calls('pullImage').map(({ at }) => at);
  return rest.map((at) => Math.floor((at - first) / 1_000));
};

const NAMES = ['first', 'second'] as const;
const keyOf = (name: string) => `${name}-uid/main/pull`;

const waitingOf = (node: SimulatedNode) => node.container('web').state?.waiting;

describe('images', () => {
  test('C17: IfNotPresent pulls only images that are missing', async () => {
    const node = await simulatedNode({ runtime: { images: { registry: { [REMOTE]: {} } } } });
    node.apply(withImage(IMAGE));
    await node.advance('1s');
    expect(node.pod('web').phase).toBe('Running');
    expect(node.calls('pullImage')).toEqual([]);
    node.apply(podWith('other', { containers: [containerWith('main', { image: REMOTE })] }));
    await node.advance('1s');
    expect(node.pod('other').phase).toBe('Running');
    expect(node.calls('pullImage')).toHaveLength(1);
  });

  test('C17: Always pulls before each start', async () => {
    const node = await simulatedNode({ runtime: { images: { registry: { [IMAGE]: {} } } } });
    node.apply(withImage(IMAGE, 'Always'));
    await node.advance('2s');
    node.runtime.exitContainer(node.containerId('web'), 1);
    await node.advance('2s');
    expect(node.container('web')).toMatchObject({ restartCount: 1, ready: true });
    expect(node.calls('pullImage')).toHaveLength(2);
  });

  test('C17: Never with a missing image is ErrImageNeverPull, until the image is loaded', async () => {
    const node = await simulatedNode({ runtime: { images: { registry: { [REMOTE]: {} } } } });
    node.apply(withImage(REMOTE, 'Never'));
    await node.advance('30s');
    expect(waitingOf(node)).toEqual({
      reason: 'ErrImageNeverPull',
      message: `Container image "${REMOTE}" is not present with pull policy of Never`,
    });
    expect(node.calls('pullImage')).toEqual([]);
    node.runtime.images.add(REMOTE);
    await node.advance('15s');
    expect(node.pod('web').phase).toBe('Running');
  });

  test('retries a failed pull after 10 s, doubled up to 300 s, until it succeeds', async () => {
    const node = await simulatedNode();
    node.runtime.images.publish(REMOTE, { pullMs: 100, error: { message: 'no route to host' } });
    node.apply(withImage(REMOTE));
    await node.advance('14m');
    expect(pullTimes(node)).toEqual([10, 30, 70, 150, 310, 610]);
    expect(waitingOf(node)).toMatchObject({
      reason: 'ImagePullBackOff',
      message: expect.stringContaining('no route to host'),
    });
    expect(node.pod('web').phase).toBe('Pending');
    node.runtime.images.publish(REMOTE, {});
    await node.advance('5m');
    expect(node.pod('web').phase).toBe('Running');
  });

  test('C16: an invalid image name is InvalidImageName, and is never requested', async () => {
    const node = await simulatedNode();
    node.apply(withImage('registry.local/App:1'));
    await node.advance('30s');
    const name = 'registry.local/App:1';
    expect(waitingOf(node)).toEqual({
      reason: 'InvalidImageName',
      message: `Failed to apply default image tag "${name}": couldn't parse image name "${name}": invalid reference format: repository name (App) must be lowercase`,
    });
    expect(node.calls('pullImage', 'imageStatus')).toEqual([]);
  });

  test('an oversized image name is truncated in messages', async () => {
    const node = await simulatedNode();
    node.apply(withImage('A/'.repeat(400_000)));
    await node.advance('1s');
    const { reason, message = '' } = waitingOf(node) ?? {};
    expect(reason).toBe('InvalidImageName');
    expect(message.length).toBeLessThan(1_000);
  });

  test('checks and pulls carry the annotations of the pod and the sandbox configuration, and a missing tag becomes latest', async () => {
    const node = await simulatedNode({ runtime: { images: { registry: { 'registry.local/app:latest': {} } } } });
    const pod = withImage('registry.local/app');
    node.apply({ ...pod, metadata: { ...pod.metadata, annotations: { 'example.com/key': 'value' } } });
    await node.advance('2s');
    expect(node.pod('web').phase).toBe('Running');
    const image = { image: 'registry.local/app:latest', annotations: { 'example.com/key': 'value' } };
    expect(node.calls('imageStatus')[0]?.request).toMatchObject({ image });
    expect(node.calls('pullImage')[0]?.request).toMatchObject({
      image,
      auth: undefined,
      sandboxConfig: { metadata: { name: 'web', namespace: 'default', uid: 'web-uid' } },
    });
  });

  test('the limiter bounds concurrent pulls, and releases the slot of a removed pod', async () => {
    const images = { registry: { [REMOTE]: { pullMs: 60_000 } } };
    const node = await simulatedNode({ runtime: { images }, config: { pullSlots: 1 } });
    const other = (name: string) => podWith(name, { containers: [containerWith('main', { image: REMOTE })] });
    node.apply(other('first'), other('second'));
    await node.advance('10s');
    expect(node.calls('pullImage')).toHaveLength(1);
    // The pod whose directory was created first gets the slot.
    const [holder, waiter] = node.agent.overview().limiters.pull.held.includes(keyOf('first'))
      ? NAMES
      : ([NAMES[1], NAMES[0]] as const);
    expect(node.agent.overview().limiters.pull).toMatchObject({ held: [keyOf(holder)], queue: [keyOf(waiter)] });
    node.remove(holder);
    await node.advance('5s');
    expect(node.agent.overview().limiters.pull.held).toEqual([keyOf(waiter)]);
    await node.advance('60s');
    expect(node.pod(waiter).phase).toBe('Running');
  });

  test('C17: containers of one pod pull a shared image once, even if there are enough slots', async () => {
    const images = { registry: { [REMOTE]: { pullMs: 5_000 } } };
    const node = await simulatedNode({ runtime: { images }, config: { pullSlots: 8 } });
    const names = Array.from({ length: 20 }, (_, index) => `c${index}`);
    node.apply(podWith('web', { containers: names.map((name) => containerWith(name, { image: REMOTE })) }));
    await node.advance('20s');
    expect(node.pod('web').phase).toBe('Running');
    expect(node.calls('pullImage')).toHaveLength(1);
  });

  test('C17: pods queued for a slot do not pull an image that another pod has pulled meanwhile', async () => {
    const images = { registry: { [REMOTE]: { pullMs: 5_000 } } };
    const node = await simulatedNode({ runtime: { images }, config: { pullSlots: 1 } });
    node.apply(...NAMES.map((name) => podWith(name, { containers: [containerWith('main', { image: REMOTE })] })));
    await node.advance('20s');
    expect(NAMES.map((name) => node.pod(name).phase)).toEqual(['Running', 'Running']);
    expect(node.calls('pullImage')).toHaveLength(1);
  });

  test('shows the elapsed time of a pull while its limit is far away, and the limit when it is near', async () => {
    const images = { registry: { [REMOTE]: { pullMs: 5 * 60_000 } } };
    const answers = async (pullLimitMs: number) => {
      const node = await simulatedNode({ runtime: { images }, config: { pullLimitMs } });
      node.apply(withImage(REMOTE));
      await node.advance('2m');
      return node.agent.explain('web')?.answer;
    };
    const pull = `container main is waiting for the pull of image ${REMOTE}`;
    expect(await answers(3_600_000)).toMatch(new RegExp(`^${pull} \\(for 119s so far\\) until .* \\(in 58m\\)$`));
    expect(await answers(240_000)).toMatch(new RegExp(`^${pull} until .* \\(in 2m|in 1\\d\\ds\\)$`));
  });

  test('starts every pull at once if pulls are not bounded', async () => {
    const images = { registry: { [REMOTE]: { pullMs: 60_000 } } };
    const node = await simulatedNode({ runtime: { images }, config: { pullSlots: Number.POSITIVE_INFINITY } });
    node.apply(...NAMES.map((name) => podWith(name, { containers: [containerWith('main', { image: REMOTE })] })));
    await node.advance('10s');
    expect(node.calls('pullImage')).toHaveLength(2);
    expect(node.agent.explainNode().node.children).toContainEqual(
      expect.objectContaining({ kind: 'limiter', name: 'pull', state: 'open', facts: ['2 held'] }),
    );
  });
});
