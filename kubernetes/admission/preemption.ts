/** Which pods must end so that a critical one finds room (C24), as the kubelet chooses them: as few and small as can be. */
import { amountRequested, type PodRequests } from '../resources/requests.ts';
import type { Shortage } from './refusal.ts';

/** A pod that takes room, by its uid; `wanted` ranks it: what it asks for now, not what it was admitted with. */
export interface Occupant {
  readonly uid: string;
  readonly requests: PodRequests;
  readonly wanted: PodRequests;
}

interface Need {
  readonly resource: string;
  readonly amount: number;
}

/** The pods to end, or the needs that even the end of all would leave. */
export type Preemption = { readonly victims: readonly Occupant[] } | { readonly unmet: string };

/** Chooses who ends for a critical pod: of the classes Guaranteed, Burstable and BestEffort each one only for what the lower ones leave. */
export function preemption(
  requests: PodRequests,
  shortages: readonly Shortage[],
  occupants: readonly Occupant[],
): Preemption {
  const needs = shortages.map(({ resource, requested, used, capacity }) => ({
    resource,
    amount: requested - (capacity - used),
  }));
  const candidates = occupants.filter(({ wanted }) => isPreemptable(requests, wanted));
  const unmet = without(needs, candidates);
  if (unmet.length > 0)
    return { unmet: `[${unmet.map(({ resource, amount }) => `(res: ${resource}, q: ${amount}), `).join('')}]` };
  const of = (qos: PodRequests['qos']) => candidates.filter(({ wanted }) => wanted.qos === qos);
  const [bestEffort, burstable] = [of('BestEffort'), of('Burstable')];
  const guaranteed = nearest(of('Guaranteed'), without(needs, [...bestEffort, ...burstable]));
  const fromBurstable = nearest(burstable, without(needs, [...bestEffort, ...guaranteed]));
  const fromBestEffort = nearest(bestEffort, without(needs, [...fromBurstable, ...guaranteed]));
  return { victims: [...fromBestEffort, ...fromBurstable, ...guaranteed] };
}

/** A critical pod goes before one that is not, and a higher priority before a lower. */
export function isPreemptable(by: PodRequests, other: PodRequests): boolean {
  if (by.critical && !other.critical) return true;
  return by.priority !== null && other.priority !== null && by.priority > other.priority;
}

/** What is still needed when these pods have ended. */
function without(needs: readonly Need[], ended: readonly Occupant[]): Need[] {
  return needs
    .map(({ resource, amount }) => ({
      resource,
      amount: ended.reduce((left, { requests }) => left - amountRequested(requests, resource), amount),
    }))
    .filter(({ amount }) => amount > 0);
}

/** Takes the pod that comes nearest to what is needed, then the nearest to the rest, until nothing is needed. */
function nearest(from: readonly Occupant[], needed: readonly Need[]): Occupant[] {
  const taken: Occupant[] = [];
  let [rest, needs] = [[...from], [...needed]];
  while (needs.length > 0 && rest.length > 0) {
    const best = rest.reduce((one, other) => (isBetter(other, one, needs) ? other : one));
    taken.push(best);
    rest = rest.filter((each) => each !== best);
    needs = without(needs, [best]);
  }
  return taken;
}

function isBetter(one: Occupant, other: Occupant, needs: readonly Need[]): boolean {
  const [distance, best] = [distanceOf(one, needs), distanceOf(other, needs)];
  return distance < best || (distance === best && isNoLarger(one.requests, other.requests));
}

/** How much of the needs a pod's end leaves, each need weighing the same. */
function distanceOf({ requests }: Occupant, needs: readonly Need[]): number {
  return needs.reduce((sum, { resource, amount }) => {
    const left = amount - amountRequested(requests, resource);
    return left > 0 ? sum + (left / amount) ** 2 : sum;
  }, 0);
}

function isNoLarger(one: PodRequests, other: PodRequests): boolean {
  if (one.memoryBytes !== other.memoryBytes) return one.memoryBytes < other.memoryBytes;
  // Of two alike the kubelet takes the later.
  return one.cpuMillis <= other.cpuMillis;
}
