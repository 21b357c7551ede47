/** Draws actions, each kind with its own weight. */
import { HOST_IP, NODE_NAME, PRESENT_IMAGE } from '../host/host.ts';
import { VISITORS } from '../host/otherPods.ts';
import type { Random } from '../random.ts';
import { HOST_ROOMS } from '../run/outside.ts';
import { changed, drawnManifest, PULLED, withUid } from './drawnManifest.ts';
import type { Manifest } from './manifests.ts';
import type { Deed, HostedDeed } from './story.ts';

const SECOND = 1_000;
/** The paths of foreign mounts: as an unknown plugin, beside the volumes, and inside a volume. */
const GUESTS = [
  'volumes/kubernetes.io~csi/theirs',
  'theirs',
  'volumes/kubernetes.io~empty-dir/volume-0/theirs',
] as const;

/** The addresses that a host may get. */
const ADDRESSES = [[HOST_IP], ['192.0.2.7'], ['192.0.2.7', '2001:db8::7'], [HOST_IP, '2001:db8::1']] as const;

/** The state of a story while it is being drawn. */
export interface Drawing {
  readonly random: Random;
  /** All pod names, and those that a URL lists. */
  readonly names: readonly string[];
  readonly listed: ReadonlySet<string>;
  /** The last manifest of each name. */
  readonly last: Map<string, Manifest>;
  /** The UIDs of other agents' pods that no manifest has used yet. */
  readonly others: string[];
}

type Draw<K extends HostedDeed['kind']> = (drawing: Drawing) => HostedDeed & { readonly kind: K };

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

const some = (random: Random, longest = 60): number => random.between(0, longest * SECOND);
const which = (random: Random): number => random.between(0, 50);
const fullName = ({ names, random }: Drawing): string => `default/${random.pick(names)}-${NODE_NAME}`;
const downMs = (random: Random): number => random.pick([0, 100, SECOND, 20 * SECOND]);
/** A file name that the node reads, i.e. not a hidden one. */
const file = (random: Random): string =>
  random.chance(0.5) ? `other-${random.between(0, 4)}.json` : random.pick(ODD_FILES.filter((each) => each !== HIDDEN));

/** Stores a manifest as the base of later changes. */
function noted({ last }: Drawing, pod: Manifest): Manifest {
  last.set(pod.metadata.name, pod);
  return pod;
}

/** Draws a new pod. It may have its own UID, the UID of a different agent's pod, or one that the node derives. */
function anotherPod({ random, others }: Drawing, name: string): Manifest {
  const pod = drawnManifest(name, random);
  const uid = random.chance(0.08) ? others.pop() : undefined;
  if (uid !== undefined) return { ...pod, metadata: { ...pod.metadata, uid } };
  return random.chance(0.6) ? withUid(pod, random) : pod;
}

/** Draws a manifest, which often changes the previous one of the same pod. */
export function drawnPod(drawing: Drawing, name: string): Extract<Deed, { kind: 'apply' }> {
  const { random, last, listed } = drawing;
  const before = last.get(name);
  const isSame = before !== undefined && random.chance(0.5);
  const pod = isSame ? changed(before, random) : anotherPod(drawing, name);
  return { kind: 'apply', pod: noted(drawing, pod), ...(listed.has(name) ? { by: 'url' } : {}) };
}

/** The weight and the generator of each kind. */
const KINDS: { readonly [K in HostedDeed['kind']]: readonly [weight: number, draw: Draw<K>] } = {
  apply: [16, (drawing) => drawnPod(drawing, drawing.random.pick(drawing.names))],
  writeInParts: [
    2,
    (drawing) => {
      const { random, names, listed } = drawing;
      const pod = noted(drawing, drawnManifest(random.pick(names.filter((name) => !listed.has(name))), random));
      return { kind: 'writeInParts', pod, share: random.pick([0, 0.3, 0.9, 0.99]), restMs: some(random, 3) };
    },
  ],
  remove: [9, (drawing) => ({ kind: 'remove', pod: fullName(drawing) })],
  renameManifest: [1, (drawing) => ({ kind: 'renameManifest', pod: fullName(drawing), file: file(drawing.random) })],
  copyManifest: [1, (drawing) => ({ kind: 'copyManifest', pod: fullName(drawing), file: file(drawing.random) })],
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
    (drawing) => {
      const how = drawing.random.pick(['empty', 'cut', 'noise', 'refused'] as const);
      return { kind: 'spoil', pod: fullName(drawing), how, forMs: some(drawing.random, 300) };
    },
  ],
  manifestsGone: [1, ({ random }) => ({ kind: 'manifestsGone', forMs: some(random) })],
  url: [
    1,
    ({ random }) => ({
      kind: 'url',
      trouble: random.pick(['refused', 'silent', 'hanging', 'half', 'garbage', 'failing', 'slow'] as const),
      forMs: some(random),
    }),
  ],
  exit: [8, ({ random }) => ({ kind: 'exit', which: which(random), exitCode: random.pick([0, 1, 137, 143]) })],
  oom: [2, ({ random }) => ({ kind: 'oom', which: which(random), child: random.chance(0.3) })],
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
      const drawn = random.fraction();
      const hasUnknown = drawn < 0.1 ? { hasUnknown: true } : {};
      const renames = drawn >= 0.85 ? { renames: drawn >= 0.9 ? 1 : 0.5 } : {};
      return { ...down, ...forgets, ...recalls, ...hasUnknown, ...renames };
    },
  ],
  stall: [2, ({ random }) => ({ kind: 'stall', forMs: some(random) })],
  registryDown: [1, ({ random }) => ({ kind: 'registryDown', images: PULLED, forMs: some(random) })],
  networkDown: [1, ({ random }) => ({ kind: 'networkDown', forMs: some(random) })],
  noAddresses: [1, ({ random }) => ({ kind: 'noAddresses', forMs: some(random) })],
  lists: [
    2,
    ({ random }) =>
      random.chance(0.5)
        ? { kind: 'lists', show: 'stale', forMs: some(random, 20) }
        : { kind: 'lists', show: 'shuffled', forMs: some(random, 200) },
  ],
  events: [
    3,
    ({ random }) => ({
      kind: 'events',
      delivery: random.pick(['paused', 'dropped', 'doubled', 'late', 'reordered', 'some'] as const),
      forMs: some(random),
    }),
  ],
  loseImage: [1, ({ random }) => ({ kind: 'loseImage', image: random.pick([PRESENT_IMAGE, ...PULLED]) })],
  disk: [
    2,
    ({ random }) => ({
      kind: 'disk',
      trouble: random.pick(['full', 'readOnly', 'failing', 'noDescriptors', 'tableFull'] as const),
      forMs: some(random, 30),
    }),
  ],
  mountForeign: [
    1,
    ({ random }) => ({
      kind: 'mountForeign',
      which: which(random),
      at: random.pick(GUESTS),
      forMs: some(random, 120),
    }),
  ],
  visit: [3, ({ random }) => ({ kind: 'visit', uid: random.pick(VISITORS), forMs: some(random, 200) })],
  addresses: [1, ({ random }) => ({ kind: 'addresses', ips: random.pick(ADDRESSES) })],
  cgroupsReadOnly: [1, ({ random }) => ({ kind: 'cgroupsReadOnly', forMs: some(random) })],
  flaky: [
    3,
    ({ random }) => ({
      kind: 'flaky',
      room: random.pick(HOST_ROOMS),
      share: random.pick([0.2, 0.5, 1]),
      forMs: some(random, 30),
    }),
  ],
  watches: [
    1,
    ({ random }) => ({
      kind: 'watches',
      trouble: random.pick(['dropped', 'doubled', 'late', 'exhausted'] as const),
      forMs: some(random, 30),
    }),
  ],
  jump: [2, ({ random }) => ({ kind: 'jump', ms: random.pick([-3_600, -10, 10, 3_600]) * SECOND })],
};

// The keys of a record of kinds are kinds.
const kinds = Object.keys(KINDS) as readonly HostedDeed['kind'][];
const often = kinds.flatMap((kind) => Array.from({ length: KINDS[kind][0] }, () => kind));

export const drawnDeed = (drawing: Drawing): Deed => KINDS[drawing.random.pick(often)][1](drawing);
