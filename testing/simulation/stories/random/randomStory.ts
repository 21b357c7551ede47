/** Generates random stories with all kinds of actions in any order. */
import { TOPOLOGY_POLICIES } from '../../../../kubernetes/cpus/topologyHints.ts';
import { HOST_CODES } from '../../faults/failures.ts';
import type { SimulatedMachine } from '../../host/cpuTopologies.ts';
import { TEMPORARY_UIDS } from '../../host/foreignPods.ts';
import { DEVICE_RESOURCE } from '../../host/simulatedDevices.ts';
import { Random } from '../../random.ts';
import type { CallFault } from '../../run/gate.ts';
import { checkSize } from '../checkStory.ts';
import type { ManifestContainer } from '../manifests.ts';
import type { Story, StoryFault, StorySize, TimedAction } from '../story.ts';
import { randomAction, randomApply, type StoryGenerator } from './randomAction.ts';
import { ODD_NAMES } from './randomManifest.ts';
import { withShortages } from './randomShortages.ts';

const SECOND = 1_000;

/** Sizes from one pod with many faults to a node with thirty pods. */
const SIZES: readonly StorySize[] = [
  { pods: 1, actions: 8, faults: 4, lastsMs: 90 * SECOND },
  { pods: 2, actions: 10, faults: 6, lastsMs: 120 * SECOND },
  { pods: 5, actions: 25, faults: 15, lastsMs: 300 * SECOND },
  { pods: 12, actions: 50, faults: 20, lastsMs: 600 * SECOND },
  { pods: 30, actions: 120, faults: 40, lastsMs: 1_800 * SECOND },
];

function randomFault(random: Random): CallFault {
  const kind = random.pick(['fail', 'fail', 'lostReply', 'hang', 'late', 'late', 'death'] as const);
  if (kind === 'lostReply') return { kind, code: random.pick(HOST_CODES) };
  if (kind === 'fail') return { kind, code: random.pick(HOST_CODES), ...(random.chance(0.3) ? { inPart: true } : {}) };
  if (kind === 'late') return { kind, ms: random.pick([1, 50, SECOND, 30 * SECOND]) };
  return kind === 'death' ? { kind, when: random.pick(['before', 'during', 'after'] as const) } : { kind };
}

/** Maximum interval between two crowded actions, in milliseconds. */
const CROWDED_INTERVAL_MS = 1_500;

/** Approximate number of calls per action, over which the faults are spread. */
const CALLS_PER_ACTION = 60;

function randomNames(count: number, random: Random): string[] {
  const odd = [...ODD_NAMES];
  return Array.from({ length: count }, (_, index) => {
    const name = random.chance(0.15) ? odd.splice(random.between(0, odd.length), 1)[0] : undefined;
    return name ?? `pod-${index}`;
  });
}

/**
 * Returns the names of the pods in the list at the manifest URL. There are usually none, and the first pod always has a
 * file.
 */
function randomListed(names: readonly string[], random: Random): ReadonlySet<string> {
  return random.chance(0.2) ? new Set(names.slice(1).filter(() => random.chance(0.5))) : new Set();
}

/** Returns the cgroup access of a host. On some hosts, cgroups are read-only or left to the runtime. */
function randomHost(random: Random): Pick<Story, 'cgroups'> {
  const fraction = random.fraction();
  if (fraction < 0.06) return { cgroups: 'readOnly' };
  return fraction < 0.1 ? { cgroups: 'unused' } : {};
}

/** Share of the nodes that assign exclusive CPUs. */
const CPU_MANAGER_SHARE = 0.2;

/** Share of the nodes with exclusive CPUs that also assign the memory of NUMA nodes. */
const MEMORY_MANAGER_SHARE = 0.5;

/** Machines of several NUMA nodes with more CPUs than the pods of a simulated node can request. */
const LARGE_MACHINES = ['xeonGold', 'altra', 'power9'] as const satisfies readonly SimulatedMachine[];

/** If the action applies a pod, makes that pod Guaranteed with whole CPUs in about half of the cases. */
function withWholeCpus(timedAction: TimedAction, random: Random): TimedAction {
  const { action } = timedAction;
  if (action.kind !== 'apply' || random.chance(0.5)) return timedAction;
  const amounts = { cpu: String(random.between(1, 4)), memory: '64Mi' };
  const withAmounts = (container: ManifestContainer) => ({ ...container, resources: { limits: amounts } });
  const { spec } = action.pod;
  const initContainers = spec.initContainers?.map(withAmounts);
  return {
    ...timedAction,
    action: {
      ...action,
      pod: {
        ...action.pod,
        spec: {
          ...spec,
          containers: spec.containers.map(withAmounts),
          ...(initContainers === undefined ? {} : { initContainers }),
        },
      },
    },
  };
}

/** The share of the nodes with exclusive CPUs that have a topology policy. */
const TOPOLOGY_SHARE = 0.75;

/** The share of these nodes that have a device plugin, and of their pods that request a device. */
const PLUGIN_SHARE = 0.5;
const DEVICE_SHARE = 0.3;

/** Draws the topology policy of a node and, if there is one, which pods request devices. */
function withTopology(story: Story, names: readonly string[], random: Random): Story {
  if (!random.chance(TOPOLOGY_SHARE)) return story;
  const topology = { policy: random.pick(TOPOLOGY_POLICIES), isPerPod: random.chance(0.5) };
  if (!random.chance(PLUGIN_SHARE)) return { ...story, topology };
  // All manifests of a pod request the device, because an update must not change it.
  const podsWithDevice = new Set(names.filter(() => random.chance(DEVICE_SHARE)));
  const actions = story.actions.map((each) => withDevice(each, podsWithDevice));
  return { ...story, topology, hasPlugin: true, actions };
}

/** Adds a device to the first container of an applied pod if the pod is one of `pods`. */
function withDevice(timedAction: TimedAction, pods: ReadonlySet<string>): TimedAction {
  const { action } = timedAction;
  if (action.kind !== 'apply' || !pods.has(action.pod.metadata.name)) return timedAction;
  const { spec } = action.pod;
  const containers = spec.containers.map((container, index) => {
    const { resources = {} } = container;
    const limits = { ...resources.limits, [DEVICE_RESOURCE]: '1' };
    return index === 0 ? { ...container, resources: { ...resources, limits } } : container;
  });
  return { ...timedAction, action: { ...action, pod: { ...action.pod, spec: { ...spec, containers } } } };
}

/** Generates the times of the actions, in milliseconds. */
function randomTimes({ actions, lastsMs, crowdedShare = 0 }: StorySize, random: Random): number[] {
  const times: number[] = [];
  let at = 0;
  while (times.length < actions) {
    at = random.chance(crowdedShare)
      ? Math.min(lastsMs, at + random.between(0, CROWDED_INTERVAL_MS))
      : random.between(0, lastsMs);
    times.push(at);
  }
  return times.toSorted((a, b) => a - b);
}

/** Returns the random story of a seed. Throws a `TypeError` if the size is invalid. */
export function randomStory(seed: number, size: StorySize): Story {
  checkSize(seed, size);
  const { pods, actions: actionCount, faults: faultCount, lastsMs } = size;
  const random = new Random(seed);
  const names = randomNames(pods, random);
  const listed = randomListed(names, random);
  const generator: StoryGenerator = {
    random,
    names,
    listed,
    lastManifests: new Map(),
    unusedUids: [...TEMPORARY_UIDS],
  };
  const first = names.map(
    (name): TimedAction => ({ at: random.between(0, 5 * SECOND), action: randomApply(generator, name) }),
  );
  const later = randomTimes(size, random).map((at): TimedAction => ({ at, action: randomAction(generator) }));
  const faults = Array.from(
    { length: faultCount },
    (): StoryFault => ({
      call: random.between(0, (pods + actionCount) * CALLS_PER_ACTION),
      fault: randomFault(random),
    }),
  );
  const actions = [...first, ...later].toSorted((a, b) => a.at - b.at);
  const host = randomHost(random);
  if (!random.chance(CPU_MANAGER_SHARE)) return { seed, actions, faults, lastsMs, overtakes: true, ...host };
  const machine = random.pick(LARGE_MACHINES);
  const guaranteedActions = actions.map((each) => withWholeCpus(each, random));
  const assignsMemory = random.chance(MEMORY_MANAGER_SHARE);
  const assigning = {
    seed,
    actions: guaranteedActions,
    faults,
    lastsMs,
    overtakes: true,
    ...host,
    machine,
    assignsMemory,
  };
  return withTopology(assigning, names, random);
}

/** Crowded share of every fourth story of a size. */
const CROWDED_SHARE = 0.6;

/** Returns the random story of a seed. The seed also selects the size and whether the story is crowded. */
export function storyOfAnySize(seed: number): Story {
  const size = SIZES[seed % SIZES.length];
  if (size === undefined) throw new RangeError(`${seed} is no seed`);
  const isCrowded = Math.floor(seed / SIZES.length) % 4 === 3;
  const story = randomStory(seed, isCrowded ? { ...size, crowdedShare: CROWDED_SHARE } : size);
  return withShortages(story, new Random(seed).fork());
}
