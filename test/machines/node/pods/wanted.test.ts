import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { requestsOf } from '../../../../kubernetes/resources/requests.ts';
import { aContainer } from '../../../kubernetes/fixtures.ts';
import { namedPod, nodeStory } from '../../support/nodeStory.ts';

const RUNS = 'active.running.steady';
const web = namedPod('web');
const db = namedPod('db');

/** Creates a node that runs these pods, with functions that report changes of single pods. */
function nodeOf(pods: readonly Pod[], source = 'file') {
  const story = nodeStory({ sources: [source], allocatable: { cpuMillis: 4_000, memoryBytes: 2 ** 33, pods: 1_000 } });
  story.list();
  story.want(pods, source);
  const report = (change: 'added' | 'updated', pod: Pod) =>
    story.tell({ type: 'config.podChanged', source, change, pod, at: story.ports.now });
  const removed = (uid: string) =>
    story.tell({ type: 'config.podChanged', source, change: 'removed', uid, at: story.ports.now });
  return {
    ...story,
    added: (pod: Pod) => report('added', pod),
    updated: (pod: Pod) => report('updated', pod),
    removed,
  };
}

describe('a change at a source', () => {
  test('starts an added pod, updates a changed one, and terminates a removed one', () => {
    const story = nodeOf([web]);
    story.added(db);
    expect(story.pod('db-uid')).toBe(RUNS);
    const edited = namedPod('db', { containers: [{ name: 'main', image: 'b:2' }] });
    story.updated(edited);
    expect(story.podRef('db-uid')?.getSnapshot().context.allocated).toEqual(edited);
    story.removed('db-uid');
    expect(story.pod('db-uid')).toBeUndefined();
    expect(story.pod('web-uid')).toBe(RUNS);
    expect([...story.world.containers.values()].map(({ state }) => state)).toEqual(['running']);
  });

  test('has its effect whatever its type: an unchanged pod is not affected, and an unknown pod is started', () => {
    const story = nodeOf([web]);
    story.added(web);
    story.updated(db);
    story.removed('nobody');
    expect([story.pod('web-uid'), story.pod('db-uid')]).toEqual([RUNS, RUNS]);
  });

  test('among many pods affects only that one', () => {
    const others = Array.from({ length: 50 }, (_, index) => namedPod(`p${index}`));
    const story = nodeOf([web, ...others]);
    const states = () => others.map(({ metadata }) => story.podRef(metadata.uid)?.getSnapshot());
    const before = states();
    story.updated(namedPod('web', { containers: [{ name: 'main', image: 'b:2' }] }));
    story.removed('web-uid');
    expect(states().every((snapshot, index) => snapshot === before[index])).toBe(true);
    expect(Object.keys(story.context().pods)).toHaveLength(50);
  });

  test('before the source has listed its pods is ignored, because running pods may belong to it', () => {
    const story = nodeStory({
      before: (world) => {
        world.sandbox(db);
        world.run(db, 'main', { id: 'db' });
      },
    });
    story.list(story.world.observed(db));
    story.tell({ type: 'config.podChanged', source: 'file', change: 'added', pod: web, at: story.ports.now });
    expect(story.state()).toBe('awaitingSources');
    story.want([db]);
    expect([story.pod('web-uid'), story.pod('db-uid')]).toEqual([undefined, RUNS]);
    expect(story.world.containers.get('db')?.state).toBe('running');
  });

  test('that removes a pod without an actor terminates its containers', () => {
    const story = nodeOf([web]);
    story.send({ type: 'xstate.done.actor.pod/web-uid', actorId: 'pod/web-uid', output: { isGone: false } });
    expect(story.pod('web-uid')).toBeUndefined();
    story.tell({ type: 'runtime.podsObserved', pods: [story.world.observed(web)], at: story.ports.now });
    story.removed('web-uid');
    expect(story.world.containers.size).toBe(0);
  });

  test('leaves a pod to another source that has it as well', () => {
    const story = nodeStory({ sources: ['file', 'api'] });
    story.list();
    story.want([web]);
    story.want([], 'api');
    const at = story.ports.now;
    const other = { ...web, metadata: { ...web.metadata, annotations: { 'kubernetes.io/config.source': 'api' } } };
    story.tell({ type: 'config.podChanged', source: 'api', change: 'added', pod: other, at });
    expect(story.podRef('web-uid')?.getSnapshot().context.desired).toBe(web);
    story.tell({ type: 'config.podChanged', source: 'file', change: 'removed', uid: 'web-uid', at });
    expect(story.podRef('web-uid')?.getSnapshot().context.desired.metadata.annotations).toEqual(
      other.metadata.annotations,
    );
    expect(story.ports.asked('stopContainer')).toEqual([]);
  });
});

test('a change is derived when a source lists its pods again, as after a lost connection', () => {
  const story = nodeOf([web, db]);
  const cache = namedPod('cache');
  story.want([structuredClone(web), cache]);
  expect([story.pod('web-uid'), story.pod('db-uid'), story.pod('cache-uid')]).toEqual([RUNS, undefined, RUNS]);
  expect(story.ports.asked('createContainer').filter(({ pod }) => pod.metadata.name === 'web')).toHaveLength(1);
});

test('the findings of one file replace its earlier findings', () => {
  const story = nodeStory();
  const found = (file: string, message: string) => ({ file, path: '', message });
  const [x, y] = [found('/x', 'wrong'), found('/y', 'wrong')];
  story.tell({ type: 'config.podsListed', source: 'file', pods: [], problems: [x, y], warnings: [x], at: 0 });
  const worse = found('/x', 'worse');
  story.tell({ type: 'config.problemsChanged', source: 'file', file: '/x', problems: [worse] });
  expect(story.context()).toMatchObject({ problems: { file: [worse, y] }, warnings: { file: [] } });
});

test('the findings about one pod of a URL do not replace those about its other pods', () => {
  const story = nodeStory();
  const found = (pod: string, message: string) => ({ file: 'http://host/pods', path: '', message, pod });
  const [a, b] = [found('default/a', 'wrong'), found('default/b', 'wrong')];
  story.tell({ type: 'config.podsListed', source: 'http', pods: [], problems: [a, b], at: 0 });
  const about = { type: 'config.problemsChanged', source: 'http', file: 'http://host/pods' } as const;
  story.tell({ ...about, pod: 'default/a', problems: [] });
  expect(story.context()).toMatchObject({ problems: { http: [b] } });
});

test('the oldest of several new pods is admitted first, whatever the order of the list', () => {
  const ports = [{ containerPort: 80, hostPort: 80 }];
  const created = (name: string, creationTimestamp: string) => {
    const pod = namedPod(name, { containers: [aContainer({ ports })] });
    return { ...pod, metadata: { ...pod.metadata, creationTimestamp } };
  };
  const [younger, older] = [created('a', '2026-01-01T00:00:05Z'), created('b', '2026-01-01T00:00:03Z')];
  const story = nodeStory();
  story.list();
  story.want([younger, older]);
  expect([story.pod('a-uid'), story.pod('b-uid')]).toEqual(['refused', RUNS]);
});

test('a pod admitted before the agent started retains its resources, even if the runtime has lost it', () => {
  const ports = [{ containerPort: 80, hostPort: 80 }];
  const served = (name: string) => namedPod(name, { containers: [aContainer({ ports })] });
  const [one, other] = [served('one'), served('other')];
  const story = nodeStory({ allocations: { 'other-uid': requestsOf(other) } });
  story.list();
  story.want([one, other]);
  expect([story.pod('one-uid'), story.pod('other-uid')]).toEqual(['refused', RUNS]);
});
