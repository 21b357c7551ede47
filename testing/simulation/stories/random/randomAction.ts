/** Generates random actions, with a weight for each kind. */

import { TEMPORARY_UIDS } from '../../host/foreignPods.ts';
import { HOST_IP, NODE_NAME, PRESENT_IMAGE } from '../../host/host.ts';
import type { Random } from '../../random.ts';
import { HOST_TARGETS } from '../../run/gate.ts';
import type { Manifest } from '../manifests.ts';
import type { Action, NodeAction } from '../story.ts';
import { PULLED, randomChange, randomManifest, withUid } from './randomManifest.ts';

const SECOND = 1_000;
/** Paths of foreign mounts, i.e. in the place of an unknown plugin, beside the volumes, and inside a volume. */
const FOREIGN_MOUNT_PATHS = [
  'volumes/kubernetes.io~csi/theirs',
  'theirs',
  'volumes/kubernetes.io~empty-dir/volume-0/theirs',
] as const;

/** Addresses that a host may get. */
const ADDRESSES = [[HOST_IP], ['192.0.2.7'], ['192.0.2.7', '2001:db8::7'], [HOST_IP, '2001:db8::1']] as const;

/** State of the generation of a story. */
export interface StoryGenerator {
  readonly random: Random;
  /** All pod names. `listed` contains those in the list at the manifest URL. */
  readonly names: readonly string[];
  readonly listed: ReadonlySet<string>;
  /** Last manifest of each name. */
  readonly lastManifests: Map<string, Manifest>;
  /** UIDs of other agents' pods that no manifest has used yet. */
  readonly unusedUids: string[];
}

type Generator<K extends NodeAction['kind']> = (generator: StoryGenerator) => NodeAction & { readonly kind: K };

const HIDDEN = '.hidden';
const LONG_FILE = `${'x'.repeat(250)}.json`;
const ODD_FILES = [
  ...(['odd.yaml', 'constructor', HIDDEN, 'a b.json', '__proto__.json', '\u00e4\u00f6.yaml', LONG_FILE] as const),
] as const;
const TEXTS = [
  '',
  '{',
  'kind: Pod',
  '- constructor',
  '\u0000',
  '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"__proto__"}}',
  '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"UPPER"},"spec":{"containers":[]}}',
] as const;

const duration = (random: Random, longest = 60): number => random.between(0, longest * SECOND);
const which = (random: Random): number => random.between(0, 50);
const fullName = ({ names, random }: StoryGenerator): string => `default/${random.pick(names)}-${NODE_NAME}`;
const downMs = (random: Random): number => random.pick([0, 100, SECOND, 20 * SECOND]);
/** Returns a file name that the node reads, i.e. not a hidden one. */
const file = (random: Random): string =>
  random.chance(0.5) ? `other-${random.between(0, 4)}.json` : random.pick(ODD_FILES.filter((each) => each !== HIDDEN));

/** Stores a manifest as the base of later changes. */
function remember({ lastManifests }: StoryGenerator, pod: Manifest): Manifest {
  lastManifests.set(pod.metadata.name, pod);
  return pod;
}

/** Generates a new pod. It may have its own UID, the UID of a different agent's pod, or one that the node derives. */
function newPod({ random, unusedUids }: StoryGenerator, name: string): Manifest {
  const pod = randomManifest(name, random);
  const uid = random.chance(0.08) ? unusedUids.pop() : undefined;
  if (uid !== undefined) return { ...pod, metadata: { ...pod.metadata, uid } };
  return random.chance(0.6) ? withUid(pod, random) : pod;
}

/** Generates a manifest, which often changes the previous one of the same pod. */
export function randomApply(generator: StoryGenerator, name: string): Extract<Action, { kind: 'apply' }> {
  const { random, lastManifests, listed } = generator;
  const before = lastManifests.get(name);
  const isSame = before !== undefined && random.chance(0.5);
  const pod = isSame ? randomChange(before, random) : newPod(generator, name);
  return { kind: 'apply', pod: remember(generator, pod), ...(listed.has(name) ? { by: 'url' } : {}) };
}

/** Weight and generator of each kind of action. */
const GENERATORS: { readonly [K in NodeAction['kind']]: readonly [weight: number, generate: Generator<K>] } = {
  apply: [16, (generator) => randomApply(generator, generator.random.pick(generator.names))],
  writeInParts: [
    2,
    (generator) => {
      const { random, names, listed } = generator;
      const pod = remember(generator, randomManifest(random.pick(names.filter((name) => !listed.has(name))), random));
      return { kind: 'writeInParts', pod, share: random.pick([0, 0.3, 0.9, 0.99]), restMs: duration(random, 3) };
    },
  ],
  remove: [9, (generator) => ({ kind: 'remove', pod: fullName(generator) })],
  renameManifest: [
    1,
    (generator) => ({ kind: 'renameManifest', pod: fullName(generator), file: file(generator.random) }),
  ],
  copyManifest: [1, (generator) => ({ kind: 'copyManifest', pod: fullName(generator), file: file(generator.random) })],
  renameListed: [
    1,
    ({ random, names, listed }) => {
      const name = random.pick(listed.size > 0 ? [...listed] : names);
      return { kind: 'renameListed', pod: `default/${name}-${NODE_NAME}`, name: `${name.slice(0, 50)}-renamed` };
    },
  ],
  scribble: [2, ({ random }) => ({ kind: 'scribble', file: random.pick(ODD_FILES), text: random.pick(TEXTS) })],
  spoil: [
    3,
    (generator) => {
      const how = generator.random.pick(['empty', 'cut', 'noise', 'refused'] as const);
      return { kind: 'spoil', pod: fullName(generator), how, forMs: duration(generator.random, 300) };
    },
  ],
  manifestsGone: [1, ({ random }) => ({ kind: 'manifestsGone', forMs: duration(random) })],
  url: [
    1,
    ({ random }) => ({
      kind: 'url',
      fault: random.pick(['refused', 'silent', 'hanging', 'half', 'garbage', 'failing', 'slow'] as const),
      forMs: duration(random),
    }),
  ],
  exit: [8, ({ random }) => ({ kind: 'exit', which: which(random), exitCode: random.pick([0, 1, 137, 143]) })],
  oom: [2, ({ random }) => ({ kind: 'oom', which: which(random), child: random.chance(0.3) })],
  systemOom: [1, ({ random }) => ({ kind: 'systemOom', which: which(random) })],
  killSandbox: [2, ({ random }) => ({ kind: 'killSandbox', which: which(random) })],
  removeSandbox: [2, ({ random }) => ({ kind: 'removeSandbox', which: which(random) })],
  killAgent: [4, ({ random }) => ({ kind: 'killAgent', downMs: downMs(random) })],
  stopAgent: [2, ({ random }) => ({ kind: 'stopAgent', drains: random.chance(0.4), downMs: downMs(random) })],
  powerCut: [2, ({ random }) => ({ kind: 'powerCut', downMs: downMs(random) })],
  runtimeDown: [
    3,
    ({ random }) => {
      const down = { kind: 'runtimeDown', downMs: downMs(random), keepContainers: random.chance(0.7) } as const;
      const forgets = random.chance(0.3) ? { forgets: random.pick([0.3, 1]) } : {};
      const recalls = random.chance(0.1) ? { recalls: true } : {};
      const fraction = random.fraction();
      const hasUnknown = fraction < 0.1 ? { hasUnknown: true } : {};
      const renames = fraction >= 0.85 ? { renames: fraction >= 0.9 ? 1 : 0.5 } : {};
      return { ...down, ...forgets, ...recalls, ...hasUnknown, ...renames };
    },
  ],
  stall: [2, ({ random }) => ({ kind: 'stall', forMs: duration(random) })],
  registryDown: [1, ({ random }) => ({ kind: 'registryDown', images: PULLED, forMs: duration(random) })],
  networkDown: [1, ({ random }) => ({ kind: 'networkDown', forMs: duration(random) })],
  noAddresses: [1, ({ random }) => ({ kind: 'noAddresses', forMs: duration(random) })],
  lists: [
    2,
    ({ random }) =>
      random.chance(0.5)
        ? { kind: 'lists', show: 'stale', forMs: duration(random, 20) }
        : { kind: 'lists', show: 'shuffled', forMs: duration(random, 200) },
  ],
  events: [
    3,
    ({ random }) => ({
      kind: 'events',
      delivery: random.pick(['paused', 'dropped', 'doubled', 'late', 'reordered', 'some'] as const),
      forMs: duration(random),
    }),
  ],
  loseImage: [1, ({ random }) => ({ kind: 'loseImage', image: random.pick([PRESENT_IMAGE, ...PULLED]) })],
  imageDiskFull: [1, ({ random }) => ({ kind: 'imageDiskFull', forMs: duration(random, 900) })],
  disk: [
    2,
    ({ random }) => ({
      kind: 'disk',
      fault: random.pick(['full', 'readOnly', 'failing', 'noDescriptors', 'tableFull'] as const),
      forMs: duration(random, 30),
    }),
  ],
  mountForeign: [
    1,
    ({ random }) => ({
      kind: 'mountForeign',
      which: which(random),
      at: random.pick(FOREIGN_MOUNT_PATHS),
      forMs: duration(random, 120),
    }),
  ],
  visit: [3, ({ random }) => ({ kind: 'visit', uid: random.pick(TEMPORARY_UIDS), forMs: duration(random, 200) })],
  addresses: [1, ({ random }) => ({ kind: 'addresses', ips: random.pick(ADDRESSES) })],
  cgroupsReadOnly: [1, ({ random }) => ({ kind: 'cgroupsReadOnly', forMs: duration(random) })],
  flaky: [
    3,
    ({ random }) => ({
      kind: 'flaky',
      target: random.pick(HOST_TARGETS),
      share: random.pick([0.2, 0.5, 1]),
      forMs: duration(random, 30),
    }),
  ],
  watches: [
    1,
    ({ random }) => ({
      kind: 'watches',
      fault: random.pick(['dropped', 'doubled', 'late', 'exhausted'] as const),
      forMs: duration(random, 30),
    }),
  ],
  jump: [2, ({ random }) => ({ kind: 'jump', ms: random.pick([-3_600, -10, 10, 3_600]) * SECOND })],
};

// Safe cast: the keys of this record are kinds.
const kinds = Object.keys(GENERATORS) as readonly NodeAction['kind'][];
const weightedKinds = kinds.flatMap((kind) => Array.from({ length: GENERATORS[kind][0] }, () => kind));

export const randomAction = (generator: StoryGenerator): Action =>
  GENERATORS[generator.random.pick(weightedKinds)][1](generator);
