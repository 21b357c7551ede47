import { expect, test } from '@jest/globals';
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

/**
 * Returns every waiting state of a machine as its actor shows it. A state that waits for another attempt has a failure.
 */
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

/** Returns an actor that needs an image, with the image's actor as its child. */
const needing = (state: string, name: string, image: Waiting): Waiting => {
  const waitingFor = image.waitingFor.replace('its image', `image ${name}`);
  const child = nodeActor('image', { ...image, machine: 'image', waitingFor });
  const own = { state, tags: ['working', 'gettingImage'], since: NOW - 130_000, waitingFor: 'its image' };
  return { ...own, children: [child] };
};

/** Whether the actor, or the image that it waits for, is queued. */
const isQueued = (view: Waiting): boolean =>
  [view, ...(view.children ?? [])].some(({ state }) => state.endsWith('queued'));

/** Headlines of a pod that waits only for the given actor, by machine. */
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

const TIME = '12:03:10 (in 14s)';

/**
 * Returns the end of a headline, after the wait: the failure and the next attempt, the end of the wait, or its
 * duration.
 */
const endOf = ({ lastFailure, until }: Waiting): string =>
  lastFailure
    ? `: InternalError: what went wrong; next attempt at ${TIME}`
    : until
      ? ` until ${TIME}`
      : ' (for 2m10s so far)';

const has = ({ tags }: Waiting, tag: string): boolean => tags.includes(tag);
const START_QUEUE =
  'waiting in the start queue: place 1 of 1, 1 at a time, behind the start of container db of default/db';
const PULL_QUEUE = 'waiting in the pull queue: place 1 of 1, 1 at a time, behind the pull of db:1 for default/db';
const ENDING = 'pod web is terminating (Removed):';

/** Returns the headline of a container that stops. A deadline comes first, because other containers wait for it. */
function stoppingHeadline(view: Waiting, wait: string): string {
  if (has(view, 'overdue')) return `${ENDING} waiting for the runtime to kill container app until ${TIME}`;
  if (view.lastFailure) return `${ENDING} container app is waiting for ${wait}${endOf(view)}`;
  if (view.until === undefined) return `${ENDING} waiting for container app to stop; it is waiting for ${wait}`;
  const deadline = `${ENDING} container app has until ${TIME} to stop`;
  return has(view, 'killing') ? deadline : `${deadline}; it is waiting for ${wait}`;
}

function containerHeadline(view: Waiting, wait: string): string {
  if (isQueued(view)) return `container app is ${view.state.startsWith('launching') ? START_QUEUE : PULL_QUEUE}`;
  if (has(view, 'stopping')) return stoppingHeadline(view, wait);
  if (!runs(view)) return `container app is waiting for ${wait}${endOf(view)}`;
  return view.lastFailure
    ? `container app is running but waiting for ${wait}${endOf(view)}`
    : `container app is running but not ready: waiting for ${wait}`;
}

/**
 * Returns the headline of a volume. A failed mount is a headline by itself. A mounted volume that waits blocks nothing.
 */
function volumeHeadline(view: Waiting, wait: string): string {
  if (isQueued(view)) return `pod web is ${PULL_QUEUE}`;
  if (has(view, 'mounted')) return 'pod web is running, with 0 of 0 containers ready';
  if (has(view, 'leaving')) return `${ENDING} volume data is waiting for ${wait}${endOf(view)}`;
  return view.lastFailure
    ? `volume data is not mounted${endOf(view)}`
    : `volume data is not mounted yet: waiting for ${wait}${endOf(view)}`;
}

function podHeadline(view: Waiting, wait: string): string {
  if (isQueued(view)) return `pod web is ${START_QUEUE}`;
  const isEnding = view.state.startsWith('terminating');
  return `${isEnding ? ENDING : 'pod web is'} waiting for ${wait}${endOf(view)}`;
}

const HOOKS = [
  ['its postStart hook', 'its postStart hook (exec /setup)'],
  ['its preStop hook', 'its preStop hook (sleep 5s)'],
] as const;
const withHook = (wait: string): string => HOOKS.find(([hook]) => hook === wait)?.[1] ?? wait;
const ofImage = (image: string, wait: string): string => wait.replace('its image', `image ${image}`);

const machineCalled = (name: string): AnyStateMachine => {
  const found = machines.find(({ id }) => id === name);
  if (found === undefined) throw new Error(`there is no machine ${name}`);
  return found;
};

test.each<[string, AnyStateMachine, (view: Waiting) => string, (view: Waiting) => string]>([
  ['a pod', machineCalled('pod'), headline.pod, (view) => podHeadline(view, view.waitingFor)],
  [
    'a container',
    machineCalled('container'),
    headline.container,
    (view) => containerHeadline(view, withHook(view.waitingFor)),
  ],
  [
    'an image of a container',
    imageMachine,
    headline.image,
    (view) => containerHeadline(view, ofImage('app:1', view.waitingFor)),
  ],
  ['a volume', machineCalled('volume'), headline.volume, (view) => volumeHeadline(view, view.waitingFor)],
  [
    'an image of a volume',
    imageMachine,
    headline.imageOfVolume,
    (view) => volumeHeadline(view, ofImage('model:1', view.waitingFor)),
  ],
  ['the node', machineCalled('nodeAgent'), headline.nodeAgent, (view) => `node host is waiting for ${view.waitingFor}`],
])(
  'the headline of each waiting state of %s names the actor, the wait, its end and its reason',
  (_, machine, actual, expected) => {
    const waits = waitsOf(machine);
    expect(waits.length).toBeGreaterThan(0);
    expect(waits.map((view) => [view.state, actual(view)])).toEqual(waits.map((view) => [view.state, expected(view)]));
  },
);
