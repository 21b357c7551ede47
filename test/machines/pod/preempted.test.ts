import { describe, expect, test } from '@jest/globals';
import { preemptionOf } from '../../../machines/node/pods/endings.ts';
import type { PortName } from '../../../machines/shared/ports.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { namedPod, nodeStory } from '../support/nodeStory.ts';
import { podStory } from '../support/podStory.ts';

const pod = aPod({ terminationGracePeriodSeconds: 7, volumes: [{ name: 'data', emptyDir: {} }] });

describe('C24: a pod that makes room for a critical one', () => {
  test.each<[string, PortName[]]>([
    ['active.running.steady', []],
    ['preparing.creatingDirectory', ['preparePod']],
    ['preparing.mountingVolumes', ['mountVolume']],
    ['sandboxing.creatingSandbox.creating', ['runSandbox']],
  ])('terminates from %s, releases its resources, and remains until it is removed', (state, held) => {
    const story = podStory({ pod, held });
    expect(story.state()).toBe(state);
    story.send({ type: 'pod.terminate', termination: preemptionOf(pod, story.ports.now) });
    for (const name of held) if (story.ports.pending().includes(name)) story.ports.answer(name);
    expect(story.state()).toBe('finished');
    expect(story.allocated()).toBeNull();
    expect(story.view()).toMatchObject({
      hasEnded: true,
      termination: { reason: 'Preempting', phase: 'Failed', message: 'Preempted in order to admit critical pod' },
    });
    story.terminate();
    expect(story.state()).toBe('terminated');
    expect(story.view().termination).toMatchObject({ reason: 'Preempting', phase: 'Failed' });
  });

  test('has its own grace period, which a removal can shorten and after which nothing remains', () => {
    const story = podStory({ pod, held: ['stopContainer'] });
    const at = story.ports.now;
    story.send({ type: 'pod.terminate', termination: preemptionOf(pod, at) });
    expect(story.context().termination).toMatchObject({ graceSeconds: 7, at, staysUntilUnlisted: true });
    story.terminate(2);
    expect(story.context().termination).toMatchObject({ reason: 'Preempting', graceSeconds: 2 });
    expect(story.context().termination?.staysUntilUnlisted).toBeUndefined();
  });

  test('reports that it takes longer than one and a half grace periods, at least 10 s; any other pod does not', () => {
    const story = podStory({
      pod: aPod({ terminationGracePeriodSeconds: 30 }),
      held: ['stopContainer', 'stopSandboxes'],
    });
    const events = () => story.told().filter((sentence) => sentence.includes('ExceededGracePeriod'));
    story.send({ type: 'pod.terminate', termination: preemptionOf(story.context().allocated, story.ports.now) });
    story.ports.advance(44_999);
    expect(events()).toEqual([]);
    story.ports.advance(1);
    expect(events()).toEqual([
      'Warning ExceededGracePeriod: Container runtime did not kill the pod within specified grace period.',
    ]);
    const brief = aPod({ terminationGracePeriodSeconds: 1 });
    const short = podStory({ pod: brief, held: ['stopSandboxes'] });
    short.send({ type: 'pod.terminate', termination: preemptionOf(brief, short.ports.now) });
    short.ports.advance(9_999);
    expect(short.told().join()).not.toContain('ExceededGracePeriod');
    short.ports.advance(1);
    expect(short.told().join()).toContain('ExceededGracePeriod');
    for (const held of ['stopContainer', 'runSandbox'] as const) {
      const removed = podStory({ pod: { ...pod, spec: { ...pod.spec, activeDeadlineSeconds: 60 } }, held: [held] });
      removed.terminate();
      removed.ports.advance(600_000);
      expect(removed.told().join()).not.toContain('ExceededGracePeriod');
    }
  });

  test('does not report it because its active deadline passed at the start of its termination', () => {
    for (const held of ['stopContainer', 'stopSandboxes'] as const) {
      const story = podStory({ pod, held: [held] });
      story.send({ type: 'pod.terminate', termination: preemptionOf(pod, story.ports.now) });
      story.send({ type: 'pod.deadlineExceeded', deadline: story.ports.now, at: story.ports.now });
      expect(story.told().join()).not.toContain('ExceededGracePeriod');
    }
  });

  test('has a time limit that is independent of the clock', () => {
    for (const by of [-3_600_000, 3_600_000]) {
      const story = podStory({ pod, held: ['stopContainer'] });
      story.send({ type: 'pod.terminate', termination: preemptionOf(pod, story.ports.now) });
      story.ports.setClock(by);
      story.ports.advance(9_999);
      expect(story.told().filter((event) => event.includes('ExceededGracePeriod'))).toEqual([]);
      story.ports.advance(1);
      expect(story.told().filter((event) => event.includes('ExceededGracePeriod'))).toHaveLength(1);
    }
  });

  test('remains preempted during the creation of its sandbox, and reports once that it takes too long', () => {
    const story = podStory({ pod, held: ['runSandbox'] });
    story.send({ type: 'pod.terminate', termination: preemptionOf(pod, story.ports.now) });
    story.told();
    // The activeDeadlineSeconds of the pod had expired when the preemption began, but the event arrives only now.
    story.send({ type: 'pod.deadlineExceeded', deadline: story.ports.now, at: story.ports.now });
    expect(story.told()).toEqual([]);
    story.ports.advance(60_000);
    expect(story.told()).toEqual([
      'Warning ExceededGracePeriod: Container runtime did not kill the pod within specified grace period.',
    ]);
    story.ports.answer('runSandbox');
    expect(story.told().join()).not.toContain('ExceededGracePeriod');
    expect(story.state()).toBe('finished');
    expect(story.view().termination).toMatchObject({ reason: 'Preempting' });
  });

  test('is removed if it is being removed already', () => {
    const story = podStory({ pod, held: ['removePodData'] });
    story.terminate();
    story.send({ type: 'pod.terminate', termination: preemptionOf(pod, story.ports.now) });
    expect(story.view().termination?.reason).toBe('Removed');
    story.ports.answer('removePodData');
    expect(story.state()).toBe('terminated');
  });
});

describe('C24: a node without room for a critical pod', () => {
  const asking = (name: string, cpu: string, priority?: number) =>
    namedPod(name, {
      containers: [aContainer({ resources: { requests: { cpu } } })],
      ...(priority === undefined ? {} : { priority }),
    });

  test('terminates the pods in its way at the time of the last fact, and starts it when they have terminated', () => {
    const node = nodeStory({ held: ['stopContainer'] });
    const [a, b] = [asking('a', '3'), asking('b', '1')];
    node.want([a, b]);
    node.list();
    expect([node.pod('a-uid'), node.pod('b-uid')]).toEqual(['active.running.steady', 'active.running.steady']);
    node.want([a, b, asking('important', '2', 2_000_000_000)]);
    expect(node.pod('important-uid')).toBe('admitting');
    expect(node.podRef('a-uid')?.getSnapshot().context.termination).toMatchObject({
      reason: 'Preempting',
      at: node.ports.now,
    });
    expect(node.pod('b-uid')).toBe('active.running.steady');
    node.ports.answer('stopContainer');
    expect([node.pod('a-uid'), node.pod('important-uid')]).toEqual(['finished', 'active.running.steady']);
  });

  test('ignores an unknown pod', () => {
    const node = nodeStory();
    node.want([]);
    node.list();
    node.send({ type: 'admission.preempting', uids: ['nobody'], resource: 'cpu' });
    expect(node.state()).toBe('running');
  });
});
