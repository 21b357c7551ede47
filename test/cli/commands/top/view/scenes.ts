/** Actors for the tests of `top`. */
import type { ActorsResponse } from '../../../../../cli/commands/get/readActors.ts';
import type { Container } from '../../../../../kubernetes/api/schema/container.ts';
import type { ActorNode } from '../../../../../show/actors/actorNode.ts';
import type { PodWithTree } from '../../../../../show/actors/podActors.ts';
import { NOW, nodeActor, nodeView } from '../../../../kubernetes/views.ts';

/** Returns a pod with one container in this state. */
export function seen(uid: string, container: Partial<ActorNode> = {}, name = `${uid}-host`): PodWithTree {
  const path = `pod/${uid}/container/app`;
  const app = nodeActor('app', { machine: 'container', kind: 'regular', path, state: 'running.steady', ...container });
  const spec: Container = { name: 'app', image: 'app:1' };
  return {
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', uid },
      spec: { containers: [spec] },
      status: { phase: 'Running' },
    },
    tree: nodeActor(uid, { machine: 'pod', kind: 'pod', path: `pod/${uid}`, state: 'running', children: [app] }),
  };
}

/** State of a container that waits for its restart. */
export const crashed: Partial<ActorNode> = {
  state: 'ended.backingOff',
  tags: ['retrying'],
  since: NOW - 2_000,
  waitingFor: 'its back-off',
  until: NOW + 48_000,
  lastFailure: { reason: 'RunContainerError', message: 'no such file', at: NOW - 2_000 },
};

/** Returns all actors of a node with these pods. */
export const actorsOf = (pods: readonly PodWithTree[], more: Partial<ActorsResponse> = {}): ActorsResponse => ({
  simulated: false,
  at: NOW,
  node: nodeView('host').tree,
  pods,
  limiters: [
    { capacity: 4, held: ['a/b/start'], queue: [] },
    { capacity: 1, held: ['a/b/pull'], queue: ['c/d/pull', 'e/f/pull'] },
  ],
  ...more,
});
