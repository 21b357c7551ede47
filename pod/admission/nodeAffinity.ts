import type { PodSpec } from '../api/schema/pod.ts';
import { lookUp } from '../lookUp.ts';
import type { AdmissionNode } from './node.ts';

type Terms = NonNullable<
  NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>['nodeSelectorTerms'];
type Requirement = NonNullable<Terms[number]['matchExpressions']>[number];

/** Whether a node is one that the pod's nodeSelector and required node affinity ask for. */
export function isNodeWanted({ nodeSelector = {}, affinity }: PodSpec, node: Pick<AdmissionNode, 'name' | 'labels'>) {
  const selected = Object.entries(nodeSelector).every(([key, value]) => lookUp(node.labels, key) === value);
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return selected && (required === undefined || required.nodeSelectorTerms.some((term) => matches(term, node)));
}

/** A term without any requirement matches no node. */
function matches(
  { matchExpressions = [], matchFields = [] }: Terms[number],
  { name, labels }: Pick<AdmissionNode, 'name' | 'labels'>,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((requirement) => holds(requirement, lookUp(labels, requirement.key))) &&
    matchFields.every((requirement) => fieldHolds(requirement, name))
  );
}

/** The node's name is the only field, and it is or is not the one value. */
function fieldHolds({ key, operator, values = [] }: Requirement, name: string): boolean {
  if (key !== 'metadata.name' || values.length !== 1) return false;
  if (operator === 'In') return values[0] === name;
  return operator === 'NotIn' && values[0] !== name;
}

/** Whether the value of a label, undefined where the node has none of that key, is as it is required. */
function holds({ operator, values = [] }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return values.length > 0 && (value === undefined || !values.includes(value));
    case 'Exists':
      return values.length === 0 && value !== undefined;
    case 'DoesNotExist':
      return values.length === 0 && value === undefined;
    default:
      return values.length === 1 && compares(operator, value, values[0]);
  }
}

/** Whole numbers only: what is none is neither greater nor less. */
export function compares(operator: 'Gt' | 'Lt', value: string | undefined, bound: string | undefined): boolean {
  const [one, other] = [wholeNumber(value), wholeNumber(bound)];
  if (one === undefined || other === undefined) return false;
  return operator === 'Gt' ? one > other : one < other;
}

const wholeNumber = (text = ''): bigint | undefined => (/^[+-]?\d+$/.test(text) ? BigInt(text) : undefined);
