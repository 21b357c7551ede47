import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { aContainer, aPod } from '../../../kubernetes/fixtures.ts';
import { containerStory } from '../../support/containerStory.ts';

const sized = (cpu: string, more: Partial<Container> = {}) =>
  aPod({ containers: [aContainer({ resources: { requests: { cpu }, limits: { cpu } }, ...more })] });
const update = (pod = sized('2')) => ({ type: 'container.update', pod, volumes: {} }) as const;
const size = { cpuRequest: 2_000, cpuLimit: 2_000, memoryLimit: 0 };

/** Creates a running container with one CPU. */
function runningContainer(more: Partial<Container> = {}) {
  const story = containerStory({ pod: sized('1', more) });
  story.begin();
  return story;
}

describe('C25: a container that is resized', () => {
  test('continues to run with its old size until its pod has resized it', () => {
    const story = runningContainer();
    story.send(update());
    expect(story.state()).toBe('running.steady');
    expect(story.context().size).toMatchObject({ cpuLimit: 1_000 });
    story.send({ type: 'container.resized', id: story.context().id ?? '', size });
    expect(story.context().size).toEqual(size);
    expect(story.ports.asked('stopContainer')).toEqual([]);
  });

  test('ignores the resize of an earlier run', () => {
    const story = runningContainer();
    story.send({ type: 'container.resized', id: 'another', size });
    expect(story.context().size).toMatchObject({ cpuLimit: 1_000 });
  });

  test('reports its size before its start has returned, because it may run with it by then', () => {
    const story = containerStory({ pod: sized('1') });
    story.ports.failNext('startContainer', 'RuntimeUnavailable');
    story.begin();
    story.send(update());
    expect(story.state()).toBe('launching.awaitingRetry');
    expect(story.sizes()).toEqual([expect.objectContaining({ cpuLimit: 1_000 })]);
  });

  test.each([
    ['NotRequired', 0],
    ['RestartContainer', 2_000],
  ] as const)(
    'has an unknown size if none was persisted, unless that would require a restart: %s',
    (restartPolicy, cpuLimit) => {
      const pod = sized('2', { resizePolicy: [{ resourceName: 'cpu', restartPolicy }] });
      const story = containerStory({ pod, before: (world) => void world.run(pod, 'main', { id: 'c1' }) });
      expect(story.state()).toBe('running.steady');
      expect(story.context().size).toMatchObject({ cpuLimit });
      expect(story.ports.asked('stopContainer')).toEqual([]);
    },
  );

  test('is restarted for a different memory request only if its policy requires that', () => {
    const asking = (memory: string, restartPolicy: 'NotRequired' | 'RestartContainer'): Pod =>
      aPod({
        containers: [
          aContainer({
            resources: { requests: { memory }, limits: { memory: '64Mi' } },
            resizePolicy: [{ resourceName: 'memory', restartPolicy }],
          }),
        ],
      });
    for (const [policy, restarts] of [
      ['RestartContainer', 1],
      ['NotRequired', 0],
    ] as const) {
      const story = containerStory({ pod: asking('16Mi', policy) });
      story.begin();
      story.send(update(asking('32Mi', policy)));
      expect(story.state()).toBe('running.steady');
      expect(story.ports.asked('stopContainer')).toHaveLength(restarts);
      expect(story.context()).toMatchObject({ attempt: restarts });
    }
  });

  test('is stopped under the policy RestartContainer, and its next run has the new size from the start', () => {
    const story = runningContainer({ resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] });
    story.send(update(sized('2', { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] })));
    expect(story.ports.asked('stopContainer')).toHaveLength(1);
    expect(story.state()).toBe('running.steady');
    expect(story.context()).toMatchObject({ attempt: 1, size: { cpuLimit: 2_000 } });
  });

  test('C6, C7: remains the same container, and its back-off starts over', () => {
    const story = containerStory({ pod: sized('1') });
    story.begin();
    story.die(1);
    story.die(1);
    expect(story.state()).toBe('ended.backingOff');
    story.send(update());
    expect(story.state()).toBe('running.steady');
    // The kubelet counts this start as a restart, because the container had run before. The next back-off is therefore
    // 10 s.
    expect(story.context()).toMatchObject({ attempt: 2, crashDelayMs: 0 });
    story.die(1);
    expect(story.state()).toBe('ended.backingOff');
    expect(story.context()).toMatchObject({ crashDelayMs: 10_000 });
  });
});
