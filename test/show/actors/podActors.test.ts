import { describe, expect, test } from '@jest/globals';
import { hasNetwork, podActors } from '../../../show/actors/podActors.ts';
import {
  backOff,
  ending,
  exited,
  NOW,
  nodeActor,
  podView,
  sandbox,
  seenPod,
  volumeView,
  waiting,
} from '../../kubernetes/views.ts';

const image = nodeActor('image', {
  machine: 'image',
  state: 'backingOff',
  tags: ['retrying'],
  since: NOW - 5_000,
  until: NOW + 5_000,
  waitingFor: 'another attempt to pull image app:1',
});

describe('an image is merged into the actor that waits for it', () => {
  const wait = { state: 'pending.gettingImage', tags: ['working', 'gettingImage'], waitingFor: 'its image' };
  const shown = {
    state: 'pending.gettingImage.backingOff',
    tags: ['retrying', 'gettingImage'],
    since: NOW - 5_000,
    waitingFor: 'another attempt to pull image app:1',
    until: NOW + 5_000,
  };

  test('if that is a container with probes', () => {
    const probe = nodeActor('readiness', { machine: 'probe' });
    const state = waiting('ImagePullBackOff', { ...wait, children: [probe, image] });
    const { containers, tree } = podActors(seenPod(podView({ main: { app: state } })));
    expect(containers[0]?.actor).toMatchObject({ ...shown, tags: [...shown.tags, 'rests'], children: [probe] });
    expect(tree.children).toEqual(containers.map(({ actor }) => actor));
  });

  test('if that is a volume', () => {
    const volumes = [volumeView('model', { ...wait, mounted: false, children: [image] })];
    expect(podActors(seenPod(podView({ main: {}, view: { volumes } }))).volumes).toMatchObject([shown]);
  });
});

test('a container is paired with its status, or has none if the status of the pod lacks it', () => {
  const seen = seenPod(podView({ main: { app: exited(3) } }));
  expect(podActors(seen).containers).toMatchObject([{ role: 'regular', status: { name: 'app' } }]);
  const { pod } = seenPod(podView({ main: {} }));
  expect(podActors({ ...seen, pod }).containers[0]).not.toHaveProperty('status');
});

test('no container restarts in a pod that is terminating or has ended', () => {
  const restarts = (view = {}) =>
    podActors(seenPod(podView({ main: { app: backOff(1) }, view }))).containers[0]?.willRestart;
  expect([restarts(), restarts(ending()), restarts({ hasEnded: true })]).toEqual([true, false, false]);
});

test('a pod has a network while its sandbox is ready and has an address', () => {
  const has = (view = {}) => hasNetwork(seenPod(podView({ main: {}, view })).pod);
  const ready = sandbox('10.88.0.5');
  expect([has(), has({ sandbox: ready }), has({ sandbox: sandbox() })]).toEqual([false, true, false]);
  expect(has({ sandbox: { ...ready, state: 'notReady' } })).toBe(false);
});
