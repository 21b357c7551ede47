import { describe, expect, test } from '@jest/globals';
import type { AnyStateMachine } from 'xstate';
import { machines } from '../../../machines/drawing/charts.ts';
import { imageMachine } from '../../../machines/image/chart.ts';
import { ofImage } from '../../../machines/image/view.ts';
import type { StateMeta } from '../../../machines/shared/stateMeta.ts';
import type { Failure } from '../../../pod/failure.ts';
import { explainPod } from '../../../pod/show/explain.ts';
import { explainNode } from '../../../pod/show/explainNode.ts';
import type { LimiterView } from '../../../pod/show/view.ts';
import { ending, NOW, nodeView, podView, running, sandbox, UID, volumeView, waiting } from '../../pod/views.ts';
import { HEADLINES } from '../support/headlines.ts';
import { atomicStates, tagsOf } from '../support/reach.ts';

interface Waiting {
  readonly state: string;
  readonly tags: readonly string[];
  readonly since: number;
  readonly waitingFor: string;
  readonly until?: number;
  readonly lastFailure?: Failure;
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

/** As who needs an image shows what that is at. */
const needing = (state: string, name: string, image: Waiting): Waiting => ({
  ...image,
  waitingFor: ofImage(image.waitingFor, name),
  state: `${state}.${image.state}`,
  tags: [...image.tags, 'gettingImage'],
});

const lineOf = ({ waitingFor, until }: Waiting) => `waiting for ${waitingFor}${until ? ' until' : ''}`;

/** The headline of a pod that waits for nothing else. */
const pod = {
  pod: (view: Waiting) =>
    explainPod(
      podView({ main: { app: null }, view: { ...view, ...(view.state.startsWith('terminating') ? ending() : {}) } }),
      NOW,
      { limiters: view.state.endsWith('queued') ? queueOf(`${UID}/start`) : [] },
    ).answer,
  volume: (view: Waiting) => {
    const volumes = [volumeView('data', { ...view, mounted: view.state.startsWith('mounted') })];
    const spec = { volumes: [{ name: 'data', image: { reference: 'model:1' } }] };
    const isEnding = view.state.includes('nmount');
    return explainPod(podView({ main: {}, spec, view: { ...network, volumes, ...(isEnding ? ending() : {}) } }), NOW, {
      limiters: view.state.endsWith('queued') ? queueOf(`${UID}/volume:data/pull`) : [],
    }).answer;
  },
  container: (view: Waiting) => {
    const lifecycle = { postStart: { exec: { command: ['/setup'] } }, preStop: { sleep: { seconds: 5 } } };
    return explainPod(
      podView({
        main: { app: runs(view) ? running({ ...view, ready: false }) : waiting('ContainerCreating', view) },
        spec: { containers: [{ name: 'app', image: 'app:1', lifecycle }] },
        view: { ...network, ...(view.state.startsWith('stopping') ? ending() : {}) },
      }),
      NOW,
      {
        limiters: view.state.endsWith('queued')
          ? queueOf(`${UID}/app/${view.state.startsWith('launching') ? 'start' : 'pull'}`)
          : [],
      },
    ).answer;
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

describe('the headline of every state that waits names who waits, for what, until when and why', () => {
  test.each([...named, ['imageOfVolume', imageMachine] as const])('%s', (name, machine) => {
    // Those without a headline of their own have a line in the tree.
    const told = waitsOf(machine).map((view) => [view.state, (own[name] ?? lineOf)(view)]);
    expect(Object.fromEntries(told)).toEqual(HEADLINES[name] ?? {});
  });
});
