import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../pod/schema/pod.ts';
import { aContainer, aPod } from '../pod/fixtures.ts';
import { podStory } from './support/podStory.ts';

const sized = (cpu: string): Pod =>
  aPod({ containers: [aContainer({ resources: { requests: { cpu }, limits: { cpu } } })] });
const update = (pod: Pod) => ({ type: 'pod.update', pod }) as const;

/** A pod that runs with one cpu and is to have two: its container has them, its cgroup is being fitted. */
function fitting() {
  const story = podStory({ pod: sized('1'), held: ['fitPod'] });
  story.send(update(sized('2')));
  return story;
}

describe('C25: the cgroup of a pod that is resized', () => {
  test('is fitted once its containers have their sizes', () => {
    const story = fitting();
    expect(story.state()).toBe('active.running.fitting');
    expect(story.context().sizes).toMatchObject({ main: { cpuLimit: 2_000 } });
    story.ports.answer('fitPod');
    expect(story.state()).toBe('active.running.steady');
    expect(story.context().fitted).toEqual(sized('2'));
  });

  test('shows the pod’s own resources as it has them, not as it is to have them', () => {
    const whole = (cpu: string) => aPod({ ...sized('1').spec, resources: { limits: { cpu } } });
    const story = podStory({ pod: whole('2'), held: ['fitPod'] });
    story.send(update(whole('3')));
    expect(story.state()).toBe('active.running.fitting');
    expect(story.view()).toMatchObject({
      applied: { limits: { cpu: '2' } },
      pod: { spec: { resources: { limits: { cpu: '3' } } } },
    });
    story.ports.answer('fitPod');
    expect(story.view().applied).toEqual({ limits: { cpu: '3' } });
  });

  test('is fitted again to what is admitted meanwhile', () => {
    const story = fitting();
    story.send(update(sized('3')));
    story.ports.answer('fitPod');
    expect(story.ports.asked('fitPod').map(({ pod }) => pod)).toEqual([sized('2'), sized('3')]);
    expect(story.context().fitted).toEqual(sized('3'));
  });

  test('is fitted after a failure in 10 s, or to other resources at once', () => {
    const story = fitting();
    story.ports.fail('fitPod', 'ResizePodInPlaceError');
    expect(story.state()).toBe('active.running.awaitingFit');
    story.send(update(sized('3')));
    expect(story.state()).toBe('active.running.fitting');
    story.ports.fail('fitPod', 'ResizePodInPlaceError');
    story.ports.advance(10_000);
    expect(story.state()).toBe('active.running.fitting');
  });
});
