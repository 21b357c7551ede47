/**
 * Generates random stories of a node of a cluster. They concern its users, its API server and the network, and
 * occasionally the host.
 */
import { codesOf, isRejectionCode } from '../../faults/failures.ts';
import { NODE_NAME } from '../../host/host.ts';
import { Random } from '../../random.ts';
import type { CallFault } from '../../run/gate.ts';
import { type Manifest, manifest } from '../manifests.ts';
import { PULLED, randomManifest } from '../random/randomManifest.ts';
import { CLOCK_JUMPS, initialObjects, objectActions, withObjects } from '../random/randomObjects.ts';
import { withShortages } from '../random/randomShortages.ts';
import type { Action, ClusterAction, Story, StoryFault, StorySize, TimedAction } from '../story.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Sizes from one pod with many faults to ten pods within 40 minutes, and two pods within two hours. */
const SIZES: readonly StorySize[] = [
  { pods: 1, actions: 8, faults: 6, lastsMs: 2 * MINUTE },
  { pods: 2, actions: 14, faults: 10, lastsMs: 4 * MINUTE },
  { pods: 5, actions: 30, faults: 15, lastsMs: 10 * MINUTE },
  { pods: 10, actions: 60, faults: 20, lastsMs: 40 * MINUTE },
  // The story is long enough for tokens to be renewed several times.
  { pods: 2, actions: 20, faults: 8, lastsMs: 120 * MINUTE },
];

/** Most nodes watch objects. */
const STRATEGIES = ['Watch', 'Watch', 'Watch', 'Cache', 'Get'] as const;

/** All error codes of the API server. */
const CODES = codesOf({ target: 'api', name: '', about: '', writes: true });

interface StoryGenerator {
  readonly random: Random;
  readonly names: readonly string[];
}

/** Generates a pod of the API server. Half of these pods need other API objects. */
function randomApiPod(generator: StoryGenerator): Manifest {
  const pod = plainPod(generator);
  return generator.random.chance(0.5) ? withObjects(pod, generator.random) : pod;
}

/** Generates a pod without other API objects. It sets no pull policy, because users may change the image later. */
function plainPod({ random, names }: StoryGenerator): Manifest {
  const name = random.pick(names);
  if (random.chance(0.4)) return manifest(name, { terminationGracePeriodSeconds: random.pick([0, 2, 30]) });
  const pod = randomManifest(name, random);
  const { priority: _priority, runtimeClassName: _class, ...spec } = pod.spec;
  const containers = spec.containers.map(({ imagePullPolicy: _policy, ...each }) => each);
  return { ...pod, spec: { ...spec, containers } };
}

const fullName = ({ random, names }: StoryGenerator): string => `default/${random.pick(names)}`;
const duration = (random: Random): number =>
  random.pick([random.between(0, 5 * SECOND), random.between(0, MINUTE), random.between(0, 15 * MINUTE)]);
const downMs = (random: Random): number => random.pick([0, 100, SECOND, 20 * SECOND, MINUTE]);

const ACTIONS: readonly (readonly [weight: number, generate: (generator: StoryGenerator) => Action])[] = [
  [14, (generator): ClusterAction => ({ kind: 'createPod', pod: randomApiPod(generator) })],
  [10, (generator) => ({ kind: 'deletePod', pod: fullName(generator) })],
  [
    3,
    (generator) => ({ kind: 'deletePod', pod: fullName(generator), graceSeconds: generator.random.pick([1, 5, 60]) }),
  ],
  [3, (generator) => ({ kind: 'deletePod', pod: fullName(generator), graceSeconds: 0 })],
  [4, (generator) => ({ kind: 'replacePod', pod: randomApiPod(generator) })],
  [3, (generator) => ({ kind: 'apply', pod: plainPod(generator) })],
  [2, (generator) => ({ kind: 'remove', pod: `${fullName(generator)}-${NODE_NAME}` })],
  [1, (generator) => ({ kind: 'deletePod', pod: `${fullName(generator)}-${NODE_NAME}` })],
  [
    2,
    (generator) => ({
      kind: 'labelPod',
      pod: fullName(generator),
      labels: { version: `${generator.random.between(1, 9)}` },
    }),
  ],
  [
    2,
    (generator) => ({
      kind: 'setImage',
      pod: fullName(generator),
      container: 'main',
      image: generator.random.pick(PULLED),
    }),
  ],
  [1, (generator) => ({ kind: 'failPod', pod: fullName(generator) })],
  [
    6,
    ({ random }) => ({ kind: 'apiAway', how: random.pick(['refused', 'hanging'] as const), forMs: duration(random) }),
  ],
  [4, ({ random }) => ({ kind: 'apiSilent', forMs: duration(random) })],
  [3, ({ random }) => ({ kind: 'apiRestart', forgets: random.chance(0.5) })],
  [
    4,
    ({ random }) => ({
      kind: 'flaky',
      target: 'api',
      share: random.pick([0.2, 0.5, 1]),
      forMs: random.between(0, MINUTE),
    }),
  ],
  [6, ({ random }) => ({ kind: 'killAgent', downMs: downMs(random) })],
  [2, ({ random }) => ({ kind: 'stopAgent', drains: random.chance(0.4), downMs: downMs(random) })],
  [3, ({ random }) => ({ kind: 'runtimeDown', downMs: downMs(random), keepContainers: random.chance(0.7) })],
  [4, ({ random }) => ({ kind: 'exit', which: random.between(0, 20), exitCode: random.pick([0, 1, 137]) })],
  [3, ({ random }) => ({ kind: 'jump', ms: random.pick(CLOCK_JUMPS) })],
  ...objectActions.map(
    ([weight, generate]) => [weight, ({ random }: StoryGenerator): Action => generate(random)] as const,
  ),
  [1, ({ random }) => ({ kind: 'killSandbox', which: random.between(0, 20) })],
  [1, ({ random }) => ({ kind: 'powerCut', downMs: downMs(random) })],
];
const weightedGenerators = ACTIONS.flatMap(([weight, generate]) => Array.from({ length: weight }, () => generate));

function randomFault(random: Random): CallFault {
  const kind = random.pick(['fail', 'lostReply', 'lostReply', 'hang', 'late', 'death', 'death'] as const);
  if (kind === 'fail') return { kind, code: random.pick(CODES) };
  if (kind === 'lostReply') return { kind, code: random.pick(CODES.filter((code) => !isRejectionCode(code))) };
  if (kind === 'late') return { kind, ms: random.pick([1, 50, SECOND, 30 * SECOND]) };
  return kind === 'death' ? { kind, when: random.pick(['before', 'during', 'after'] as const) } : { kind };
}

/** Approximate number of calls per action, over which the faults are spread. */
const CALLS_PER_ACTION = 60;

/** Returns the random story of a seed. The seed also selects the size. */
export function clusterStory(seed: number): Story {
  const size = SIZES[seed % SIZES.length];
  if (size === undefined) throw new RangeError(`${seed} is no seed`);
  const { pods, actions: actionCount, faults: faultCount, lastsMs } = size;
  const random = new Random(seed);
  const names = Array.from({ length: pods }, (_, index) => `web-${index}`);
  const generator = { random, names };
  const actions = Array.from(
    { length: actionCount },
    (_, index): TimedAction =>
      index < pods
        ? { at: random.between(0, 5 * SECOND), action: { kind: 'createPod', pod: randomApiPod(generator) } }
        : { at: random.between(0, lastsMs), action: random.pick(weightedGenerators)(generator) },
  );
  const faults = Array.from(
    { length: faultCount },
    (): StoryFault => ({
      call: random.between(0, (pods + actionCount) * CALLS_PER_ACTION),
      fault: randomFault(random),
    }),
  );
  const all = [...initialObjects(random), ...actions].toSorted((a, b) => a.at - b.at);
  const story = { seed, actions: all, faults, lastsMs, overtakes: true, objects: random.pick(STRATEGIES) };
  return withShortages(story, random);
}
