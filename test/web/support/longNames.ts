/** A node whose names, reasons, keys and texts have the maximum length that Kubernetes allows. */
import type { ActorDetail, ActorHistory, Drawing, ShownObject, Story, StoryLine } from '../../../inspect/protocol.ts';
import { apiDetail, apiHistory, NOW, podOnPage, snapshotWith, wellPod } from './nodeOnPage.ts';

/** A name of 63 characters, the maximum length of a label. */
const long = (start: string): string => `${start}${'-a-name-that-is-as-long-as-a-label-may-be'.repeat(2)}`.slice(0, 63);

const POD = long('pod');
const NAMESPACE = long('namespace');
const CONTAINER = long('container');
const VOLUME = long('volume');
const LAST = { containerId: 'a'.repeat(64), exitCode: 137, reason: 'ContainerStatusUnknown' };

/** Ages with the widest text. */
const SPAN = 100 * 86_400_000 + 23 * 3_600_000;

const longPod = podOnPage({
  name: POD,
  namespace: NAMESPACE,
  pod: { status: 'CreateContainerConfigError', ready: '10/100', restarts: 10_000, name: `${POD}-node-1` },
  tree: { since: NOW - SPAN },
  below: [
    { id: `volume/${VOLUME}`, state: 'mounted.awaitingRenewal', tags: ['steady', 'mounted'], since: NOW - SPAN },
    {
      id: `container/${CONTAINER}`,
      state: 'ended.backingOff',
      tags: ['retrying'],
      since: NOW - 112_000,
      until: NOW + 48_000,
      waitingFor: 'the end of its crash-loop back-off',
      lastRun: LAST,
    },
    {
      id: `container/${CONTAINER}/probe/readiness`,
      state: 'failing.waiting',
      tags: ['retrying', 'failing'],
      since: NOW - 6_000,
      until: NOW + 4_000,
      waitingFor: 'its next attempt',
    },
    { id: `container/${long('stopped')}`, state: 'stopped', tags: ['done'], since: NOW - SPAN, lastRun: LAST },
    { id: `container/${long('steady')}`, state: 'running.steady', tags: ['steady'], since: NOW - SPAN },
    {
      id: `container/${long('creating')}`,
      state: 'launching.creatingContainer.creating',
      tags: ['working'],
      since: NOW - SPAN,
      waitingFor: 'the runtime to create it',
    },
  ],
});

export const longSnapshot = snapshotWith([longPod, ...['auth', 'catalog'].map((name) => wellPod(name))]);

const POD_STEPS = `/pod/${NAMESPACE}/${POD}`;

/** The URLs of its actors. */
export const LONG_PLACES = {
  pod: POD_STEPS,
  volume: `${POD_STEPS}/volume/${VOLUME}`,
  failing: `${POD_STEPS}/container/${CONTAINER}`,
  probe: `${POD_STEPS}/container/${CONTAINER}/probe/readiness`,
  stopped: `${POD_STEPS}/container/${long('stopped')}`,
  steady: `${POD_STEPS}/container/${long('steady')}`,
  creating: `${POD_STEPS}/container/${long('creating')}`,
  node: '/node',
  limiter: '/node/pullLimiter',
  nobody: `/pod/${long('nobody')}/${long('nothing')}/container/${long('none')}`,
} as const;

const MESSAGE = `${'a message that goes on and on '.repeat(6)}${'x'.repeat(253)}`;
const REASONS = [
  'FailedPostStartHook',
  'FailedNodeDeclaredFeaturesCheck',
  'FailedPrepareDynamicResources',
  'BackOff',
  long('Reason'),
];

/** Lines of a log with and without spaces. */
export const longLines: readonly string[] = [MESSAGE, 'short', MESSAGE.replaceAll(' ', '')];

export const longDetail = (path: string): ActorDetail => ({
  ...apiDetail,
  path,
  answer: `container ${CONTAINER} keeps failing: exit code 137 after 1s: ${MESSAGE.slice(0, 200)}; restarts at 07:44:40 (in 48s)`,
  next: [{ way: 'ended.backingOff timer.elapsed 0', on: 'timer.elapsed', to: 'pending.restarting', at: NOW + 599_000 }],
  problems: [MESSAGE],
  events: REASONS.flatMap((reason, at) =>
    ['Warning', 'Normal'].map((type) => ({ type, reason, message: MESSAGE, count: 10_000, at: NOW - at * 1_000 })),
  ),
  log: { lines: longLines },
});

/** Returns a history in which the actor has been in every state of every machine. */
export const longHistory = (path: string, drawings: Iterable<Drawing>): ActorHistory => ({
  ...apiHistory,
  path,
  tried: apiHistory.tried.map((run) => ({
    ...run,
    run: run.run + 10_000,
    ranMs: 86_400_000 * 3 + 3_600_000 * 23,
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    waitedMs: 300_000,
  })),
  taken: {
    from: NOW - SPAN,
    ways: [...drawings].flatMap(({ ways }) =>
      ways.flatMap((way) => way.ways.map((each) => ({ way: each, count: 1_000, lastAt: NOW - 112_000 }))),
    ),
    stays: [...drawings].flatMap(({ states }) =>
      states.map(({ state }) => ({ state, lastMs: 86_400_000 + 3_600_000 * 23 + 3_540_000 })),
    ),
  },
});

export const longObject: ShownObject = {
  manifest: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: POD,
      namespace: NAMESPACE,
      labels: { [`${'prefix.'.repeat(30)}example/${long('key')}`]: long('value') },
    },
    spec: {
      containers: [
        {
          name: CONTAINER,
          image: `registry.example/${'path/'.repeat(40)}image:1`,
          env: [{ name: 'A'.repeat(200), value: 'b'.repeat(200) }],
        },
      ],
    },
  },
  status: {
    phase: 'Running',
    conditions: ['Ready', 'PodReadyToStartContainers', `example.com/${long('gate')}`].map((type) => ({
      type,
      status: 'False',
      reason: long('Reason'),
      message: MESSAGE,
      lastTransitionTime: '2026-05-04T07:39:15Z',
    })),
  },
};

/** Returns the story of the failing container's runs. */
export const longStory = (uid: string, from: number, to: number): Story => {
  const pod = `pod/${uid}`;
  const api = `${pod}/container/${CONTAINER}`;
  const at = (seconds: number) => NOW - seconds * 1_000;
  const state = (when: number, actor: string, to2: string, tag: string): StoryLine => ({
    kind: 'state',
    at: when,
    actor,
    state: to2,
    tag,
  });
  const runs = [200, 160, 130, 114].flatMap((seconds, index): StoryLine[] => [
    {
      kind: 'asked',
      at: at(seconds),
      actor: `${api}/0.container.launching.creatingContainer.creating`,
      port: 'createContainer',
      about: `${CONTAINER} attempt ${index + 1}`,
    },
    state(at(seconds), api, 'launching.creatingContainer.creating', 'working'),
    {
      kind: 'entered',
      at: at(seconds) + 10,
      actor: `${api}/0.container.launching.creatingContainer.creating`,
      outcome: 'answer',
      source: 'createContainer',
      tookMs: 10,
      what: MESSAGE,
    },
    {
      kind: 'event',
      at: at(seconds) + 10,
      uid,
      container: CONTAINER,
      eventType: 'Warning',
      reason: REASONS[index] ?? '',
      message: MESSAGE,
    },
    state(at(seconds) + 80, api, 'running.steady', 'steady'),
    {
      kind: 'entered',
      at: at(seconds) + 2_000,
      actor: '1.nodeAgent',
      outcome: 'fact',
      source: 'pleg',
      uid,
      what: `${CONTAINER} exit 137`,
    },
    state(at(seconds) + 2_000, api, 'ended.backingOff', 'retrying'),
  ]);
  const lines: StoryLine[] = [
    state(at(280), pod, 'active.running.steady', 'steady'),
    ...['stopped', 'steady', 'creating'].map((name) =>
      state(at(279), `${pod}/container/${long(name)}`, name, 'steady'),
    ),
    state(at(279), `${pod}/volume/${VOLUME}`, 'mounted.awaitingRenewal', 'steady'),
    state(at(278), `${api}/probe/readiness`, 'failing.waiting', 'retrying'),
    ...runs,
  ];
  return { from, to, before: [], lines: uid === '' ? [] : lines.filter((line) => line.at >= from && line.at <= to) };
};
