import { expect, test } from '@jest/globals';
import type { ObservedContainer, ObservedPod } from '../../../kubernetes/lifecycle/observed.ts';
import { withContainer } from '../../../machines/pod/context.ts';

const container = (id: string, state: ObservedContainer['state'], attempt: number) =>
  ({ id, name: 'main', sandboxId: 's', state, attempt, createdAt: attempt }) as unknown as ObservedContainer;

test('a running container precedes one of a higher attempt that the runtime had lost', () => {
  const running = container('running', 'running', 1);
  const pod: ObservedPod = { uid: 'u', namespace: 'default', name: 'web', sandboxes: [], containers: [running] };
  const observed = withContainer(pod, container('recovered', 'exited', 2));
  expect(observed.containers.map(({ id }) => id)).toEqual(['running', 'recovered']);
});
