/** Adds shortages of the host's resources to random stories, and faults while the node is evicting pods. */
import { DISK_LAYOUTS, HOST_RESOURCES } from '../../host/hostResources.ts';
import type { Random } from '../../random.ts';
import { HOST_TARGETS } from '../../run/gate.ts';
import type { Action, Story, TimedAction } from '../story.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Share of the stories whose nodes evict pods. */
const EVICTION_SHARE = 0.25;

/** Share of the API server's pods in these stories that are made critical. Static pods always are. */
const CRITICAL_SHARE = 0.2;

/** Share of the shortages during which something else fails. */
const FAULT_SHARE = 0.5;

/**
 * Shares of a resource that other programs may use. The last two reach the hard threshold, and all but the first reach
 * the soft threshold for memory.
 */
const USED_SHARES = [0.5, 0.85, 0.92, 0.99] as const;

/**
 * Returns the story unchanged or, in a quarter of the cases, for a node that runs short of its resources and evicts
 * pods.
 */
export function withShortages(story: Story, random: Random): Story {
  if (!random.chance(EVICTION_SHARE)) return story;
  const shortages = Array.from({ length: random.between(1, 4) }, () => randomShortage(story.lastsMs, random)).flat();
  const actions = story.actions.map((each) => (random.chance(CRITICAL_SHARE) ? withCriticalPod(each) : each));
  return {
    ...story,
    evicts: true,
    diskLayout: random.pick(DISK_LAYOUTS),
    actions: [...actions, ...shortages].toSorted((a, b) => a.at - b.at),
  };
}

/** Generates a shortage of a resource and, in half of the cases, a fault up to 20 s after its start. */
function randomShortage(lastsMs: number, random: Random): TimedAction[] {
  const at = random.between(0, lastsMs);
  const forMs = random.between(10 * SECOND, 5 * MINUTE);
  const shortage: TimedAction = {
    at,
    action: { kind: 'pressure', resource: random.pick(HOST_RESOURCES), share: random.pick(USED_SHARES), forMs },
  };
  if (!random.chance(FAULT_SHARE)) return [shortage];
  return [shortage, { at: Math.min(lastsMs, at + random.between(0, 20 * SECOND)), action: randomFault(random) }];
}

/** Generates a fault of the host or the runtime, or a crash of the agent. */
function randomFault(random: Random): Action {
  const forMs = random.between(SECOND, 30 * SECOND);
  switch (random.pick(['flaky', 'stall', 'killAgent', 'disk'] as const)) {
    case 'flaky':
      return { kind: 'flaky', target: random.pick(HOST_TARGETS), share: random.pick([0.2, 0.5, 1]), forMs };
    case 'stall':
      return { kind: 'stall', forMs };
    case 'killAgent':
      return { kind: 'killAgent', downMs: random.pick([0, SECOND, 20 * SECOND]) };
    case 'disk':
      return { kind: 'disk', fault: random.pick(['full', 'failing'] as const), forMs };
  }
}

/** If the action creates a pod, returns it with a critical pod. */
function withCriticalPod(timedAction: TimedAction): TimedAction {
  const { action } = timedAction;
  if (action.kind !== 'createPod') return timedAction;
  const { pod } = action;
  const spec = { ...pod.spec, priorityClassName: 'system-node-critical' };
  return { ...timedAction, action: { ...action, pod: { ...pod, spec } } };
}
