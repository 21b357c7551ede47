import { expect, test } from '@jest/globals';
import { formatExplanation } from '../../show/explain/formatExplanation.ts';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { containerWith, podWith } from '../fakes/pods.ts';

const HOUR = 3_600_000;
const hanging = { pullMs: 100 * HOUR };

const pulling = (name: string, image: string) =>
  podWith(name, { containers: [containerWith('main', { image, imagePullPolicy: 'IfNotPresent' })] });

const waitingOf = (node: SimulatedNode, name: string) => node.container(name).state?.waiting;
const answerOf = (node: SimulatedNode, name: string) => node.agent.explain(name)?.answer;

/** Starts a node that pulls one image at a time, each within an hour. */
const serialNode = (registry: Record<string, { pullMs?: number }>, config: { slowPullMs?: number } = {}) =>
  simulatedNode({ runtime: { images: { registry } }, config: { pullSlots: 1, pullLimitMs: HOUR, ...config } });

test('a hanging pull is aborted at its limit, which explain shows with the image, and backs off', async () => {
  const node = await serialNode({ 'slow.example/app:1': hanging });
  node.apply(pulling('web', 'slow.example/app:1'));
  await node.advance('1m');
  const main = node.containerView('web');
  expect(main).toMatchObject({ state: 'pending.gettingImage.pulling', until: main.since + HOUR });
  expect(answerOf(node, 'web')).toMatch(
    /waiting for the pull of image slow\.example\/app:1 \(for 59s so far\) until .* \(in 59m\)/,
  );
  await node.advance('59m');
  await node.advance('5s');
  expect(waitingOf(node, 'web')).toEqual({
    reason: 'ImagePullBackOff',
    message: 'Back-off pulling image "slow.example/app:1": ErrImagePull: the pull timed out after 1h0m0s',
  });
  expect(node.agent.overview().limiters.pull.held).toEqual([]);
  node.runtime.images.publish('slow.example/app:1', {});
  await node.advance('1m');
  expect(node.pod('web').phase).toBe('Running');
});

test('the pull of an image volume has the same limit', async () => {
  const node = await serialNode({ 'slow.example/data:1': hanging });
  const volumes = [{ name: 'data', image: { reference: 'slow.example/data:1', pullPolicy: 'IfNotPresent' as const } }];
  node.apply(podWith('web', { volumes, containers: [containerWith('main')] }));
  await node.advance('1m');
  const [data] = node.view('web').volumes;
  expect(data).toMatchObject({
    state: 'gettingImage.pulling',
    waitingFor: 'the pull of image slow.example/data:1',
    until: (data?.since ?? 0) + HOUR,
  });
  await node.advance('59m');
  await node.advance('5s');
  expect(node.view('web').volumes).toMatchObject([
    { state: 'gettingImage.backingOff', waitingReason: { reason: 'ImagePullBackOff' } },
  ]);
});

test('a queued pull shows which pod and image occupy the slot', async () => {
  const node = await serialNode({ 'slow.example/app:1': hanging, 'other.example/app:1': {} });
  node.apply(pulling('slow', 'slow.example/app:1'));
  await node.advance('1s');
  node.apply(pulling('web', 'other.example/app:1'));
  await node.advance('1m');
  const place = 'in the pull queue: place 1 of 1, 1 at a time, behind the pull of slow.example/app:1 for default/slow';
  expect(answerOf(node, 'web')).toContain(place);
  const explanation = node.agent.explain('web');
  expect((explanation ? formatExplanation(explanation) : '').replace(/\s+/g, ' ')).toContain(place);
});

test('a queued pull shows which pull occupies the slot, even after an agent restart', async () => {
  const node = await serialNode({ 'slow.example/app:1': hanging, 'other.example/app:1': hanging });
  node.apply(pulling('slow', 'slow.example/app:1'));
  await node.advance('1s');
  node.apply(pulling('web', 'other.example/app:1'));
  await node.advance('1m');
  await node.restartAgent();
  await node.advance('1m');
  const waits = ['slow', 'web'].map((name) => answerOf(node, name)).filter((answer) => answer?.includes('queue'));
  // Either pull may be the first after a restart.
  expect(waits).toEqual([
    expect.stringMatching(
      /in the pull queue: place 1 of 1, 1 at a time, behind the pull of (?:slow|other)\.example\/app:1 for default\/(?:slow|web)/,
    ),
  ]);
});

test('a hanging registry delays pulls from other registries until its pull counts as slow, and its own pulls until their limit', async () => {
  const registry = { 'slow.example/app:1': hanging, 'slow.example/other:1': {}, 'other.example/app:1': {} };
  const node = await serialNode(registry, { slowPullMs: 120_000 });
  node.apply(pulling('slow', 'slow.example/app:1'));
  await node.advance('1s');
  node.apply(pulling('same', 'slow.example/other:1'));
  await node.advance('1s');
  node.apply(pulling('web', 'other.example/app:1'));
  await node.advance('1m');
  const behind = 'behind the pull of slow.example/app:1 for default/slow';
  expect(answerOf(node, 'web')).toContain(`in the pull queue: place 2 of 2, 1 at a time, ${behind}`);

  await node.advance('1m');
  expect(node.pod('web').phase).toBe('Running');
  expect(answerOf(node, 'same')).toContain(`in the pull queue: place 1 of 1, 1 at a time, ${behind}`);
  expect(node.agent.explainNode().node.children).toContainEqual(
    expect.objectContaining({
      kind: 'limiter',
      name: 'pull',
      facts: ['0 of 1 held', 'plus 1 slow'],
      lists: { 'held by': ['default/slow (main)'], queued: ['default/same (main)'] },
    }),
  );

  await node.advance('58m');
  expect(waitingOf(node, 'slow')?.reason).toMatch(/^(ErrImagePull|ImagePullBackOff)$/);
  await node.advance('5s');
  expect(node.pod('same').phase).toBe('Running');
});

test('the limiter shows until when the pull in the slot can delay others, and updates that for the next pull', async () => {
  const registry = { 'one.example/app:1': { pullMs: 60_000 }, 'two.example/app:1': hanging };
  const node = await serialNode(registry, { slowPullMs: 120_000 });
  const limiter = () => node.agent.explainNode().node.children.find(({ name }) => name === 'pull');
  const slowAt = (name: string) => node.containerView(name).since + 120_000;
  node.apply(pulling('one', 'one.example/app:1'));
  await node.advance('1s');
  node.apply(pulling('two', 'two.example/app:1'));
  await node.advance('30s');
  expect(limiter()).toMatchObject({
    state: 'fullForNow',
    until: slowAt('one'),
    lists: { 'held by': ['default/one (main)'] },
  });
  await node.advance('60s');
  expect(limiter()).toMatchObject({
    state: 'fullForNow',
    // The pod holds the slot while it checks for the image once more, which takes a millisecond.
    until: slowAt('two') - 1,
    lists: { 'held by': ['default/two (main)'] },
  });
});

test('an image volume pull from a hanging registry does not delay other registries either', async () => {
  const registry = { 'slow.example/data:1': hanging, 'other.example/app:1': {} };
  const node = await serialNode(registry, { slowPullMs: 120_000 });
  const volumes = [{ name: 'data', image: { reference: 'slow.example/data:1', pullPolicy: 'IfNotPresent' as const } }];
  node.apply(podWith('slow', { volumes, containers: [containerWith('main')] }));
  await node.advance('1s');
  node.apply(pulling('web', 'other.example/app:1'));
  await node.advance('3m');
  expect(node.pod('web').phase).toBe('Running');
});

test('without a slow-pull limit each hanging registry delays other pulls once for the pull limit, and not repeatedly', async () => {
  const registry = { 'one.example/app:1': hanging, 'two.example/app:1': hanging, 'other.example/app:1': {} };
  const node = await serialNode(registry);
  for (const name of ['one', 'two', 'other']) {
    node.apply(pulling(name, `${name}.example/app:1`));
    await node.advance('1s');
  }
  await node.advance('90m');
  // The back-off of the first pod is long over, but it is queued behind the pods that have not had an attempt yet.
  expect(answerOf(node, 'one')).toContain('in the pull queue: place 2 of 2');
  await node.advance('31m');
  expect(node.pod('other').phase).toBe('Running');
  expect(node.containerView('one').state).toBe('pending.gettingImage.pulling');
});

test('without a limit a pull may take any time', async () => {
  const node = await simulatedNode({
    runtime: { images: { registry: { 'slow.example/app:1': { pullMs: 3 * HOUR } } } },
  });
  node.apply(pulling('web', 'slow.example/app:1'));
  await node.advance('2h');
  expect(node.containerView('web').state).toBe('pending.gettingImage.pulling');
  expect(node.containerView('web')).not.toHaveProperty('until');
  await node.advance('61m');
  expect(node.pod('web').phase).toBe('Running');
});
