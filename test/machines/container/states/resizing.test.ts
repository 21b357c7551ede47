import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../../kubernetes/api/schema/container.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { aContainer, aPod } from '../../../kubernetes/fixtures.ts';
import { containerStory } from '../../support/containerStory.ts';

const sized = (cpu: string, more: Partial<Container> = {}) =>
  aPod({ containers: [aContainer({ resources: { requests: { cpu }, limits: { cpu } }, ...more })] });
const update = (pod = sized('2')) => ({ type: 'container.update', pod, volumes: {} }) as const;

/** A container that runs with one cpu, and is to have two while its resize is held up. */
function resizing(more: Partial<Container> = {}) {
  const story = containerStory({ pod: sized('1', more) });
  story.begin();
  story.ports.hold('resizeContainer');
  story.send(update(sized('2', more)));
  return story;
}

describe('C25: a container that is resized', () => {
  test('waits for the runtime in a state of its own, continues to run, and reports its size to its pod', () => {
    const story = resizing();
    expect(story.state()).toBe('running.resizing');
    expect(story.context().size).toMatchObject({ cpuLimit: 1_000 });
    story.ports.answer('resizeContainer');
    expect(story.state()).toBe('running.steady');
    expect(story.context().size).toMatchObject({ cpuLimit: 2_000 });
    expect(story.ports.asked('stopContainer')).toEqual([]);
  });

  test('reports its size before its start has returned, because it may run with it by then', () => {
    const story = containerStory({ pod: sized('1') });
    story.ports.failNext('startContainer', 'RuntimeUnavailable');
    story.begin();
    story.send(update());
    expect(story.state()).toBe('launching.awaitingRetry');
    expect(story.sizes()).toEqual([expect.objectContaining({ cpuLimit: 1_000 })]);
  });

  test('is resized at once while its startup probe has not passed, and then continues its startup', () => {
    const startupProbe = { exec: { command: ['up'] } };
    const story = containerStory({ pod: sized('1', { startupProbe }) });
    story.begin();
    expect(story.state()).toBe('running.startingUp');
    story.ports.hold('resizeContainer');
    story.send(update(sized('2', { startupProbe })));
    expect(story.state()).toBe('running.resizing');
    story.ports.answer('resizeContainer');
    expect(story.state()).toBe('running.startingUp');
    expect(story.context().size).toMatchObject({ cpuLimit: 2_000 });
    story.ports.hold('resizeContainer');
    story.send(update(sized('3', { startupProbe })));
    story.send({ type: 'probe.succeeded', kind: 'startup', id: story.context().id ?? '', at: 0 });
    expect(story.state()).toBe('running.resizing');
    story.ports.answer('resizeContainer');
    expect(story.state()).toBe('running.steady');
    expect(story.context().size).toMatchObject({ cpuLimit: 3_000 });
  });

  test.each([
    ['NotRequired', 1],
    ['RestartContainer', 0],
  ] as const)(
    'is resized once more if its size was not persisted, unless that required a restart: %s',
    (restartPolicy, asked) => {
      const pod = sized('2', { resizePolicy: [{ resourceName: 'cpu', restartPolicy }] });
      const story = containerStory({ pod, before: (world) => void world.run(pod, 'main', { id: 'c1' }) });
      expect(story.state()).toBe('running.steady');
      expect(story.ports.asked('resizeContainer')).toHaveLength(asked);
      expect(story.context().size).toMatchObject({ cpuLimit: 2_000 });
      expect(story.ports.asked('stopContainer')).toEqual([]);
    },
  );

  test('is resized as an init container, too', () => {
    const initWith = (cpu: string) =>
      aPod({ initContainers: [aContainer({ name: 'init', resources: { requests: { cpu }, limits: { cpu } } })] });
    const story = containerStory({ pod: initWith('1'), name: 'init', role: 'init' });
    story.begin();
    expect(story.state()).toBe('running.steady');
    story.ports.hold('resizeContainer');
    story.send(update(initWith('2')));
    expect(story.state()).toBe('running.resizing');
    story.ports.answer('resizeContainer');
    expect(story.state()).toBe('running.steady');
    expect(story.context().size).toMatchObject({ cpuLimit: 2_000 });
    expect(story.ports.asked('stopContainer')).toEqual([]);
  });

  test('applies further changes after the present resize has completed', () => {
    const story = resizing();
    story.send(update(sized('3')));
    story.ports.answer('resizeContainer', { size: { cpuRequest: 2_000, cpuLimit: 2_000, memoryLimit: 0 } });
    expect(story.state()).toBe('running.resizing');
    story.ports.answer('resizeContainer');
    expect(story.context().size).toMatchObject({ cpuLimit: 3_000 });
  });

  test('reports a failure, and retries after 10 s, or at once with different resources', () => {
    const story = resizing();
    story.told();
    story.ports.fail('resizeContainer', 'ResizePodInPlaceError', 'no such cgroup');
    expect(story.state()).toBe('running.awaitingResize');
    const resources = '{"requests":{"cpu":"2"},"limits":{"cpu":"2"}}';
    expect(story.told()).toEqual([
      `Warning ResizeError: Pod resize error: {"containers":[{"name":"main","resources":${resources}}],"generation":0,"error":"no such cgroup"}`,
    ]);
    story.ports.advance(9_999);
    expect(story.state()).toBe('running.awaitingResize');
    story.ports.advance(1);
    expect(story.state()).toBe('running.resizing');
    expect(story.told()).toEqual([]);
    story.ports.fail('resizeContainer', 'ResizePodInPlaceError');
    story.send(update(sized('1')));
    expect(story.state()).toBe('running.steady');
  });

  test('the same error is reported once, also across a restart of the agent, and a different one again', () => {
    const story = resizing();
    story.told();
    const fail = (message: string) => {
      story.ports.fail('resizeContainer', 'ResizePodInPlaceError', message);
      story.ports.advance(10_000);
      return story.told();
    };
    expect(fail('no such cgroup')).toEqual([expect.stringMatching(/^Warning ResizeError: .*no such cgroup/)]);
    expect(fail('no such cgroup')).toEqual([]);
    expect(fail('busy')).toEqual([expect.stringMatching(/^Warning ResizeError: .*busy/)]);
    story.send(update(sized('3')));
    // A different size is a different resize.
    expect(fail('busy')).toEqual([expect.stringMatching(/^Warning ResizeError: .*busy/)]);
    expect(fail('busy')).toEqual([]);

    const pod = sized('2');
    const conditions = [{ type: 'PodResizeInProgress', status: 'True' as const, reason: 'Error', message: 'busy' }];
    const adopted = containerStory({
      pod: { ...pod, status: { conditions } },
      before: (world) => void world.run(pod, 'main', { id: 'c1' }),
      hold: ['resizeContainer'],
    });
    expect(adopted.state()).toBe('running.resizing');
    adopted.ports.fail('resizeContainer', 'ResizePodInPlaceError', 'busy');
    expect(adopted.told().filter((event) => event.includes('ResizeError'))).toEqual([]);
    adopted.ports.advance(10_000);
    adopted.ports.fail('resizeContainer', 'ResizePodInPlaceError', 'gone');
    expect(adopted.told().filter((event) => event.includes('ResizeError'))).toHaveLength(1);
  });

  test('is restarted for a different memory request if its policy requires that, and resized in place otherwise', () => {
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
      expect(story.ports.asked('resizeContainer')).toHaveLength(1 - restarts);
      expect(story.context()).toMatchObject({ attempt: restarts, size: { memoryRequest: 32 * 2 ** 20 } });
    }
  });

  test('retries on the return of the runtime if that was not available', () => {
    const story = resizing();
    story.ports.fail('resizeContainer', 'RuntimeUnavailable');
    story.send({ type: 'runtime.returned' });
    expect(story.state()).toBe('running.resizing');
  });

  test('may exit or be stopped meanwhile', () => {
    const ended = resizing();
    ended.die(0);
    expect(ended.state()).not.toMatch(/resiz/i);
    const stopped = resizing();
    stopped.ports.hold('stopContainer');
    stopped.send({ type: 'container.stop' });
    expect(stopped.state()).toBe('stopping.killing.graceful');
  });

  test('is stopped under the policy RestartContainer, and its next run has the new size from the start', () => {
    const story = resizing({ resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] });
    expect(story.ports.asked('resizeContainer')).toEqual([]);
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
    // A kubelet counts this start, because a run had ended before it: the next crash waits for 10 s.
    expect(story.context()).toMatchObject({ attempt: 2, crashDelayMs: 0 });
    story.die(1);
    expect(story.state()).toBe('ended.backingOff');
    expect(story.context()).toMatchObject({ crashDelayMs: 10_000 });
  });
});
