import { expect, test } from '@jest/globals';
import type { ObservedContainer } from '../../../kubernetes/lifecycle/observed.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { type ContainerStory, containerStory } from '../support/containerStory.ts';

/** Gives the container a different ID in the runtime. */
const rename = (story: ContainerStory): ObservedContainer => story.world.rename(story.context().id ?? '', 'other');

const begun = (options?: Parameters<typeof containerStory>[0]) => {
  const story = containerStory(options);
  story.begin();
  return story;
};

test('a container continues under the new ID that a list shows, and the old one is ignored', () => {
  const story = begun();
  const former = story.context().id ?? '';
  rename(story);
  story.observe('other');
  story.observe(former);
  expect([story.state(), story.context().id]).toEqual(['running.steady', 'other']);
  expect(story.ports.asked('inspectContainer')).toEqual([]);
  expect(story.view()).toMatchObject({ containerId: 'other', restartCount: 0, ready: true, started: true });
});

test.each([
  ['another number', { attempt: 1 }],
  ['another time', { createdAt: 1 }],
])('a container is a different one if it was created with %s', (_, more) => {
  const story = begun();
  const former = story.context().id;
  const container = { ...rename(story), ...more };
  story.send({ type: 'runtime.containerObserved', id: 'other', container });
  expect(story.context().id).toBe(former);
});

test('a container continues under the new ID that the runtime reports on a query', () => {
  const story = begun();
  const former = story.context().id ?? '';
  story.ports.hold('inspectContainer');
  story.send({ type: 'runtime.containerObserved', id: former, container: null });
  expect(story.state()).toBe('running.verifying');
  rename(story);
  story.ports.answer('inspectContainer');
  expect([story.state(), story.context().id]).toEqual(['running.steady', 'other']);
});

test('a container has exited if it has done so under the new ID before a list shows it', () => {
  const story = begun();
  rename(story);
  story.world.end('other', 3);
  story.observe('other');
  expect(story.view()).toMatchObject({ restartCount: 1 });
  expect(story.context().earlierRun).toMatchObject({ containerId: 'other', exitCode: 3 });
});

test('a container is stopped under its present ID', () => {
  const story = begun({ hold: ['stopContainer'] });
  story.stop(30);
  story.ports.fail('stopContainer', 'RuntimeUnavailable', 'gone', { graceSeconds: 20 });
  rename(story);
  story.observe('other');
  story.ports.advance(story.ports.untilNext ?? 0);
  expect(story.ports.asked('stopContainer').at(-1)).toMatchObject({ id: 'other', graceSeconds: expect.any(Number) });
  story.ports.answer('stopContainer');
  expect([story.state(), story.context().run?.containerId]).toEqual(['stopped', 'other']);
});

test('a container takes the ID in the response to its start', () => {
  const story = begun({ hold: ['startContainer'] });
  rename(story);
  story.world.change('other', { state: 'running', startedAt: 1 });
  story.ports.answer('startContainer');
  expect([story.state(), story.context().id]).toEqual(['running.steady', 'other']);
});

test('an earlier run is reported with its new ID if its exit matches', () => {
  const story = begun({ pod: aPod({ containers: [aContainer()] }) });
  story.die(3);
  const { earlierRun } = story.context();
  const [dead] = [...story.world.containers.values()].filter(({ state }) => state === 'exited');
  if (earlierRun === undefined || dead === undefined) throw new Error('it has not ended');
  const show = (more: object) =>
    story.send({ type: 'runtime.containerObserved', id: 'other', container: { ...dead, id: 'other', ...more } });
  show({ finishedAt: 1 });
  expect(story.context().earlierRun).toEqual(earlierRun);
  show({});
  expect(story.context().earlierRun).toEqual({ ...earlierRun, containerId: 'other' });
});
