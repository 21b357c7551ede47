import { describe, expect, test } from '@jest/globals';
import type { FakeWorld } from '../../fakes/world.ts';
import { namedPod, nodeStory } from '../support/nodeStory.ts';

const RUNS = 'active.running.steady';
const web = namedPod('web');
const db = namedPod('db');
const problems = [{ file: 'http://pods', path: '', message: 'no answer' }];
const unread = { type: 'config.sourceUnread', source: 'http', problems } as const;
const fromUrl = (pod: typeof web) => ({
  ...pod,
  metadata: { ...pod.metadata, annotations: { 'kubernetes.io/config.source': 'http' } },
});

/** Creates a node with a file and a URL as sources, on which `db` already runs. */
function nodeOfTwo() {
  const story = nodeStory({
    sources: ['file', 'http'],
    before: (world: FakeWorld) => {
      world.sandbox(db);
      world.run(db, 'main', { id: 'db' });
    },
  });
  story.list(story.world.observed(db));
  return story;
}

describe('a source that cannot be read at the start', () => {
  test('does not prevent pods of other sources from starting, and pods that it may own are not terminated', () => {
    const story = nodeOfTwo();
    story.want([web]);
    expect(story.state()).toBe('awaitingSources');
    story.tell(unread);
    expect(story.state()).toBe('partial');
    expect(story.context().problems).toMatchObject({ http: problems });
    expect(story.pod('web-uid')).toBe(RUNS);
    story.tick();
    story.ports.advance(120_000);
    expect(story.pod('db-uid')).toBeUndefined();
    expect(story.world.containers.get('db')?.state).toBe('running');
    story.want([db], 'http');
    expect(story.state()).toBe('running');
    expect(story.pod('db-uid')).toBe(RUNS);
    expect(story.world.containers.get('db')?.state).toBe('running');
  });

  test('but is read in part lets its readable pods start, and leaves the rest until it is read completely', () => {
    const story = nodeOfTwo();
    story.want([], 'http');
    const listed = { type: 'config.podsListed', source: 'file', at: 0 } as const;
    story.tell({ ...listed, pods: [web], isPartial: true });
    expect(story.state()).toBe('partial');
    expect(story.pod('web-uid')).toBe(RUNS);
    story.tick();
    story.ports.advance(120_000);
    expect(story.world.containers.get('db')?.state).toBe('running');
    story.tell({ ...listed, pods: [web, db] });
    expect(story.state()).toBe('running');
    expect(story.pod('db-uid')).toBe(RUNS);
    expect(story.world.containers.get('db')?.state).toBe('running');
    story.tell({ ...listed, pods: [web] });
    expect(story.world.containers.has('db')).toBe(false);
  });

  test('terminates running pods that it does not want once it is read', () => {
    const story = nodeOfTwo();
    story.want([web]);
    story.tell(unread);
    story.want([], 'http');
    expect(story.state()).toBe('running');
    expect(story.world.containers.has('db')).toBe(false);
    expect(story.pod('web-uid')).toBe(RUNS);
  });

  test('C24: a new version waits no longer once nothing of the old one is left at the runtime', () => {
    const story = nodeOfTwo();
    const edited = namedPod('db', {}, 'edited-uid');
    story.want([edited]);
    story.tell(unread);
    expect(story.pod('edited-uid')).toBe('admitting');
    story.tell({
      type: 'runtime.podsObserved',
      at: 0,
      pods: [{ ...story.world.observed(db), sandboxes: [], containers: [] }],
    });
    expect(story.pod('edited-uid')).toBe(RUNS);
  });

  test('C24: running pods retain their full names until then, so that a new version waits', () => {
    const story = nodeOfTwo();
    const edited = namedPod('db', {}, 'edited-uid');
    story.want([edited]);
    story.tell(unread);
    expect(story.pod('edited-uid')).toBe('admitting');
    story.want([], 'http');
    expect(story.pod('edited-uid')).toBe(RUNS);
    expect(story.world.containers.has('db')).toBe(false);
  });

  test('a pod removed by its own source terminates meanwhile, and restarts when it is wanted again', () => {
    const story = nodeOfTwo();
    story.want([web]);
    story.tell(unread);
    story.want([]);
    expect(story.pod('web-uid')).toBeUndefined();
    story.want([web]);
    expect(story.pod('web-uid')).toBe(RUNS);
  });

  test('does not prevent the node from draining', () => {
    const story = nodeOfTwo();
    story.want([web]);
    story.tell(unread);
    story.drain();
    expect(story.status()).toBe('done');
    expect(story.world.containers.size).toBe(0);
  });
});

describe('a pod of two sources', () => {
  test('C24: belongs to the source that had it first, also if the other source had listed it earlier', () => {
    const story = nodeStory({ sources: ['file', 'http'] });
    story.list();
    story.want([]);
    story.want([fromUrl(web)], 'http');
    expect(story.podRef('web-uid')?.getSnapshot().context.desired).toEqual(fromUrl(web));
    story.want([web]);
    expect(story.podRef('web-uid')?.getSnapshot().context.desired).toEqual(fromUrl(web));
    story.want([], 'http');
    expect(story.podRef('web-uid')?.getSnapshot().context.desired).toEqual(web);
    expect(story.ports.asked('stopContainer')).toEqual([]);
  });
});
