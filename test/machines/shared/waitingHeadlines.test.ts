import { describe, expect, test } from '@jest/globals';
import type { AnyStateMachine } from 'xstate';
import type { Failure } from '../../../base/failure.ts';
import { waitWithHook } from '../../../machines/container/view.ts';
import { machines } from '../../../machines/drawing/charts.ts';
import { imageMachine } from '../../../machines/image/chart.ts';
import type { StateMeta } from '../../../machines/shared/stateMeta.ts';
import type { ActorNode, LimiterView } from '../../../show/actors/actorNode.ts';
import { explainNode } from '../../../show/explain/explainNode.ts';
import { explainPod } from '../../../show/explain.ts';
import {
  ending,
  NOW,
  nodeActor,
  nodeView,
  podView,
  running,
  sandbox,
  seenPod,
  UID,
  volumeView,
  waiting,
} from '../../kubernetes/views.ts';
import { HEADLINES } from '../support/headlines.ts';
import { atomicStates, tagsOf } from '../support/reach.ts';

interface Waiting {
  readonly state: string;
  readonly tags: readonly string[];
  readonly since: number;
  readonly waitingFor: string;
  readonly until?: number;
  readonly lastFailure?: Failure;
  readonly children?: readonly ActorNode[];
}

/** Every state of a machine that waits, as its actor shows it in it: who tries again has failed before. */
const waitsOf = (machine: AnyStateMachine): Waiting[] =>
  atomicStates(machine).flatMap((node) => {
    // Every machine here declares StateMeta as its meta type.
    const { waitsFor, until, afterMs } = (node.meta ?? {}) as StateMeta;
    if (waitsFor === undefined) return [];
    const lastFailure = { reason: 'InternalError', message: 'what went wrong', at: NOW } as const;
    return {
      state: node.path.join('.'),
      tags: tagsOf(node),
      since: NOW - 130_000,
      waitingFor: waitsFor,
      ...(until || afterMs ? { until: NOW + 14_000 } : {}),
      ...(waitsFor.startsWith('another attempt') ? { lastFailure } : {}),
    };
  });

const queueOf = (...queue: string[]): LimiterView[] => [
  {
    capacity: 1,
    held: ['u-2/web/pull'],
    queue,
    behind: [
      [queue.join().endsWith('pull') ? 'the pull of db:1 for default/db' : 'the start of container db of default/db'],
    ],
  },
];
const network = { sandbox: sandbox('10.88.0.5') };
const runs = ({ tags }: Waiting) => ['running', 'runningPostStart', 'stopping'].some((tag) => tags.includes(tag));

/** Who needs an image, while that waits for this. */
const needing = (state: string, name: string, image: Waiting): Waiting => {
  const waitingFor = image.waitingFor.replace('its image', `image ${name}`);
  const child = nodeActor('image', { ...image, machine: 'image', waitingFor });
  const own = { state, tags: ['working', 'gettingImage'], since: NOW - 130_000, waitingFor: 'its image' };
  return { ...own, children: [child] };
};

/** Itself, or the image that it waits for. */
const isQueued = (view: Waiting): boolean =>
  [view, ...(view.children ?? [])].some(({ state }) => state.endsWith('queued'));

const waitingOrder = ({ waitingFor, until }: Waiting) => `waiting for ${waitingFor}${until ? ' until' : ''}`;

/** The headline of a pod that waits for nothing else. */
const pod = {
  pod: (view: Waiting) =>
    explainPod(
      seenPod(
        podView({ main: { app: null }, view: { ...view, ...(view.state.startsWith('terminating') ? ending() : {}) } }),
      ),
      NOW,
      { limiters: isQueued(view) ? queueOf(`${UID}/:sandbox/start`) : [] },
    ).answer,
  volume: (view: Waiting) => {
    const volumes = [volumeView('data', { ...view, mounted: view.state.startsWith('mounted') })];
    const spec = { volumes: [{ name: 'data', image: { reference: 'model:1' } }] };
    const isEnding = view.state.includes('nmount');
    const shown = podView({ main: {}, spec, view: { ...network, volumes, ...(isEnding ? ending() : {}) } });
    return explainPod(seenPod(shown), NOW, {
      limiters: isQueued(view) ? queueOf(`${UID}/volume:data/pull`) : [],
    }).answer;
  },
  container: (view: Waiting) => {
    const lifecycle = { postStart: { exec: { command: ['/setup'] } }, preStop: { sleep: { seconds: 5 } } };
    const spec = { containers: [{ name: 'app', image: 'app:1', lifecycle }] };
    const context = { pod: podView({ spec }).pod, name: 'app' };
    const hasTag = (tag: string) => view.tags.includes(tag);
    const waits = { ...view, waitingFor: waitWithHook(view.waitingFor, { snapshot: { context, hasTag } }) };
    const shown = podView({
      main: { app: runs(view) ? running({ ...waits, ready: false }) : waiting('ContainerCreating', waits) },
      spec,
      view: { ...network, ...(view.state.startsWith('stopping') ? ending() : {}) },
    });
    return explainPod(seenPod(shown), NOW, {
      limiters: isQueued(view) ? queueOf(`${UID}/app/${view.state.startsWith('launching') ? 'start' : 'pull'}`) : [],
    }).answer;
  },
};
const headline = {
  ...pod,
  image: (view: Waiting) => pod.container(needing('pending.gettingImage', 'app:1', view)),
  imageOfVolume: (view: Waiting) => pod.volume(needing('gettingImage', 'model:1', view)),
  nodeAgent: (view: Waiting) => explainNode(nodeView('host', view), NOW).answer,
};

const own: Readonly<Record<string, (view: Waiting) => string>> = headline;
const named = machines.map((machine) => [machine.id, machine] as const);

describe('the headline of every waiting state contains the actor, the wait, its end and its reason', () => {
  test.each([...named, ['imageOfVolume', imageMachine] as const])('%s', (name, machine) => {
    // Those without a headline of their own have a line in the tree.
    const told = waitsOf(machine).map((view) => [view.state, (own[name] ?? waitingOrder)(view)]);
    expect(Object.fromEntries(told)).toEqual(HEADLINES[name] ?? {});
  });
});
