import { describe, expect, test } from '@jest/globals';
import { requestsOf } from '../../../kubernetes/resources/requests.ts';
import type { FakeWorld } from '../../fakes/world.ts';
import { aContainer } from '../../kubernetes/fixtures.ts';
import { namedPod, nodeStory } from '../support/nodeStory.ts';

const web = namedPod('web');
const db = namedPod('db');
const RUNS = 'active.running.steady';

/** A node that runs these pods. */
function runningNode(...pods: ReturnType<typeof namedPod>[]) {
  const story = nodeStory();
  story.list();
  story.want(pods);
  for (const { metadata } of pods) expect(story.pod(metadata.uid)).toBe(RUNS);
  return story;
}

/** What was asked for the sake of pods: not what the node looks after by itself. */
const callsForPods = ({ ports }: ReturnType<typeof nodeStory>) =>
  ports.calls.filter(({ port }) => port !== 'surveyDisk' && port !== 'setUpCgroups').map(({ port }) => port);

describe('the start', () => {
  test('nothing is started or ended before the runtime is listed and every source has spoken', () => {
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
    expect(story.state()).toBe('recovering');
    story.tick();
    expect(callsForPods(story)).toEqual([]);
    story.want([], 'http');
    expect(story.state()).toBe('running');
    expect(story.pod('web-uid')).toBe(RUNS);
    expect(story.world.containers.has('db')).toBe(false);
  });

  test('pods that run already go first: nobody takes their place', () => {
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

  test('C2: a pod that had reached a terminal phase before does not run again', () => {
    const story = nodeStory({ statuses: { 'web-uid': { phase: 'Succeeded' } } });
    story.want([web]);
    story.list();
    expect(story.pod('web-uid')).toBe('finished');
    expect(story.ports.asked('runSandbox')).toEqual([]);
  });

  test('C10: a pod that no source wants any more ends within 1 s', () => {
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

  test('C24: a pod that was edited while the agent was away ends fully before its new version starts', () => {
    const story = nodeStory({
      held: ['removePodData'],
      before: (world) => {
        world.sandbox(web);
        world.run(web, 'main', { id: 'old' });
      },
    });
    story.list(story.world.observed(web));
    story.want([namedPod('web', {}, 'new-uid')]);
    expect([story.pod('web-uid'), story.pod('new-uid')]).toEqual(['terminating.erasing', 'admitting']);
    story.ports.answer('removePodData');
    expect([story.pod('web-uid'), story.pod('new-uid')]).toEqual([undefined, RUNS]);
  });

  test('C24: so does one that had ended by itself before', () => {
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
    expect([story.pod('web-uid'), story.pod('new-uid')]).toEqual(['terminating.erasing', 'admitting']);
    story.ports.answer('removePodData');
    expect(story.pod('new-uid')).toBe(RUNS);
  });

  test('C9: a pod waits until an unwanted pod has stopped that holds what it needs', () => {
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

  test('a sandbox without our mark is left alone, unless a source wants its pod', () => {
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

  test('what a former run left on disk alone is removed, unless it is wanted', () => {
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

describe('what the sources want', () => {
  test('a new pod starts, one that is gone ends, the others are left alone', () => {
    const story = runningNode(web);
    story.want([web, db]);
    expect(story.pod('db-uid')).toBe(RUNS);
    story.want([db]);
    expect(story.pod('web-uid')).toBeUndefined();
    expect(story.ports.asked('stopContainer').map(({ id }) => id)).toHaveLength(1);
    expect(story.pod('db-uid')).toBe(RUNS);
  });

  test('one source says nothing about the pods of another', () => {
    const story = nodeStory({ sources: ['file', 'http'] });
    story.list();
    story.want([web]);
    story.want([db], 'http');
    story.want([]);
    expect([story.pod('web-uid'), story.pod('db-uid')]).toEqual([undefined, RUNS]);
  });

  test('C6: an edited pod of the same uid is updated in place', () => {
    const story = runningNode(web);
    story.want([namedPod('web', { containers: [aContainer({ image: 'busybox:2' })] })]);
    expect(story.ports.asked('runSandbox')).toHaveLength(1);
    expect(story.ports.asked('createContainer')).toHaveLength(2);
  });

  test('C24: an edited pod of another uid starts under the same name when the old one has ended', () => {
    const story = runningNode(web);
    story.ports.hold('stopContainer');
    story.want([namedPod('web', {}, 'new-uid')]);
    expect(story.pod('web-uid')).toBe('terminating.containers.graceful');
    expect(story.pod('new-uid')).toBe('admitting');
    story.ports.answer('stopContainer');
    expect(story.pod('web-uid')).toBeUndefined();
    expect(story.pod('new-uid')).toBe(RUNS);
  });

  test('C24: of a pod that ended by itself all is removed before its edited version starts', () => {
    const once = { restartPolicy: 'Never' as const };
    const story = runningNode(namedPod('web', once));
    const [container] = [...story.world.containers.values()];
    story.tell({ type: 'runtime.containerSeen', container: story.world.end(container?.id ?? '', 0) });
    expect(story.pod('web-uid')).toBe('finished');
    story.ports.hold('removePodData');
    story.want([namedPod('web', once, 'new-uid')]);
    expect([story.pod('web-uid'), story.pod('new-uid')]).toEqual(['terminating.erasing', 'admitting']);
    story.ports.answer('removePodData');
    expect([story.pod('web-uid'), story.pod('new-uid')]).toEqual([undefined, RUNS]);
  });

  test('a pod that is wanted again while it ends starts over after that', () => {
    const story = runningNode(web);
    story.ports.hold('stopContainer');
    story.want([]);
    story.want([web]);
    expect(story.pod('web-uid')).toBe('terminating.containers.graceful');
    story.ports.answer('stopContainer');
    expect(story.pod('web-uid')).toBe(RUNS);
    expect(story.ports.asked('runSandbox')).toHaveLength(2);
  });

  test('a pod that ended by itself stays until it is not wanted, and frees its place at once', () => {
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

describe('what the runtime tells', () => {
  test('a fact goes to the pod that it concerns', () => {
    const story = runningNode(web, db);
    const container = [...story.world.containers.values()].find(({ podUid }) => podUid === 'db-uid');
    story.world.end(container?.id ?? '', 1);
    story.tell({ type: 'runtime.podsObserved', pods: [story.world.observed(db)], at: story.ports.now });
    expect(story.ports.asked('createContainer').map(({ pod }) => pod.metadata.name)).toEqual(['web', 'db', 'db']);
  });

  test('facts about pods that it does not have are nothing to it', () => {
    const story = runningNode(web);
    const before = story.ports.calls.length;
    story.tell({ type: 'runtime.containerSeen', container: story.world.container(db, 'main') });
    story.tell({ type: 'runtime.podsObserved', pods: [{ ...story.world.observed(db) }], at: 0 });
    expect(story.ports.calls).toHaveLength(before);
    expect(story.state()).toBe('running');
  });

  test('on its return all that failed because it was away is tried at once, on every return', () => {
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

test('a pod whose actor breaks is rebuilt from the facts at the next tick; the others go on', () => {
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

test('C24: one that breaks while it ends is ended again, and holds its name until then', () => {
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
  expect([story.pod('web-uid'), story.pod('new-uid')]).toEqual(['terminating.erasing', 'admitting']);
  story.ports.answer('removePodData');
  expect([story.pod('web-uid'), story.pod('new-uid')]).toEqual([undefined, RUNS]);
});

describe('drain', () => {
  test('every pod ends within its own grace, then the node', () => {
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

  test('no pod begins any more, whoever wants one', () => {
    const story = runningNode(web);
    story.ports.hold('stopContainer');
    story.drain();
    story.want([web, db]);
    story.tick();
    expect(story.pod('db-uid')).toBeUndefined();
    story.ports.answer('stopContainer');
    expect(story.state()).toBe('stopped');
  });

  test('a node without pods is stopped at once', () => {
    const story = runningNode();
    story.drain();
    expect(story.state()).toBe('stopped');
  });

  const running = (world: FakeWorld) => {
    world.sandbox(web);
    world.run(web, 'main', { id: 'web' });
  };

  test.each<[string, boolean, number]>([
    ['wanted: within its own grace', true, 40],
    ['of a source that has not spoken: within the grace of a pod that says nothing', false, 30],
  ])('before every source has spoken what runs is ended, %s', (_, isWanted, graceSeconds) => {
    const story = nodeStory({ sources: ['file', 'http'], held: ['stopContainer'], before: running });
    if (isWanted) story.want([namedPod('web', { terminationGracePeriodSeconds: 40 }), db]);
    story.list(story.world.observed(web));
    expect(story.state()).toBe('recovering');
    story.drain();
    expect(story.state()).toBe('draining');
    expect(story.ports.asked('stopContainer').map(({ deadline }) => (deadline ?? 0) - story.ports.now)).toEqual([
      graceSeconds * 1_000,
    ]);
    story.ports.answer('stopContainer');
    expect([story.state(), story.world.sandboxes.size]).toEqual(['stopped', 0]);
    expect(story.ports.asked('runSandbox')).toEqual([]);
  });

  test('before the runtime is listed it waits for the list, and ends what is in it', () => {
    const story = nodeStory({ before: running, held: ['stopContainer'] });
    story.want([web]);
    story.drain();
    story.drain();
    expect(story.state()).toBe('leaving');
    story.tell({ type: 'runtime.podsObserved', pods: [story.world.observed(web)], at: story.ports.now });
    story.tell({ type: 'runtime.healthChanged', health: { since: 0, ready: true, name: 'fake', version: '1' } });
    expect(story.state()).toBe('draining');
    expect(story.ports.asked('stopContainer')).toMatchObject([{ id: 'web', deadline: story.ports.now + 30_000 }]);
    story.ports.answer('stopContainer');
    expect([story.state(), story.world.sandboxes.size]).toEqual(['stopped', 0]);
  });

  test('for a runtime that does not answer it waits 5 s', () => {
    const story = nodeStory();
    story.drain();
    story.ports.advance(4_999);
    expect(story.state()).toBe('leaving');
    story.ports.advance(1);
    expect(story.state()).toBe('stopped');
  });

  test('what of ours shows up only now is ended as well, and what is not ours is left alone', () => {
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
