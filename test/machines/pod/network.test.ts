import { describe, expect, test } from '@jest/globals';
import type { RuntimeHealth } from '../../../machines/shared/events/events.ts';
import { runtimeNotReadyReason } from '../../../machines/shared/views/views.ts';
import { aPod } from '../../kubernetes/fixtures.ts';
import { namedPod, nodeStory } from '../support/nodeStory.ts';
import { podStory } from '../support/podStory.ts';
import { queueOf } from '../support/stand.ts';

const WORDS = 'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:no plugin';
const networkNotReady = { message: WORDS, since: 0 };
const NETWORK_NOT_READY = `Warning NetworkNotReady: network is not ready: ${WORDS}`;
const AWAITING = 'sandboxing.creatingSandbox.awaitingNetwork';

describe('while the runtime has no network for pods', () => {
  const offlinePod = (pod = aPod()) => podStory({ pod, networkNotReady });
  const networkEvents = (story: ReturnType<typeof offlinePod>) =>
    story.told().filter((sentence) => sentence.includes('NetworkNotReady'));

  test('a pod waits, repeats its event, and takes no slot', () => {
    const story = offlinePod();
    expect(story.view()).toMatchObject({ state: AWAITING, waitingFor: 'the network of the container runtime' });
    expect(story.view().lastFailure).toMatchObject({ reason: 'NetworkNotReady' });
    expect(networkEvents(story)).toEqual([NETWORK_NOT_READY]);
    story.ports.advance(30_000);
    expect(networkEvents(story)).toEqual([NETWORK_NOT_READY, NETWORK_NOT_READY, NETWORK_NOT_READY]);
    expect(story.ports.asked('runSandbox')).toEqual([]);
    expect(queueOf(story.startLimiter)).toEqual({ held: [], queue: [] });
  });

  test('the return of the network creates the sandbox at once', () => {
    const story = offlinePod();
    story.send({ type: 'runtime.networkChanged' });
    expect(story.state()).toBe('active.running.steady');
    expect(story.context().failure).toBeUndefined();
  });

  test('a pod on the network of the host starts nevertheless', () => {
    const story = offlinePod(aPod({ hostNetwork: true }));
    expect(story.state()).toBe('active.running.steady');
    expect(networkEvents(story)).toEqual([]);
  });

  test('a pod that an update moves to the network of the host starts as well', () => {
    const story = offlinePod();
    story.send({ type: 'pod.update', pod: aPod({ hostNetwork: true }) });
    expect(story.state()).toBe('active.running.steady');
  });

  test('running containers continue', () => {
    const story = podStory();
    story.send({ type: 'runtime.networkChanged', networkNotReady });
    expect(story.state()).toBe('active.running.steady');
    expect(networkEvents(story)).toEqual([]);
  });

  test('a pod can be terminated', () => {
    const story = offlinePod();
    story.terminate();
    expect(story.state()).toBe('terminated');
  });
});

test('the node informs its pods about the network, including later ones', () => {
  const story = nodeStory();
  const health = (networkNotReady?: string): RuntimeHealth => ({
    since: 0,
    ready: networkNotReady === undefined,
    name: 'fake',
    version: '1',
    ...(networkNotReady === undefined ? {} : { networkNotReady }),
  });
  story.tell({ type: 'runtime.healthChanged', health: health(WORDS) });
  story.tell({ type: 'runtime.podsObserved', pods: [], at: 0 });
  story.want([namedPod('web')]);
  expect(story.pod('web-uid')).toBe(AWAITING);
  story.tell({ type: 'runtime.healthChanged', health: health() });
  expect(story.pod('web-uid')).toBe('active.running.steady');
  story.tell({ type: 'runtime.healthChanged', health: health(WORDS) });
  story.want([namedPod('web'), namedPod('db')]);
  expect(story.pod('db-uid')).toBe(AWAITING);
  story.tell({ type: 'runtime.healthChanged', health: health() });
  expect([story.pod('web-uid'), story.pod('db-uid')]).toEqual(['active.running.steady', 'active.running.steady']);
});

test('the runtime itself counts as available', () => {
  const health = { since: 1, ready: false, name: 'fake', version: '1', message: WORDS, networkNotReady: WORDS };
  expect(runtimeNotReadyReason({ ...health, lacksOnlyNetwork: true })).toBeUndefined();
  expect(runtimeNotReadyReason(health)).toBe(WORDS);
  expect(runtimeNotReadyReason({ ...health, since: 0 })).toBeUndefined();
  expect(runtimeNotReadyReason({ since: 1, ready: false, name: 'fake', version: '1' })).toBe('no reason given');
  expect(runtimeNotReadyReason({ ...health, ready: true })).toBeUndefined();
});
