import { describe, expect, test } from '@jest/globals';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { nodeStory } from '../support/nodeStory.ts';
import { podStory } from '../support/podStory.ts';

const volumes = [{ name: 'data', emptyDir: {} }];
const reasons = (events: readonly string[]) => events.map((sentence) => sentence.split(':')[0]);

describe('the events of a pod that', () => {
  test('starts are only those of its container', () => {
    const story = podStory({ pod: aPod({ volumes }) });
    expect(reasons(story.told())).toEqual(['Normal Pulled', 'Normal Created', 'Normal Started']);
  });

  test('is rejected by the node', () => {
    const greedy = aPod({ containers: [aContainer({ resources: { requests: { cpu: '5' } } })] });
    const story = podStory({ pod: greedy });
    const { reason, message } = story.view().refusal ?? {};
    expect(story.told()).toEqual([`Warning ${reason}: ${message}`]);
  });

  test('has no directory because of an error', () => {
    const story = podStory({ held: ['preparePod'] });
    story.ports.fail('preparePod', 'InternalError', 'no space left on device');
    expect(story.told()).toEqual([
      'Warning FailedToMakePodDataDirectories: error making pod data directories: no space left on device',
    ]);
  });

  test('has no cgroup because of an error', () => {
    const story = podStory({ held: ['prepareCgroup'] });
    story.ports.fail(
      'prepareCgroup',
      'FailedCreatePodContainer',
      'unable to ensure pod container exists: no such file',
    );
    expect(story.told()).toEqual([
      'Warning FailedCreatePodContainer: unable to ensure pod container exists: no such file',
    ]);
  });

  test('has a volume that cannot be mounted', () => {
    const story = podStory({ pod: aPod({ volumes }), held: ['mountVolume'] });
    story.ports.fail('mountVolume', 'FailedMount', 'no such disk');
    expect(story.told()).toEqual(['Warning FailedMount: MountVolume.SetUp failed for volume "data" : no such disk']);
  });

  test('has no sandbox because of an error, unless the runtime is not available', () => {
    const story = podStory({ held: ['runSandbox'] });
    story.told();
    story.ports.fail('runSandbox', 'RuntimeUnavailable');
    story.send({ type: 'runtime.returned' });
    expect(story.told()).toEqual([]);
    story.ports.fail('runSandbox', 'FailedCreatePodSandBox', 'Failed to create pod sandbox: no network');
    expect(story.told()).toEqual(['Warning FailedCreatePodSandBox: Failed to create pod sandbox: no network']);
  });

  test('has a sandbox that cannot be inspected, unless the runtime is not available', () => {
    const story = podStory({ before: (world, pod) => world.sandbox(pod), held: ['inspectSandbox'] });
    expect(story.told()).toEqual([]);
    story.ports.fail('inspectSandbox', 'RuntimeUnavailable');
    story.send({ type: 'runtime.returned' });
    expect(story.told()).toEqual([]);
    story.ports.fail('inspectSandbox', 'RuntimeError', 'it is busy');
    expect(story.told()).toEqual(['Warning FailedPodSandBoxStatus: Unable to get pod sandbox status: it is busy']);
  });

  test('C20: has a sandbox that differs from what was requested', () => {
    const story = podStory({ held: ['runSandbox', 'createContainer'] });
    story.told();
    const warnings = [{ eventType: 'Warning' as const, reason: 'MissingClusterDNS', message: 'no cluster DNS' }];
    story.ports.answer('runSandbox', { ...story.world.sandbox(aPod()), madeAt: 0, warnings });
    expect(story.told()).toEqual(['Warning MissingClusterDNS: no cluster DNS']);
  });

  test('C8: loses its sandbox, so that its containers are killed and start over', () => {
    const story = podStory();
    story.told();
    story.world.loseSandbox(story.view().sandbox?.id ?? '');
    story.observe();
    const events = story.told();
    expect(events).toContain('Normal SandboxChanged: Pod sandbox changed, it will be killed and re-created.');
    expect(events.at(-1)).toBe('Normal Started: Container started');
  });

  test('has a sandbox or a container of unknown state', () => {
    const story = podStory();
    story.told();
    story.ports.failNext('inspectSandbox', 'RuntimeError');
    story.send({ type: 'runtime.podObserved', pod: { ...story.world.observed(aPod()), sandboxes: [] } });
    expect(story.told()).toEqual(['Warning FailedSync: error determining status: inspectSandbox failed']);
    story.ports.advance(10_000);
    expect(story.state()).toBe('active.running.steady');
    story.ports.failNext('inspectContainer', 'RuntimeError');
    story.ports.failNext('inspectContainer', 'RuntimeUnavailable');
    story.send({ type: 'runtime.podObserved', pod: { ...story.world.observed(aPod()), containers: [] } });
    story.ports.advance(10_000);
    expect(story.told()).toEqual(['Warning FailedSync: error determining status: inspectContainer failed']);
  });

  test('has a sandbox that cannot be stopped', () => {
    const story = podStory({ held: ['stopSandboxes'] });
    story.told();
    story.terminate(1);
    story.ports.fail('stopSandboxes', 'RuntimeError', 'device busy');
    expect(story.told()).toEqual([
      'Normal Killing: Stopping container main',
      'Warning FailedKillPod: error killing pod: device busy',
    ]);
  });

  test('is terminated by the node with a reason', () => {
    const story = podStory();
    story.told();
    story.terminate(1, { reason: 'Preempting', message: 'Preempted in order to admit critical pod' });
    expect(story.told()[0]).toBe('Warning Preempting: Preempted in order to admit critical pod');
  });
});

test('the events of the node: its start, and the state of its runtime', () => {
  const story = nodeStory();
  story.list();
  const health = { since: 0, ready: false, name: 'fake', version: '1', message: 'it is away' };
  story.tell({ type: 'runtime.healthChanged', health });
  story.tell({ type: 'runtime.healthChanged', health: { ...health, message: 'it is still away' } });
  story.list();
  expect(story.told()).toEqual([
    'Normal Starting: Starting kubelet.',
    'Normal NodeReady: Node node status is now: NodeReady',
    'Normal NodeNotReady: Node node status is now: NodeNotReady',
    'Normal NodeReady: Node node status is now: NodeReady',
  ]);
});
