import { expect, test } from '@jest/globals';
import type { FakeWorld } from '../../../fakes/world.ts';
import { productFiles } from '../../../support/tree.ts';
import { namedPod, nodeStory } from '../../support/nodeStory.ts';

const db = namedPod('db');

test('C2: a pod that had failed before a restart is Failed also if the node stops before its source has listed it', () => {
  const failed = { phase: 'Failed' as const };
  const before = (world: FakeWorld) => {
    world.sandbox(db);
    world.run(db, 'main');
  };
  const story = nodeStory({ before, statuses: { 'db-uid': failed }, held: ['stopContainer'] });
  story.list(story.world.observed(db));
  story.drain();
  expect(story.pod('db-uid')).toBe('terminating.stoppingContainers.graceful');
  expect(story.podRef('db-uid')?.getSnapshot().context.restored).toEqual(failed);
  // Admission treats it like any pod that only has to terminate: it occupies no resources, but its name stays reserved.
  expect(story.admission()?.context.entries).toEqual([
    expect.objectContaining({ uid: 'db-uid', allocated: null, holdsName: true }),
  ]);
});

test('a terminated pod that an outdated list shows repeatedly is recorded once', () => {
  const web = namedPod('web');
  const before = (world: FakeWorld) => {
    for (const pod of [db, web]) world.sandbox(pod);
    world.run(web, 'main');
  };
  const story = nodeStory({ before, held: ['stopContainer'] });
  const old = [story.world.observed(db), story.world.observed(web)];
  story.list(...old);
  story.drain();
  for (let lists = 0; lists < 3; lists += 1) story.list(...old);
  expect([story.pod('web-uid'), story.context().drainedUids]).toEqual([
    'terminating.stoppingContainers.graceful',
    ['db-uid'],
  ]);
});

test('the node shows the end of the longest grace period, at any time', () => {
  const before = (world: FakeWorld) => {
    world.sandbox(db);
    world.run(db, 'main');
  };
  const story = nodeStory({ before, held: ['stopContainer'] });
  story.want([namedPod('db', { terminationGracePeriodSeconds: 5 })]);
  story.list(story.world.observed(db));
  story.drain();
  const until = () => story.view().tree.until;
  expect(until()).toBe(story.ports.now + 5_000);
  story.ports.advance(5_000);
  expect(story.pod('db-uid')).toBe('terminating.stoppingContainers.overdue');
  expect(until()).toBeUndefined();
});

test('all pods get their actors by the same action, whether they start or only terminate', () => {
  const places = productFiles.flatMap(({ file, text }) =>
    text
      .split("spawnChild('pod'")
      .slice(1)
      .map(() => file),
  );
  expect(places).toEqual(['machines/node/setup.ts']);
});
