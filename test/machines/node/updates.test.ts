/** Tests what a new version of a pod from its source changes. */
import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { PodCondition } from '../../../kubernetes/api/schema/status.ts';
import { rfc3339 } from '../../../kubernetes/api/values/rfc3339.ts';
import { aContainer } from '../../kubernetes/fixtures.ts';
import { namedPod, nodeStory } from '../support/nodeStory.ts';

const RUNS = 'active.running.steady';
const shows = { items: [{ path: 'annotations', fieldRef: { fieldPath: 'metadata.annotations' } }] };
const variable = { name: 'BUILD', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['build']" } } };
const inService: PodCondition = { type: 'example.com/in-service', status: 'True' };

const withMetadata = (pod: Pod, metadata: Partial<Pod['metadata']>): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, ...metadata },
});
const deleted = (pod: Pod, graceSeconds: number): Pod =>
  withMetadata(pod, { deletionTimestamp: rfc3339(1_000_000), deletionGracePeriodSeconds: graceSeconds });

/** Creates a node that runs or is starting a pod. `update` reports a new version of the pod. */
function nodeWith(pod: Pod, options: Parameters<typeof nodeStory>[0] = {}) {
  const story = nodeStory(options);
  story.list(...(options.before ? [story.world.observed(pod)] : []));
  story.want([pod]);
  const { uid } = pod.metadata;
  return {
    ...story,
    update: (now: Pod) =>
      story.tell({ type: 'config.podChanged', source: 'file', change: 'updated', pod: now, at: story.ports.now }),
    snapshot: () => story.podRef(uid)?.getSnapshot(),
    child: (id: string) => story.podRef(uid)?.getSnapshot().children[id]?.getSnapshot(),
    state: () => story.pod(uid),
  };
}

describe('an update that only echoes the status', () => {
  const pod = namedPod('web', { volumes: [{ name: 'info', downwardAPI: shows }] });

  test('reaches no actor: a new status of ours, a new resourceVersion, managed fields', () => {
    const node = nodeWith(pod);
    const [before, calls] = [node.snapshot(), node.ports.calls.length];
    const echo = withMetadata(pod, { resourceVersion: '7', managedFields: [{ manager: 'statelet' }] });
    node.update({ ...echo, status: { phase: 'Running', podIP: '10.0.0.1' } });
    expect(node.snapshot()).toBe(before);
    expect(node.ports.calls).toHaveLength(calls);
    node.want([{ ...echo, status: { phase: 'Running', podIP: '10.0.0.2' } }]);
    expect(node.snapshot()).toBe(before);
  });

  test('with an unused annotation is shown, and affects neither admission nor volumes nor containers', () => {
    const plain = namedPod('web', { volumes: [{ name: 'data', emptyDir: {} }] });
    const node = nodeWith(plain);
    const before = [node.admission(), node.child('volume/data'), node.child('container/main')];
    const calls = node.ports.calls.length;
    node.update(withMetadata(plain, { annotations: { note: 'x' } }));
    expect(node.snapshot()?.context.allocated.metadata.annotations).toEqual({ note: 'x' });
    expect([node.admission(), node.child('volume/data'), node.child('container/main')]).toEqual(before);
    expect(node.admission()).toBe(before[0]);
    expect(node.child('volume/data')).toBe(before[1]);
    expect(node.child('container/main')).toBe(before[2]);
    expect(node.ports.calls).toHaveLength(calls);
  });
});

describe('an annotation', () => {
  test('C21: rewrites a volume that exposes it, and nothing else', () => {
    const pod = namedPod('web', { volumes: [{ name: 'info', downwardAPI: shows }] });
    const node = nodeWith(pod);
    const before = [node.admission(), node.child('container/main')];
    node.update(withMetadata(pod, { annotations: { note: 'x' } }));
    expect(node.ports.asked('mountVolume').map((asked) => asked.pod.metadata.annotations)).toEqual([
      undefined,
      { note: 'x' },
    ]);
    expect(node.admission()).toBe(before[0]);
    expect(node.child('container/main')).toBe(before[1]);
  });

  test('C21: is visible in a variable of the next run of its container', () => {
    const containers = [aContainer({ name: 'main', env: [variable] }), aContainer({ name: 'other' })];
    const pod = namedPod('web', { containers });
    const node = nodeWith(pod);
    const before = [node.admission(), node.child('container/other')];
    node.update(withMetadata(pod, { annotations: { build: '7' } }));
    expect([node.admission(), node.child('container/other')]).toEqual(before);
    expect(node.child('container/other')).toBe(before[1]);
    expect(node.ports.asked('createContainer')).toHaveLength(2);
    const [id = ''] = Array.from(node.world.containers).flatMap(([each, { name }]) => (name === 'main' ? [each] : []));
    node.world.end(id, 1);
    node.tell({ type: 'runtime.podsObserved', pods: [node.world.observed(pod)], at: node.ports.now });
    node.ports.advance(60_000);
    const created = node.ports.asked('createContainer').filter(({ container }) => container === 'main');
    expect(created.map((asked) => asked.pod.metadata.annotations)).toEqual([undefined, { build: '7' }]);
  });
});

describe('a condition set by another component', () => {
  test('C14: is an event of its own, without another admission', () => {
    const pod = namedPod('web');
    const node = nodeWith(pod);
    const [admission, container] = [node.admission(), node.child('container/main')];
    node.update({ ...pod, status: { conditions: [inService] } });
    expect(node.snapshot()?.context.conditions).toEqual([inService]);
    expect(node.snapshot()?.context.allocated).toBe(pod);
    expect(node.admission()).toBe(admission);
    expect(node.child('container/main')).toBe(container);
  });
});

describe('the deletion of a pod', () => {
  test('C10: terminates it within that grace period, and is no update', () => {
    const pod = namedPod('web');
    const node = nodeWith(pod, { held: ['stopContainer'] });
    node.update(deleted(pod, 7));
    expect(node.state()).toBe('terminating.stoppingContainers.graceful');
    expect(node.snapshot()?.context).toMatchObject({
      desired: pod,
      termination: { graceSeconds: 7, staysUntilUnlisted: true },
    });
  });
});

describe('a pod that is not admitted yet', () => {
  const old = namedPod('web');
  const pod = namedPod('web', {}, 'new-uid');

  /**
   * Pods that cannot start yet: one waits for a terminating pod of the same name, for the other another agent has a
   * sandbox.
   */
  const waiting = {
    admitting: () => {
      const story = nodeStory({
        held: ['removePodData'],
        before: (world) => {
          world.sandbox(old);
          world.run(old, 'main', { id: 'old' });
        },
      });
      story.list(story.world.observed(old));
      return { story, goOn: () => story.ports.answer('removePodData') };
    },
    awaitingOtherAgent: () => {
      const story = nodeStory();
      const seen = { uid: 'new-uid', namespace: 'default', name: 'web', containers: [] };
      const theirs = { ...story.world.sandbox(pod), owner: 'somebody' };
      story.world.sandboxes.clear();
      story.list({ ...seen, sandboxes: [theirs] });
      const gone = { ...seen, sandboxes: [] };
      return { story, goOn: () => story.tell({ type: 'runtime.podsObserved', pods: [gone], at: story.ports.now }) };
    },
  } as const;

  describe.each(['admitting', 'awaitingOtherAgent'] as const)('but is %s', (state) => {
    function node() {
      const { story, goOn } = waiting[state]();
      story.want([pod]);
      expect(story.pod('new-uid')).toBe(state);
      const update = (now: Pod) =>
        story.tell({ type: 'config.podChanged', source: 'file', change: 'updated', pod: now, at: story.ports.now });
      return { story, goOn, update, context: () => story.podRef('new-uid')?.getSnapshot().context };
    }

    test('C14: receives conditions set by other components', () => {
      const { story, update, goOn, context } = node();
      update({ ...pod, status: { conditions: [inService] } });
      expect(context()?.conditions).toEqual([inService]);
      goOn();
      expect(story.pod('new-uid')).toBe(RUNS);
      expect(context()?.conditions).toEqual([inService]);
    });

    test('has its updated labels', () => {
      const { story, update, goOn, context } = node();
      update(withMetadata(pod, { labels: { app: 'web' } }));
      goOn();
      expect(story.pod('new-uid')).toBe(RUNS);
      expect(context()?.allocated.metadata.labels).toEqual({ app: 'web' });
    });

    test('C5: is not started when it is deleted', () => {
      const { story, update, goOn } = node();
      update(deleted(pod, 7));
      expect(story.pod('new-uid')).toMatch(/^(finished|terminating)/);
      goOn();
      expect(story.ports.asked('runSandbox')).toEqual([]);
    });
  });
});
