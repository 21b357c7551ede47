import { expect, test } from '@jest/globals';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { containerStory } from '../support/containerStory.ts';

const preStop = { exec: { command: ['true'] } };
const withPreStop = aPod({ containers: [aContainer({ lifecycle: { preStop } })] });

test('C10: the hook of a stop without a deadline runs until the deadline of a later stop', () => {
  const story = containerStory({ pod: withPreStop });
  story.begin();
  story.ports.hold('runHook', 'stopContainer');
  story.stop();
  expect(story.state()).toBe('stopping.runningPreStop.unbounded');
  story.stop(10);
  expect(story.ports.pending()).toEqual(['runHook']);
  const deadline = story.ports.now + 10_000;
  story.ports.advance(6_000);
  story.ports.answer('runHook', { deadline: deadline + 20_000, failure: null });
  expect(story.ports.asked('stopContainer')).toMatchObject([{ deadline }]);
});

test('C11: a container that waits runs its hook at once, and is signalled at its turn or the deadline', () => {
  const waiting = () => {
    const story = containerStory({ pod: withPreStop, role: 'sidecar' });
    story.begin();
    story.ports.hold('runHook', 'stopContainer');
    const deadline = story.ports.now + 30_000;
    story.send({ type: 'container.stop', deadline, awaitsOtherContainers: true });
    expect(story.ports.pending()).toEqual(['runHook']);
    story.ports.answer('runHook');
    expect(story.state()).toBe('stopping.awaitingOtherContainers');
    return { story, deadline };
  };
  const stopping = waiting();
  stopping.story.send({ type: 'container.stop', deadline: stopping.deadline });
  expect(stopping.story.ports.asked('stopContainer')).toMatchObject([{ deadline: stopping.deadline }]);
  stopping.story.send({ type: 'container.stop', deadline: stopping.deadline, awaitsOtherContainers: true });
  expect(stopping.story.state()).toBe('stopping.killing.graceful');
  const late = waiting();
  late.story.send({ type: 'container.stop', deadline: late.deadline - 20_000, awaitsOtherContainers: true });
  late.story.ports.advance(9_999);
  expect(late.story.state()).toBe('stopping.awaitingOtherContainers');
  late.story.ports.advance(1);
  expect(late.story.state()).toBe('stopping.killing.overdue');
});

test('C11: a container waits no longer than its grace period, although the clock was set back during its hook', () => {
  const story = containerStory({ pod: withPreStop, role: 'sidecar' });
  story.begin();
  story.ports.hold('runHook', 'stopContainer');
  const deadline = story.ports.now + 30_000;
  story.send({ type: 'container.stop', deadline, graceSeconds: 30, awaitsOtherContainers: true });
  story.ports.advance(10_000);
  story.ports.setClock(-3_600_000);
  story.ports.answer('runHook', { deadline, graceSeconds: 20, failure: null });
  expect([story.state(), story.ports.untilNext]).toEqual(['stopping.awaitingOtherContainers', 20_000]);
  story.ports.advance(20_000);
  expect(story.ports.asked('stopContainer')).toMatchObject([{ graceSeconds: 0 }]);
});

test('a container that an update removed is removed with its earlier runs, however often the runtime fails', () => {
  const story = containerStory();
  story.begin();
  story.die(1);
  story.ports.failNext('removeContainers', 'RuntimeUnavailable');
  story.send({ type: 'container.stop', removesContainer: true });
  expect(story.state()).toBe('removing.awaitingRetry');
  story.ports.advance(1_000);
  expect(story.state()).toBe('removed');
  expect(story.lifecycles().slice(-2)).toEqual(['stopped', 'removed']);
  expect([...story.world.containers.keys()]).toEqual([]);
});
