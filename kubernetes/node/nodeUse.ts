/** Computes the share of a node's resources that its pods request. */

import { lookUp } from '../../base/values/lookUp.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { ResourceList } from '../api/schema/scalars.ts';
import { nanosOf, quantityLike } from '../api/values/quantity.ts';
import { effectiveResources } from '../resources/effectiveResources.ts';
import { isTerminalPhase } from '../status/phase.ts';
import type { NodeObject } from './nodeObject.ts';

/** An amount of a resource in absolute terms and as a percentage of the allocatable amount. */
export interface ResourceShare {
  readonly amount: string;
  /** Percentage, rounded down to an integer. */
  readonly percent: number;
}

export interface ResourceUse {
  readonly resource: string;
  readonly requests: ResourceShare;
  readonly limits: ResourceShare;
  readonly allocatable: string;
}

/** Returns the pods that still use their requested resources. */
export const nonTerminatedPods = (pods: readonly Pod[]): Pod[] =>
  pods.filter(({ status }) => !isTerminalPhase(status?.phase));

/** Returns the sums of the requests and limits of all pods for each resource of the node. */
export function nodeUse({ status: { allocatable } }: NodeObject, pods: readonly Pod[]): ResourceUse[] {
  const podResources = nonTerminatedPods(pods).map(({ spec }) => effectiveResources(spec));
  return Object.keys(allocatable)
    .filter((resource) => resource !== 'pods')
    .map((resource) => ({
      resource,
      requests: shareOf(
        podResources.map(({ requests = {} }) => requests),
        resource,
        allocatable,
      ),
      limits: shareOf(
        podResources.map(({ limits = {} }) => limits),
        resource,
        allocatable,
      ),
      allocatable: lookUp(allocatable, resource) ?? '0',
    }));
}

/**
 * Adds up the amounts of a resource in several lists. Returns the sum in absolute terms and as a percentage of the
 * allocatable amount.
 */
export function shareOf(
  resourceLists: readonly ResourceList[],
  resource: string,
  allocatable: ResourceList,
): ResourceShare {
  const amounts = resourceLists.flatMap((list) => lookUp(list, resource) ?? []);
  const sum = amounts.reduce((total, amount) => total + nanosOf(amount), 0n);
  const allocatableNanos = nanosOf(lookUp(allocatable, resource) ?? '0');
  return {
    amount: quantityLike(sum, amounts[0] ?? '0'),
    percent: allocatableNanos > 0n ? Number((sum * 100n) / allocatableNanos) : 0,
  };
}

export const formatShare = ({ amount, percent }: ResourceShare): string => `${amount} (${percent}%)`;
