/**
 * Selects the pods to preempt for a critical pod (C24). Like the kubelet, minimizes the number of these pods and the
 * resources that they request.
 */
import { amountRequested, type PodRequests } from '../resources/requests.ts';
import type { Shortage } from './refusal.ts';

/**
 * A pod that uses resources of the node. `currentRequests` determines the rank of the pod and can differ from the
 * admitted `requests`.
 */
export interface Occupant {
  readonly uid: string;
  readonly requests: PodRequests;
  readonly currentRequests: PodRequests;
}

export interface ResourceNeed {
  readonly resource: string;
  readonly amount: number;
}

/** The pods to preempt, or the shortage that would remain even if all candidates were preempted. */
export type Preemption = { readonly victims: readonly Occupant[] } | { readonly unmet: string };

/**
 * Selects the pods to preempt for a critical pod. Burstable pods are selected only for needs that BestEffort pods
 * cannot cover, and Guaranteed pods only for needs that neither class can cover.
 */
export function selectVictims(
  requests: PodRequests,
  shortages: readonly Shortage[],
  occupants: readonly Occupant[],
): Preemption {
  const needs = shortages.map(({ resource, requestedAmount, usedAmount, capacity }) => ({
    resource,
    amount: requestedAmount - (capacity - usedAmount),
  }));
  const candidates = occupants.filter(({ currentRequests }) => isPreemptable(requests, currentRequests));
  const unmetNeeds = remainingNeeds(needs, candidates);
  if (unmetNeeds.length > 0)
    return { unmet: `[${unmetNeeds.map(({ resource, amount }) => `(res: ${resource}, q: ${amount}), `).join('')}]` };
  const candidatesOfClass = (qos: PodRequests['qos']) =>
    candidates.filter(({ currentRequests }) => currentRequests.qos === qos);
  const [bestEffort, burstable] = [candidatesOfClass('BestEffort'), candidatesOfClass('Burstable')];
  const guaranteedVictims = selectBestFits(
    candidatesOfClass('Guaranteed'),
    remainingNeeds(needs, [...bestEffort, ...burstable]),
  );
  const burstableVictims = selectBestFits(burstable, remainingNeeds(needs, [...bestEffort, ...guaranteedVictims]));
  const bestEffortVictims = selectBestFits(
    bestEffort,
    remainingNeeds(needs, [...burstableVictims, ...guaranteedVictims]),
  );
  return { victims: [...bestEffortVictims, ...burstableVictims, ...guaranteedVictims] };
}

/**
 * Whether a pod may preempt another one. A critical pod may preempt any pod that is not critical, and a pod with a
 * higher priority may preempt one with a lower priority.
 */
export function isPreemptable(preemptor: PodRequests, candidate: PodRequests): boolean {
  if (preemptor.critical && !candidate.critical) return true;
  return preemptor.priority !== null && candidate.priority !== null && preemptor.priority > candidate.priority;
}

/** Returns the resource needs that remain unmet after the victims have terminated. */
export function remainingNeeds(needs: readonly ResourceNeed[], victims: readonly Occupant[]): ResourceNeed[] {
  return needs
    .map(({ resource, amount }) => ({
      resource,
      amount: victims.reduce((remaining, { requests }) => remaining - amountRequested(requests, resource), amount),
    }))
    .filter(({ amount }) => amount > 0);
}

/** Repeatedly selects the pod that best covers the remaining needs, until all needs are covered. */
function selectBestFits(candidates: readonly Occupant[], initialNeeds: readonly ResourceNeed[]): Occupant[] {
  const victims: Occupant[] = [];
  let [remainingCandidates, needs] = [[...candidates], [...initialNeeds]];
  while (needs.length > 0 && remainingCandidates.length > 0) {
    const bestCandidate = remainingCandidates.reduce((best, candidate) =>
      isBetterFit(candidate, best, needs) ? candidate : best,
    );
    victims.push(bestCandidate);
    remainingCandidates = remainingCandidates.filter((each) => each !== bestCandidate);
    needs = remainingNeeds(needs, [bestCandidate]);
  }
  return victims;
}

function isBetterFit(candidate: Occupant, current: Occupant, needs: readonly ResourceNeed[]): boolean {
  const [distance, currentDistance] = [distanceOf(candidate, needs), distanceOf(current, needs)];
  return (
    distance < currentDistance || (distance === currentDistance && isNoLarger(candidate.requests, current.requests))
  );
}

/**
 * Returns the normalized distance between the needs and the resources that the pod would free. Each need has the same
 * weight.
 */
export function distanceOf({ requests }: Occupant, needs: readonly ResourceNeed[]): number {
  return needs.reduce((sum, { resource, amount }) => {
    const missingAmount = amount - amountRequested(requests, resource);
    return missingAmount > 0 ? sum + (missingAmount / amount) ** 2 : sum;
  }, 0);
}

/**
 * Whether a pod requests at most as much as another one. Memory is compared first, then CPU. If two pods are equal, the
 * one that is later in the list is preferred, as in the kubelet.
 */
export function isNoLarger(
  candidate: Pick<PodRequests, 'memoryBytes' | 'cpuMillis'>,
  current: Pick<PodRequests, 'memoryBytes' | 'cpuMillis'>,
): boolean {
  if (candidate.memoryBytes !== current.memoryBytes) return candidate.memoryBytes < current.memoryBytes;
  return candidate.cpuMillis <= current.cpuMillis;
}
