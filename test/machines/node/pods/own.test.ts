import { describe, expect, test } from '@jest/globals';
import { requestsOf } from '../../../../kubernetes/resources/requests.ts';
import { resourcesOf } from '../../../../kubernetes/resources/resize.ts';
import { foreignPods } from '../../../../machines/node/pods/own.ts';
import type { FakeWorld } from '../../../fakes/world.ts';
import { aContainer } from '../../../kubernetes/fixtures.ts';
import { namedPod, nodeStory } from '../../support/nodeStory.ts';

const db = namedPod('db');
const identity = { uid: 'db-uid', namespace: 'default', name: 'db' };

/** Adds a sandbox of `db` to the runtime, with the mark of this owner or without a mark. */
const sandboxOf = (owner?: string) => (world: FakeWorld) => {
  const { owner: _us, ...sandbox } = world.sandbox(db);
  world.sandboxes.set(sandbox.id, { ...sandbox, ...(owner ? { owner } : {}) });
};

describe('an unwanted pod', () => {
  test.each([
    ['whose directory has our mark is removed together with its unmarked sandbox', undefined, true, 'ended'],
    ['whose directory has our mark remains if another agent has created its sandbox', '/other@node', true, 'stays'],
    ['that is known only from a persisted fact remains, together with its unmarked sandbox', undefined, false, 'stays'],
  ])('%s', (_what, owner, isMarked, becomes) => {
    const left = [{ ...identity, ...(isMarked ? { isMarked } : {}) }];
    const story = nodeStory({ before: sandboxOf(owner), left });
    story.list(story.world.observed(db));
    story.want([]);
    expect(story.world.sandboxes.size).toBe(becomes === 'ended' ? 0 : 1);
    expect(story.ports.asked('removePodData')).toHaveLength(becomes === 'ended' ? 1 : 0);
  });

  test('with our mark that a survey found is terminated', () => {
    const story = nodeStory({ before: sandboxOf(), held: ['surveyDisk'] });
    story.list(story.world.observed(db));
    story.want([]);
    expect(story.world.sandboxes.size).toBe(1);
    story.ports.answer('surveyDisk', { left: [{ ...identity, isMarked: true }], foreign: [] });
    expect(story.world.sandboxes.size).toBe(0);
  });
});

test('an unwanted pod is removed from disk once no other agent has a sandbox of its UID any more', () => {
  const story = nodeStory({ before: sandboxOf('/other@node'), left: [identity] });
  story.list(story.world.observed(db));
  story.want([]);
  expect(story.ports.asked('removePodData')).toEqual([]);
  story.world.sandboxes.clear();
  story.list(story.world.observed(db));
  expect(story.ports.asked('removePodData')).toHaveLength(1);
});

test('an unwanted pod is recorded once, however often it is found on disk, while another agent has a sandbox of its UID', () => {
  const left = [{ ...identity, isMarked: true }];
  const story = nodeStory({ before: sandboxOf('/other@node'), left, held: ['surveyDisk', 'removePodData'] });
  story.list(story.world.observed(db));
  story.want([]);
  for (let minute = 0; minute < 3; minute += 1) {
    story.ports.answer('surveyDisk', { left, foreign: [] });
    story.ports.advance(60_000);
  }
  expect(story.context().left).toEqual(left);
  story.world.sandboxes.clear();
  story.list(story.world.observed(db));
  expect(story.ports.asked('removePodData')).toHaveLength(1);
});

test('a pod that was taken over retains the sandbox with the mark of its former agent, even after a restart', () => {
  const story = nodeStory({
    before: sandboxOf('/other@node'),
    left: [{ ...identity, isMarked: true, isTakenOver: true }],
  });
  story.list(story.world.observed(db));
  story.want([db]);
  expect(story.world.sandboxes.size).toBe(1);
  expect(story.ports.asked('inspectSandbox')).toHaveLength(1);
  story.want([]);
  expect(story.world.sandboxes.size).toBe(0);
});

describe('C10: a pod known only from the runtime', () => {
  const graceOf = (endsAll: boolean, podGraceSeconds?: number) => {
    const before = (world: FakeWorld) => {
      world.sandbox(db);
      world.run(db, 'main');
    };
    const story = nodeStory({ before, endsAll });
    const { containers, ...pod } = story.world.observed(db);
    const noted = podGraceSeconds === undefined ? {} : { podGraceSeconds };
    story.list({ ...pod, containers: containers.map((container) => ({ ...container, ...noted })) });
    story.want([]);
    return story.ports.asked('stopContainer')[0]?.graceSeconds;
  };

  test.each([
    ['an orphan has one second, whatever its own grace period', false, 45, 1],
    ['a pod of a node that terminates all its pods has its own grace period', true, 45, 45],
    ['such a pod without a recorded grace period has the default', true, undefined, 30],
  ])('%s', (_what, endsAll, noted, expected) => {
    expect(graceOf(endsAll, noted)).toBe(expected);
  });
});

test('a wanted pod that terminates before it has started has the resources that were admitted for it', () => {
  const ofCpu = (cpu: string) =>
    namedPod('db', { containers: [aContainer({ resources: { requests: { cpu }, limits: { cpu, memory: '1Gi' } } })] });
  const admitted = ofCpu('1');
  const allocation = { ...requestsOf(admitted), resources: resourcesOf(admitted) };
  const story = nodeStory({
    sources: ['file', 'http'],
    held: ['stopContainer'],
    allocations: { 'db-uid': allocation },
    before: (world) => {
      world.sandbox(admitted);
      world.run(admitted, 'main');
    },
  });
  story.want([ofCpu('2')]);
  story.list(story.world.observed(db));
  story.drain();
  expect(story.pod('db-uid')).toMatch(/^terminating/);
  expect(story.podRef('db-uid')?.getSnapshot().context.allocated).toEqual(admitted);
});

describe('pods of other agents', () => {
  const directory = { ...identity, why: 'no mark', directory: '/pods/db-uid', sandboxes: [] };

  test('are listed once, with directory and sandboxes, by the names at the runtime', () => {
    const foreign = [{ ...directory, name: 'db-uid', namespace: 'unknown' }];
    const story = nodeStory({ before: sandboxOf('/other@node'), foreign, held: ['surveyDisk'] });
    story.list(story.world.observed(db));
    story.want([]);
    const [sandbox] = [...story.world.sandboxes.keys()];
    expect(foreignPods(story.context())).toEqual([{ ...directory, sandboxes: [sandbox] }]);
    expect(story.view().foreign).toEqual(foreignPods(story.context()));
  });

  test('are those of the last survey, and never wanted ones', () => {
    const story = nodeStory({ held: ['surveyDisk'], foreign: [directory] });
    story.list();
    story.want([db]);
    expect(foreignPods(story.context())).toEqual([]);
    const other = { ...directory, uid: 'other-uid' };
    story.ports.answer('surveyDisk', { left: [], foreign: [directory, other] });
    expect(foreignPods(story.context())).toEqual([other]);
    story.ports.advance(60_000);
    expect(story.ports.asked('surveyDisk').at(-1)).toMatchObject({ foreign: [directory, other] });
    const third = { ...directory, uid: 'third-uid' };
    story.ports.answer('surveyDisk', { left: [], foreign: [third], removedUids: ['other-uid'] });
    expect(foreignPods(story.context())).toEqual([third]);
  });
});
