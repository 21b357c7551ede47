/** Variants of a story in which each action of a list happens at each time of a call. */
import { VISITORS } from '../host/otherPods.ts';
import type { Manifest } from './manifests.ts';
import { staticPodName } from './manifests.ts';
import { secondImage } from './pointed/pointedStory.ts';
import type { Deed, Story } from './story.ts';

const SECOND = 1_000;
/**
 * Duration of temporary actions, in milliseconds. It is longer than most calls, and shorter than the waits for a
 * relist.
 */
const FOR_MS = 3 * SECOND;
const HOUR_MS = 3_600 * SECOND;

/** Actions that are possible on every host. */
const DEEDS: readonly Deed[] = [
  { kind: 'exit', which: 0, exitCode: 0 },
  { kind: 'exit', which: 1, exitCode: 1 },
  { kind: 'oom', which: 0, child: false },
  { kind: 'killSandbox', which: 0 },
  { kind: 'removeSandbox', which: 0 },
  ...(['dropped', 'doubled', 'late', 'reordered'] as const).map(
    (delivery): Deed => ({ kind: 'events', delivery, forMs: FOR_MS }),
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
    (trouble): Deed => ({ kind: 'disk', trouble, forMs: FOR_MS }),
  ),
  { kind: 'scribble', file: 'invalid.json', text: '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"UPPER"}}' },
  { kind: 'manifestsGone', forMs: FOR_MS },
  ...(['dropped', 'exhausted'] as const).map((trouble): Deed => ({ kind: 'watches', trouble, forMs: FOR_MS })),
  { kind: 'visit', uid: VISITORS[0] ?? '', forMs: FOR_MS },
  { kind: 'addresses', ips: ['192.0.2.7'] },
  { kind: 'cgroupsReadOnly', forMs: FOR_MS },
  { kind: 'powerCut', downMs: SECOND },
  { kind: 'killAgent', downMs: SECOND },
];

type Applied = Extract<Deed, { kind: 'apply' }>;

/** Returns the action that applied the manifest which exists at a time, if there is one. */
function appliedAt({ moments }: Story, at: number): Applied | undefined {
  let there: Applied | undefined;
  for (const { at: then, deed } of moments.toSorted((one, other) => one.at - other.at)) {
    if (then > at) break;
    if (deed.kind === 'apply') there = deed;
    if (deed.kind === 'remove' && there !== undefined && deed.pod === staticPodName(there.pod)) there = undefined;
  }
  return there;
}

/** Returns the pod with changed images, so that its containers are recreated. */
function edited(pod: Manifest): Manifest {
  const { containers } = pod.spec;
  return { ...pod, spec: { ...pod.spec, containers: containers.map((each) => ({ ...each, ...secondImage })) } };
}

/** Returns the actions that are possible at a time of a story. */
function deedsAt(story: Story, at: number): readonly Deed[] {
  const applied = appliedAt(story, at);
  if (applied === undefined) return DEEDS;
  const { pod, by } = applied;
  const name = staticPodName(pod);
  const ofFile: readonly Deed[] = [
    { kind: 'writeInParts', pod, share: 0.5, restMs: SECOND },
    { kind: 'spoil', pod: name, how: 'refused', forMs: FOR_MS },
  ];
  const ofUrl = (['hanging', 'failing'] as const).map(
    (trouble): Deed => ({ kind: 'url', trouble, forMs: 10 * FOR_MS }),
  );
  return [
    ...DEEDS,
    ...(by === 'url' ? ofUrl : ofFile),
    { kind: 'remove', pod: name },
    { ...applied, pod: edited(pod) },
  ];
}

/**
 * Yields the story with each action at each of the times, in milliseconds of node time. Duplicate times are skipped.
 */
export function* withEveryDeed(story: Story, times: Iterable<number>): Generator<Story> {
  for (const at of new Set(times)) {
    // Faults have ended by then.
    if (at >= story.lastsMs) continue;
    for (const deed of deedsAt(story, at)) yield { ...story, moments: [...story.moments, { at, deed }] };
  }
}
