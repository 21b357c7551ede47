/** How much of a node its pods ask for. */

import { lookUp } from '../../base/lookUp.ts';
import { nanosOf, quantityLike } from '../api/quantity.ts';
import type { Pod } from '../api/schema/pod.ts';
import type { ResourceList } from '../api/schema/scalars.ts';
import { effectiveResources } from '../resources/effectiveResources.ts';
import { isTerminalPhase } from '../status/phase.ts';
import type { NodeObject } from './nodeObject.ts';

/** An amount, and how much of what can be given out that is. */
export interface Share {
  readonly amount: string;
  /** Whole per cent, rounded down. */
  readonly percent: number;
}

export interface ResourceUse {
  readonly resource: string;
  readonly requests: Share;
  readonly limits: Share;
  readonly allocatable: string;
}

/** The pods that still hold what they ask for. */
export const nonTerminated = (pods: readonly Pod[]): Pod[] =>
  pods.filter(({ status }) => !isTerminalPhase(status?.phase));

/** Each resource of the node, with what all pods together ask for and may use. */
export function nodeUse({ status: { allocatable } }: NodeObject, pods: readonly Pod[]): ResourceUse[] {
  const all = nonTerminated(pods).map(({ spec }) => effectiveResources(spec));
  return Object.keys(allocatable)
    .filter((resource) => resource !== 'pods')
    .map((resource) => ({
      resource,
      requests: shareOf(
        all.map(({ requests = {} }) => requests),
        resource,
        allocatable,
      ),
      limits: shareOf(
        all.map(({ limits = {} }) => limits),
        resource,
        allocatable,
      ),
      allocatable: lookUp(allocatable, resource) ?? '0',
    }));
}

/** What lists have of a resource together, as a share of what can be given out. */
export function shareOf(lists: readonly ResourceList[], resource: string, allocatable: ResourceList): Share {
  const amounts = lists.flatMap((list) => lookUp(list, resource) ?? []);
  const sum = amounts.reduce((total, amount) => total + nanosOf(amount), 0n);
  const has = nanosOf(lookUp(allocatable, resource) ?? '0');
  return { amount: quantityLike(sum, amounts[0] ?? '0'), percent: has > 0n ? Number((sum * 100n) / has) : 0 };
}

export const shareText = ({ amount, percent }: Share): string => `${amount} (${percent}%)`;
