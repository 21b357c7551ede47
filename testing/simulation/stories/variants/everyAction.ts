/** Generates variants of a story in which each action of a list happens at the time of each call. */
import { TEMPORARY_UIDS } from '../../host/foreignPods.ts';
import type { Manifest } from '../manifests.ts';
import { staticPodName } from '../manifests.ts';
import { secondImage } from '../pointed/pointedStory.ts';
import type { Action, Story } from '../story.ts';

const SECOND = 1_000;
/**
 * Duration of temporary actions, in milliseconds. It is longer than most calls and shorter than the waits for a relist.
 */
const FOR_MS = 3 * SECOND;
const HOUR_MS = 3_600 * SECOND;

/** Actions that are possible on every host. */
const ACTIONS: readonly Action[] = [
  { kind: 'exit', which: 0, exitCode: 0 },
  { kind: 'exit', which: 1, exitCode: 1 },
  { kind: 'oom', which: 0, child: false },
  { kind: 'systemOom', which: 0 },
  { kind: 'killSandbox', which: 0 },
  { kind: 'removeSandbox', which: 0 },
  ...(['dropped', 'doubled', 'late', 'reordered'] as const).map(
    (delivery): Action => ({ kind: 'events', delivery, forMs: FOR_MS }),
  ),
  { kind: 'runtimeDown', downMs: SECOND, keepContainers: true },
  { kind: 'runtimeDown', downMs: SECOND, keepContainers: false },
  { kind: 'runtimeDown', downMs: SECOND, keepContainers: true, forgets: 1 },
  { kind: 'runtimeDown', downMs: SECOND, keepContainers: true, renames: 1 },
  { kind: 'stall', forMs: FOR_MS },
  { kind: 'lists', show: 'stale', forMs: 2 * FOR_MS },
  { kind: 'jump', ms: HOUR_MS },
  { kind: 'jump', ms: -HOUR_MS },
  ...(['full', 'readOnly', 'noDescriptors', 'tableFull'] as const).map(
    (fault): Action => ({ kind: 'disk', fault, forMs: FOR_MS }),
  ),
  { kind: 'scribble', file: 'invalid.json', text: '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"UPPER"}}' },
  { kind: 'manifestsGone', forMs: FOR_MS },
  ...(['dropped', 'exhausted'] as const).map((fault): Action => ({ kind: 'watches', fault, forMs: FOR_MS })),
  { kind: 'visit', uid: TEMPORARY_UIDS[0] ?? '', forMs: FOR_MS },
  { kind: 'addresses', ips: ['192.0.2.7'] },
  { kind: 'cgroupsReadOnly', forMs: FOR_MS },
  { kind: 'powerCut', downMs: SECOND },
  { kind: 'killAgent', downMs: SECOND },
];

type ApplyAction = Extract<Action, { kind: 'apply' }>;

/** Returns the action that applied the manifest that exists at the given time, or undefined if there is none. */
function appliedAt({ actions }: Story, at: number): ApplyAction | undefined {
  let applied: ApplyAction | undefined;
  for (const { at: then, action } of actions.toSorted((one, other) => one.at - other.at)) {
    if (then > at) break;
    if (action.kind === 'apply') applied = action;
    if (action.kind === 'remove' && applied !== undefined && action.pod === staticPodName(applied.pod))
      applied = undefined;
  }
  return applied;
}

/** Returns the pod with changed images, so that its containers are recreated. */
function edited(pod: Manifest): Manifest {
  const { containers } = pod.spec;
  return { ...pod, spec: { ...pod.spec, containers: containers.map((each) => ({ ...each, ...secondImage })) } };
}

/** Returns the actions that are possible at the given time of a story. */
function actionsAt(story: Story, at: number): readonly Action[] {
  const applied = appliedAt(story, at);
  if (applied === undefined) return ACTIONS;
  const { pod, by } = applied;
  const name = staticPodName(pod);
  const ofFile: readonly Action[] = [
    { kind: 'writeInParts', pod, share: 0.5, restMs: SECOND },
    { kind: 'spoil', pod: name, how: 'refused', forMs: FOR_MS },
  ];
  const ofUrl = (['hanging', 'failing'] as const).map((fault): Action => ({ kind: 'url', fault, forMs: 10 * FOR_MS }));
  return [
    ...ACTIONS,
    ...(by === 'url' ? ofUrl : ofFile),
    { kind: 'remove', pod: name },
    { ...applied, pod: edited(pod) },
  ];
}

/**
 * Yields the story with each action at each of the times, which are in milliseconds of node time. Skips duplicate
 * times.
 */
export function* withEveryAction(story: Story, times: Iterable<number>): Generator<Story> {
  for (const at of new Set(times)) {
    // All faults have ended by then.
    if (at >= story.lastsMs) continue;
    for (const action of actionsAt(story, at)) yield { ...story, actions: [...story.actions, { at, action }] };
  }
}
