/** Stories that are drawn: whatever can happen, in any order. */
import { DISK_ERRORS } from '../gatedFiles.ts';
import type { Fate } from '../outside.ts';
import { Random } from '../random.ts';
import { drawnManifest } from './manifests.ts';
import type { Deed, Fault, Moment, Story } from './story.ts';

export interface StorySize {
  readonly pods: number;
  readonly deeds: number;
  readonly faults: number;
  /** Milliseconds. */
  readonly lastsMs: number;
}

const SECOND = 1_000;

/** How often each kind of deed is drawn. */
const KINDS = [
  ...Array.from({ length: 8 }, () => 'apply' as const),
  ...Array.from({ length: 5 }, () => 'remove' as const),
  ...Array.from({ length: 5 }, () => 'exit' as const),
  ...(['killSandbox', 'removeSandbox', 'killAgent', 'killAgent', 'runtimeDown', 'events', 'jump', 'powerCut'] as const),
  'scribble' as const,
];

const TEXTS = [
  '',
  '{',
  'kind: Pod',
  '- constructor',
  '\u0000',
  '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"__proto__"}}',
];

function drawnDeed(random: Random, pods: readonly string[]): Deed {
  const kind = random.pick(KINDS);
  const downMs = random.pick([0, 100, SECOND, 20 * SECOND]);
  switch (kind) {
    case 'apply':
      return { kind, pod: drawnManifest(random.pick(pods), random) };
    case 'remove':
      return { kind, pod: `default/${random.pick(pods)}-node-1` };
    case 'exit':
      return random.chance(0.2)
        ? { kind, which: random.between(0, 50), exitCode: 137, reason: 'OOMKilled' }
        : { kind, which: random.between(0, 50), exitCode: random.pick([0, 1, 137, 143]) };
    case 'killSandbox':
    case 'removeSandbox':
      return { kind, which: random.between(0, 50) };
    case 'killAgent':
    case 'powerCut':
      return { kind, downMs };
    case 'runtimeDown':
      return { kind, downMs, keepContainers: random.chance(0.7) };
    case 'events':
      return {
        kind,
        delivery: random.pick(['paused', 'dropped', 'doubled'] as const),
        forMs: random.between(0, 60 * SECOND),
      };
    case 'jump':
      return { kind, ms: random.pick([-3_600, -10, 10, 3_600]) * SECOND };
    case 'scribble':
      return { kind, file: random.pick(['odd.yaml', 'constructor', '.hidden', 'a b.json']), text: random.pick(TEXTS) };
  }
}

/** One of the fates that a call can meet. */
function drawnFate(random: Random): Fate {
  const kind = random.pick(['fail', 'fail', 'lostReply', 'hang', 'late', 'late', 'death'] as const);
  if (kind === 'fail' || kind === 'lostReply') return { kind, code: random.pick(DISK_ERRORS) };
  if (kind === 'late') return { kind, ms: random.pick([1, 50, SECOND, 30 * SECOND]) };
  return kind === 'death' ? { kind, when: random.pick(['before', 'after'] as const) } : { kind };
}

/** About so many calls a pod makes in its life: faults are spread over them. */
const CALLS_A_DEED = 60;

export function drawnStory(seed: number, { pods, deeds, faults, lastsMs }: StorySize): Story {
  const random = new Random(seed);
  const names = Array.from({ length: pods }, (_, index) => `pod-${index}`);
  const first = names.map(
    (name): Moment => ({
      at: random.between(0, 5 * SECOND),
      deed: { kind: 'apply', pod: drawnManifest(name, random) },
    }),
  );
  const later = Array.from(
    { length: deeds },
    (): Moment => ({
      at: random.between(0, lastsMs),
      deed: drawnDeed(random, names),
    }),
  );
  const struck = Array.from(
    { length: faults },
    (): Fault => ({
      call: random.between(0, (pods + deeds) * CALLS_A_DEED),
      fate: drawnFate(random),
    }),
  );
  return { seed, moments: [...first, ...later].toSorted((a, b) => a.at - b.at), faults: struck, lastsMs };
}
