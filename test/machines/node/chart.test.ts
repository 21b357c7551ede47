import { describe, expect, test } from '@jest/globals';
import { requestsOf } from '../../../kubernetes/resources/requests.ts';
import type { FakeWorld } from '../../fakes/world.ts';
import { aContainer } from '../../kubernetes/fixtures.ts';
import { namedPod, nodeStory } from '../support/nodeStory.ts';

const web = namedPod('web');
const db = namedPod('db');
const RUNS = 'active.running.steady';

/** Creates a node that runs these pods. */
function runningNode(...pods: ReturnType<typeof namedPod>[]) {
  const story = nodeStory();
  story.list();
  story.want(pods);
  for (const { metadata } of pods) expect(story.pod(metadata.uid)).toBe(RUNS);
  return story;
}

/** Ports that the node calls at its start, regardless of its pods. */
const NODE_PORTS: readonly string[] = ['surveyDisk', 'setUpCgroups', 'collectImages'];

/** Returns the ports that were called for pods. */
const callsForPods = ({ ports }: ReturnType<typeof nodeStory>) =>
  ports.calls.map(({ port }) => port).filter((port) => !NODE_PORTS.includes(port));

describe('the start', () => {
  test('starts and stops nothing before the runtime is listed and every source has listed its pods', () => {
    const story = nodeStory({
      sources: ['file', 'http'],
      before: (world) => {
        world.sandbox(db);
        world.run(db, 'main', { id: 'db' });
      },
    });
    story.want([web]);
    expect(story.state()).toBe('starting');
    story.list(story.world.observed(db));
    expect(story.state()).toBe('awaitingSources');
    story.tick();
    expect(callsForPods(story)).toEqual([]);
    story.want([], 'http');
    expect(story.state()).toBe('running');
    expect(story.pod('web-uid')).toBe(RUNS);
    expect(story.world.containers.has('db')).toBe(false);
  });

  test('starts running pods first, so that new pods cannot take their resources', () => {
    const spec = { containers: [aContainer({ resources: { requests: { cpu: '3' } } })] };
    const [first, second] = [namedPod('first', spec), namedPod('second', spec)];
    const story = nodeStory({
      before: (world) => {
        world.sandbox(second);
        world.run(second, 'main', { id: 'second' });
      },
    });
    story.want([first, second]);
    story.list(story.world.observed(second));
    expect(story.pod('second-uid')).toBe(RUNS);
    expect(story.pod('first-uid')).toBe('refused');
  });

  test('C2: does not run a pod again that had reached a terminal phase', () => {
    const story = nodeStory({ statuses: { 'web-uid': { phase: 'Succeeded' } } });
    story.want([web]);
    story.list();
    expect(story.pod('web-uid')).toBe('finished');
    expect(story.ports.asked('runSandbox')).toEqual([]);
  });

  test('C10: terminates a pod that no source wants any more within 1 s', () => {
    const story = nodeStory({
      before: (world) => {
        world.sandbox(web);
        world.run(web, 'main', { id: 'web' });
      },
    });
    story.list(story.world.observed(web));
    story.want([]);
    expect(story.ports.asked('stopContainer')).toMatchObject([{ id: 'web', deadline: story.ports.now + 1_000 }]);
    expect(story.world.sandboxes.size).toBe(0);
    expect(story.pod('web-uid')).toBeUndefined();
  });

  test('C24: terminates a pod that was edited while the agent was not running completely before its new version starts', () => {
    const story = nodeStory({
      held: ['removePodData'],
      before: (world) => {
        world.sandbox(web);
        world.run(web, 'main', { id: 'old' });
      },
    });
    story.list(story.world.observed(web));
    story.want([namedPod('web', {}, 'new-uid')]);
    expect([story.pod('web-uid'), story.pod('new-uid')]).toEqual(['terminating.removingData', 'admitting']);
    story.ports.answer('removePodData');
    expect([story.pod('web-uid'), story.pod('new-uid')]).toEqual([undefined, RUNS]);
  });

  test('C24: removes a completed pod completely before its new version starts, if it was edited while the agent was not running', () => {
    const story = nodeStory({
      held: ['removePodData'],
      statuses: { 'web-uid': { phase: 'Succeeded' } },
      before: (world) => {
        world.sandbox(web);
        world.run(web, 'main', { id: 'old' });
        world.end('old', 0);
      },
    });
    story.want([web]);
    story.list(story.world.observed(web));
    expect(story.pod('web-uid')).toBe('finished');
    story.want([namedPod('web', {}, 'new-uid')]);
    expect([story.pod('web-uid'), story.pod('new-uid')]).toEqual(['terminating.removingData', 'admitting']);
    story.ports.answer('removePodData');
    expect(story.pod('new-uid')).toBe(RUNS);
  });

  test('C9: lets a pod wait until an unwanted pod that holds its resources has stopped', () => {
    const ports = [{ containerPort: 80, hostPort: 80 }];
    const http = namedPod('http', { containers: [aContainer({ ports })] });
    const story = nodeStory({
      held: ['stopContainer'],
      allocations: { 'web-uid': requestsOf(http) },
      before: (world) => {
        world.sandbox(web);
        world.run(web, 'main', { id: 'old' });
      },
    });
    story.list(story.world.observed(web));
    story.want([http]);
    expect(story.pod('http-uid')).toBe('admitting');
    story.ports.answer('stopContainer');
    expect(story.pod('http-uid')).toBe(RUNS);
  });

  test('does not touch a sandbox without our mark, unless a source wants its pod', () => {
    const foreign = (world: Parameters<NonNullable<Parameters<typeof nodeStory>[0]>['before'] & object>[0]) => {
      const { owner: _ours, ...sandbox } = world.sandbox(web);
      world.sandboxes.set(sandbox.id, sandbox);
      world.run(web, 'main', { id: 'web', sandboxId: sandbox.id });
    };
    const other = nodeStory({ before: foreign });
    other.list(other.world.observed(web));
    other.want([]);
    expect(callsForPods(other)).toEqual([]);
    const adopting = nodeStory({ before: foreign });
    adopting.list(adopting.world.observed(web));
    adopting.want([web]);
    expect(adopting.pod('web-uid')).toBe(RUNS);
    expect(adopting.ports.asked('runSandbox')).toEqual([]);
  });

  test('removes the files that an earlier run left of pods, unless the pods are wanted', () => {
    const identity = { namespace: 'default' };
    const story = nodeStory({
      left: [
        { ...identity, uid: 'gone-uid', name: 'gone' },
        { ...identity, uid: 'web-uid', name: 'web' },
      ],
    });
    story.list();
    story.want([web]);
    expect(story.ports.asked('removePodData').map(({ pod }) => pod.metadata.uid)).toEqual(['gone-uid']);
    expect(story.pod('web-uid')).toBe(RUNS);
  });
});

describe('changes of the sources', () => {
  test('starts new pods, terminates removed ones, and leaves the others alone', () => {
    const story = runningNode(web);
    story.want([web, db]);
    expect(story.pod('db-uid')).toBe(RUNS);
    story.want([db]);
    expect(story.pod('web-uid')).toBeUndefined();
    expect(story.ports.asked('stopContainer').map(({ id }) => id)).toHaveLength(1);
    expect(story.pod('db-uid')).toBe(RUNS);
  });

  test('do not affect pods of other sources', () => {
    const story = nodeStory({ sources: ['file', 'http'] });
    story.list();
    story.want([web]);
    story.want([db], 'http');
    story.want([]);
    expect([story.pod('web-uid'), story.pod('db-uid')]).toEqual([undefined, RUNS]);
  });

  test('C6: update an edited pod with the same UID in place', () => {
    const story = runningNode(web);
    story.want([namedPod('web', { containers: [aContainer({ image: 'busybox:2' })] })]);
    expect(story.ports.asked('runSandbox')).toHaveLength(1);
    expect(story.ports.asked('createContainer')).toHaveLength(2);
  });

  test('C24: start an edited pod with a different UID when the old one has terminated', () => {
    const story = runningNode(web);
    story.ports.hold('stopContainer');
    story.want([namedPod('web', {}, 'new-uid')]);
    expect(story.pod('web-uid')).toBe('terminating.stoppingContainers.graceful');
    expect(story.pod('new-uid')).toBe('admitting');
    story.ports.answer('stopContainer');
    expect(story.pod('web-uid')).toBeUndefined();
    expect(story.pod('new-uid')).toBe(RUNS);
  });

  test('C24: remove a completed pod completely before its edited version starts', () => {
    const once = { restartPolicy: 'Never' as const };
    const story = runningNode(namedPod('web', once));
    const [container] = [...story.world.containers.values()];
    story.tell({ type: 'runtime.containerSeen', container: story.world.end(container?.id ?? '', 0) });
    expect(story.pod('web-uid')).toBe('finished');
    story.ports.hold('removePodData');
    story.want([namedPod('web', once, 'new-uid')]);
    expect([story.pod('web-uid'), story.pod('new-uid')]).toEqual(['terminating.removingData', 'admitting']);
    story.ports.answer('removePodData');
    expect([story.pod('web-uid'), story.pod('new-uid')]).toEqual([undefined, RUNS]);
  });

  test('restart a pod after its termination that is wanted again meanwhile', () => {
    const story = runningNode(web);
    story.ports.hold('stopContainer');
    story.want([]);
    story.want([web]);
    expect(story.pod('web-uid')).toBe('terminating.stoppingContainers.graceful');
    story.ports.answer('stopContainer');
    expect(story.pod('web-uid')).toBe(RUNS);
    expect(story.ports.asked('runSandbox')).toHaveLength(2);
  });

  test('leave a completed pod until it is not wanted, and release its resources at once', () => {
    const spec = {
      restartPolicy: 'Never' as const,
      containers: [aContainer({ resources: { requests: { cpu: '3' } } })],
    };
    const story = runningNode(namedPod('once', spec));
    const [container] = [...story.world.containers.values()];
    story.tell({ type: 'runtime.containerSeen', container: story.world.end(container?.id ?? '', 0) });
    expect(story.pod('once-uid')).toBe('finished');
    story.want([namedPod('once', spec), namedPod('next', spec)]);
    expect(story.pod('next-uid')).toBe(RUNS);
  });
});

describe('facts of the runtime', () => {
  test('are sent to the pod that they concern', () => {
    const story = runningNode(web, db);
    const container = [...story.world.containers.values()].find(({ podUid }) => podUid === 'db-uid');
    story.world.end(container?.id ?? '', 1);
    story.tell({ type: 'runtime.podsObserved', pods: [story.world.observed(db)], at: story.ports.now });
    expect(story.ports.asked('createContainer').map(({ pod }) => pod.metadata.name)).toEqual(['web', 'db', 'db']);
  });

  test('are ignored for unknown pods', () => {
    const story = runningNode(web);
    const before = story.ports.calls.length;
    story.tell({ type: 'runtime.containerSeen', container: story.world.container(db, 'main') });
    story.tell({ type: 'runtime.podsObserved', pods: [{ ...story.world.observed(db) }], at: 0 });
    expect(story.ports.calls).toHaveLength(before);
    expect(story.state()).toBe('running');
  });

  test('retry everything that failed because the runtime was not available, on every return', () => {
    const story = nodeStory();
    story.list();
    const away = () => {
      const health = { since: 0, ready: false, name: 'fake', version: '1', message: 'away' };
      story.tell({ type: 'runtime.healthChanged', health });
    };
    away();
    story.ports.failNext('runSandbox', 'RuntimeUnavailable');
    story.want([web]);
    expect(story.pod('web-uid')).toBe('sandboxing.awaitingCreateRetry');
    story.list();
    expect(story.pod('web-uid')).toBe(RUNS);
  });
});

test('rebuild a pod whose actor failed at the next tick, while the others continue', () => {
  const story = runningNode(web, db);
  story.podRef('web-uid')?.send({
    type: 'xstate.error.actor.container/main',
    error: new Error('a mistake'),
    actorId: 'container/main',
  });
  story.list(story.world.observed(web), story.world.observed(db));
  story.tick();
  expect([story.pod('web-uid'), story.pod('db-uid')]).toEqual([RUNS, RUNS]);
  expect(story.ports.asked('runSandbox')).toHaveLength(2);
  expect(story.ports.asked('stopContainer')).toEqual([]);
});

test('C24: terminate a pod again whose actor failed during its termination, and reserve its name until then', () => {
  const story = runningNode(web);
  story.ports.hold('removePodData');
  story.want([namedPod('web', {}, 'new-uid')]);
  story.podRef('web-uid')?.send({
    type: 'xstate.error.actor.container/main',
    error: new Error('a mistake'),
    actorId: 'container/main',
  });
  expect([story.pod('web-uid'), story.pod('new-uid')]).toEqual([undefined, 'admitting']);
  story.tick();
  expect([story.pod('web-uid'), story.pod('new-uid')]).toEqual(['terminating.removingData', 'admitting']);
  story.ports.answer('removePodData');
  expect([story.pod('web-uid'), story.pod('new-uid')]).toEqual([undefined, RUNS]);
});

describe('drain', () => {
  test('terminates every pod within its own grace period, and then stops the node', () => {
    const story = runningNode(web, namedPod('slow', { terminationGracePeriodSeconds: 60 }));
    story.ports.hold('stopContainer');
    story.drain();
    expect(story.state()).toBe('draining');
    expect(story.ports.asked('stopContainer').map(({ deadline }) => (deadline ?? 0) - story.ports.now)).toEqual([
      30_000, 60_000,
    ]);
    story.ports.answer('stopContainer');
    expect(story.status()).toBe('active');
    story.ports.answer('stopContainer');
    expect([story.state(), story.status()]).toEqual(['stopped', 'done']);
    expect(story.world.sandboxes.size).toBe(0);
  });

  test('starts no pod, whatever the sources want', () => {
    const story = runningNode(web);
    story.ports.hold('stopContainer');
    story.drain();
    story.want([web, db]);
    story.tick();
    expect(story.pod('db-uid')).toBeUndefined();
    story.ports.answer('stopContainer');
    expect(story.state()).toBe('stopped');
  });

  test('stops a node without pods at once', () => {
    const story = runningNode();
    story.drain();
    expect(story.state()).toBe('stopped');
  });

  const running = (world: FakeWorld) => {
    world.sandbox(web);
    world.run(web, 'main', { id: 'web' });
  };

  test.each<[string, boolean, number]>([
    ['a wanted pod within its own grace period', true, 40],
    ['a pod of a source that has not listed yet within the default grace period', false, 30],
  ])('stops running pods before every source has listed its pods, %s', (_, isWanted, graceSeconds) => {
    const story = nodeStory({ sources: ['file', 'http'], held: ['stopContainer'], before: running });
    if (isWanted) story.want([namedPod('web', { terminationGracePeriodSeconds: 40 }), db]);
    story.list(story.world.observed(web));
    expect(story.state()).toBe('awaitingSources');
    story.drain();
    expect(story.state()).toBe('draining');
    expect(story.ports.asked('stopContainer').map(({ deadline }) => (deadline ?? 0) - story.ports.now)).toEqual([
      graceSeconds * 1_000,
    ]);
    story.ports.answer('stopContainer');
    expect([story.state(), story.world.sandboxes.size]).toEqual(['stopped', 0]);
    expect(story.ports.asked('runSandbox')).toEqual([]);
  });

  test('waits for the list of the runtime, and terminates its pods', () => {
    const story = nodeStory({ before: running, held: ['stopContainer'] });
    story.want([web]);
    story.drain();
    story.drain();
    expect(story.state()).toBe('awaitingListToDrain');
    story.tell({ type: 'runtime.podsObserved', pods: [story.world.observed(web)], at: story.ports.now });
    story.tell({ type: 'runtime.healthChanged', health: { since: 0, ready: true, name: 'fake', version: '1' } });
    expect(story.state()).toBe('draining');
    expect(story.ports.asked('stopContainer')).toMatchObject([{ id: 'web', deadline: story.ports.now + 30_000 }]);
    story.ports.answer('stopContainer');
    expect([story.state(), story.world.sandboxes.size]).toEqual(['stopped', 0]);
  });

  test('waits 5 s for a runtime that does not respond', () => {
    const story = nodeStory();
    story.drain();
    story.ports.advance(4_999);
    expect(story.state()).toBe('awaitingListToDrain');
    story.ports.advance(1);
    expect(story.state()).toBe('stopped');
  });

  test('terminates pods of this agent that appear only now, and does not touch foreign pods', () => {
    const story = runningNode(web);
    story.ports.hold('stopContainer');
    story.drain();
    story.world.sandbox(db);
    const { owner: _ours, ...foreign } = story.world.sandbox(namedPod('foreign'));
    story.world.sandboxes.set(foreign.id, foreign);
    const pods = [story.world.observed(db), story.world.observed(namedPod('foreign'))];
    story.tell({ type: 'runtime.podsObserved', pods, at: story.ports.now });
    expect(story.ports.asked('removeSandboxes')).toEqual([{ ids: ['sandbox-db-uid-0'] }]);
    story.ports.answer('stopContainer');
    expect(story.state()).toBe('stopped');
    expect([...story.world.sandboxes.keys()]).toEqual([foreign.id]);
  });
});
