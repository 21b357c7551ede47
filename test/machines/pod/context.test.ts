import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ObservedContainer, ObservedPod } from '../../../kubernetes/lifecycle/observed.ts';
import {
  areVolumesSettled,
  areVolumesUnmounted,
  type PodContext,
  withContainer,
  withVolume,
} from '../../../machines/pod/context.ts';
import type { VolumeLifecycle } from '../../../machines/shared/events/events.ts';

const container = (id: string, state: ObservedContainer['state'], attempt: number) =>
  ({ id, name: 'main', sandboxId: 's', state, attempt, createdAt: attempt }) as unknown as ObservedContainer;

test('a running container precedes one of a higher attempt that the runtime had lost', () => {
  const running = container('running', 'running', 1);
  const pod: ObservedPod = { uid: 'u', namespace: 'default', name: 'web', sandboxes: [], containers: [running] };
  const observed = withContainer(pod, container('recovered', 'exited', 2));
  expect(observed.containers.map(({ id }) => id)).toEqual(['running', 'recovered']);
});

test('volumes are counted equally whether they change one after the other or all at once', () => {
  const lifecycles: readonly VolumeLifecycle[] = ['pending', 'mounted', 'delayed', 'unmounted'];
  const counts = (volumes: PodContext['volumes']) => {
    // Safe cast: the counts depend on nothing else in the context.
    const context = { volumes } as PodContext;
    return { areSettled: areVolumesSettled(context), areUnmounted: areVolumesUnmounted(context) };
  };
  const change = fc.tuple(fc.constantFrom('a', 'b'), fc.constantFrom(...lifecycles));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 10 }), (changes) => {
      let volumes: PodContext['volumes'] = {};
      for (const [name, lifecycle] of changes) {
        volumes = withVolume(volumes, name, { lifecycle });
        expect(counts(volumes)).toEqual(counts({ ...volumes }));
      }
    }),
  );
});
