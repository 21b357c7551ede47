/** Tests that a change of one pod has no effect on other pods and no cost for them. */
import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { namedPod, nodeStory } from '../../support/nodeStory.ts';

const [web, db] = [namedPod('web'), namedPod('db')];
const RUNS = 'active.running.steady';
const breaking = {
  type: 'xstate.error.actor.container/main' as const,
  actorId: 'container/main',
  error: new Error('a mistake'),
};

function runningNode(pods: readonly Pod[], options: Parameters<typeof nodeStory>[0] = {}) {
  const story = nodeStory(options);
  story.list(...[...story.world.sandboxes.values()].map(() => story.world.observed(db)));
  story.want(pods);
  return {
    ...story,
    add: (pod: Pod, change: 'added' | 'updated' = 'added') =>
      story.tell({ type: 'config.podChanged', source: 'file', change, pod, at: story.ports.now }),
  };
}

describe('a change of one pod', () => {
  test('does not start another wanted pod without an actor, which waits for the next tick', () => {
    const story = runningNode([db]);
    story.podRef('db-uid')?.send(breaking);
    story.add(web);
    expect([story.pod('web-uid'), story.pod('db-uid')]).toEqual([RUNS, undefined]);
    story.tick();
    expect(story.pod('db-uid')).toBe(RUNS);
  });

  test('does not terminate another orphan, neither on an event of a source nor of the runtime', () => {
    const held = ['stopContainer'] as const;
    const story = runningNode([], {
      held,
      before: (world) => {
        world.sandbox(db);
        world.run(db, 'main', { id: 'db' });
      },
    });
    expect(story.pod('db-uid')).toBe('terminating.stoppingContainers.graceful');
    story.podRef('db-uid')?.send(breaking);
    story.add(web);
    story.tell({ type: 'runtime.podsObserved', pods: [story.world.observed(web)], at: story.ports.now });
    expect([story.pod('web-uid'), story.pod('db-uid')]).toEqual([RUNS, undefined]);
    story.tick();
    expect(story.pod('db-uid')).toBe('terminating.stoppingContainers.graceful');
  });

  test('does not inspect the other pods of its source', () => {
    let looks = 0;
    const { metadata, ...rest } = db;
    const watched = Object.defineProperty({ ...rest, metadata }, 'metadata', {
      get: () => {
        looks += 1;
        return metadata;
      },
    });
    const story = runningNode([watched, web]);
    looks = 0;
    story.add(namedPod('third'));
    story.add({ ...web, metadata: { ...metadata, ...web.metadata, labels: { app: 'web' } } }, 'updated');
    expect([story.pod('third-uid'), story.podRef('web-uid')?.getSnapshot().context.desired.metadata.labels]).toEqual([
      RUNS,
      { app: 'web' },
    ]);
    expect(looks).toBe(0);
  });
});
