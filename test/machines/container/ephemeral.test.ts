import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { podStory } from '../support/podStory.ts';

const withDebugger = (pod: Pod): Pod => ({
  ...pod,
  spec: { ...pod.spec, ephemeralContainers: [{ ...aContainer({ name: 'debug' }), targetContainerName: 'main' }] },
});

describe('an ephemeral container', () => {
  test('starts in the present sandbox when an update adds it, and affects nothing else', () => {
    const story = podStory();
    story.send({ type: 'pod.update', pod: withDebugger(aPod()) });
    expect(story.containers()).toEqual({ main: 'running.steady', debug: 'running.steady' });
    expect(story.ports.asked('runSandbox')).toHaveLength(1);
    expect(story.ports.asked('createContainer').at(-1)).toMatchObject({
      container: 'debug',
      sandbox: { id: 'sandbox-uid-1-0' },
    });
    expect(story.ports.asked('stopContainer')).toEqual([]);
  });

  test.each([0, 1])('is never restarted, and its exit code %i does not affect its pod', (exitCode) => {
    const story = podStory();
    story.send({ type: 'pod.update', pod: withDebugger(aPod()) });
    story.die('debug-0-0', exitCode);
    story.ports.advance(600_000);
    expect(story.state()).toBe('active.running.steady');
    expect(story.containers()).toMatchObject({ debug: exitCode === 0 ? 'ended.succeeded' : 'ended.failed' });
    expect(story.ports.asked('createContainer')).toHaveLength(2);
  });

  test('may start before the init containers have completed', () => {
    const pod = aPod({ initContainers: [aContainer({ name: 'setup' })] });
    const story = podStory({ pod });
    story.send({ type: 'pod.update', pod: withDebugger(pod) });
    expect(story.state()).toBe('active.initializing.steady');
    expect(story.containers()).toEqual({ setup: 'running.steady', main: 'pending.waiting', debug: 'running.steady' });
    story.die('setup-0-0', 0);
    expect(story.containers()).toMatchObject({ main: 'running.steady' });
  });

  test('does not prevent its pod from completing, and is stopped with it', () => {
    const pod = aPod({ restartPolicy: 'Never' });
    const story = podStory({ pod });
    story.send({ type: 'pod.update', pod: withDebugger(pod) });
    story.ports.hold('stopContainer');
    story.die('main-0-0', 0);
    expect(story.ports.asked('stopContainer')).toMatchObject([{ id: 'debug-0-0' }]);
    story.ports.answer('stopContainer');
    expect(story.state()).toBe('finished');
  });

  test('is not started again in a new sandbox, unless it never ran', () => {
    const story = podStory();
    story.send({ type: 'pod.update', pod: withDebugger(aPod()) });
    story.world.loseSandbox('sandbox-uid-1-0');
    story.observe();
    expect(story.state()).toBe('active.running.steady');
    expect(story.containers()).toEqual({ main: 'running.steady', debug: 'ended.failed' });
    const late = podStory({ held: ['runSandbox'] });
    late.send({ type: 'pod.update', pod: withDebugger(aPod()) });
    late.ports.answer('runSandbox');
    expect(late.containers()).toEqual({ main: 'running.steady', debug: 'running.steady' });
  });

  test('is adopted after a restart of the agent', () => {
    const pod = withDebugger(aPod());
    const story = podStory({
      pod,
      before: (world) => {
        world.sandbox(pod);
        for (const name of ['main', 'debug']) world.run(pod, name, { id: `${name}-0-0` });
      },
    });
    expect(story.containers()).toEqual({ main: 'running.steady', debug: 'running.steady' });
    expect(story.ports.asked('createContainer')).toEqual([]);
  });
});
