import { lookUp } from '../../base/values/lookUp.ts';
import type { PodSpec } from '../api/schema/pod.ts';
import type { AdmissionNode } from './node.ts';

type NodeSelectorTerms = NonNullable<
  NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>['nodeSelectorTerms'];
type Requirement = NonNullable<NodeSelectorTerms[number]['matchExpressions']>[number];

type NodeIdentity = Pick<AdmissionNode, 'name' | 'labels'>;

/**
 * Explains why the node does not satisfy the pod's nodeSelector or required node affinity, e.g. `needs a node with
 * label zone=b, but this node has zone=a`. Returns undefined if the node satisfies them.
 */
export function nodeMismatch({ nodeSelector = {}, affinity }: PodSpec, node: NodeIdentity): string | undefined {
  for (const [key, value] of Object.entries(nodeSelector)) {
    if (lookUp(node.labels, key) !== value) {
      return `needs a node with label ${key}=${value}, but this node ${describeLabel(key, node)}`;
    }
  }
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (terms === undefined || terms.some((term) => unmetRequirement(term, node) === undefined)) return undefined;
  const unmetRequirements = new Set(terms.map((term) => unmetRequirement(term, node)));
  return `needs a node with ${[...unmetRequirements].join(', or with ')}`;
}

const describeLabel = (key: string, { labels }: NodeIdentity): string => {
  const value = lookUp(labels, key);
  return value === undefined ? 'has no such label' : `has ${key}=${value}`;
};

/**
 * Describes the first requirement of a term that the node does not satisfy. Returns undefined if the node satisfies all
 * requirements. A term without requirements matches no node.
 */
function unmetRequirement(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerms[number],
  node: NodeIdentity,
): string | undefined {
  if (matchExpressions.length + matchFields.length === 0) return 'a term that has requirements';
  const unmetExpression = matchExpressions.find(
    (requirement) => !isSatisfied(requirement, lookUp(node.labels, requirement.key)),
  );
  if (unmetExpression)
    return `label ${formatRequirement(unmetExpression)} (this node ${describeLabel(unmetExpression.key, node)})`;
  const unmetField = matchFields.find((requirement) => !isFieldSatisfied(requirement, node.name));
  return unmetField && `field ${formatRequirement(unmetField)} (this node is ${node.name})`;
}

const formatRequirement = ({ key, operator, values = [] }: Requirement): string =>
  `${key} ${operator}${values.length === 0 ? '' : ` [${values.join(', ')}]`}`;

/**
 * Whether the node's name satisfies the requirement. No other field is supported, and the requirement must have exactly
 * one value.
 */
function isFieldSatisfied({ key, operator, values = [] }: Requirement, name: string): boolean {
  if (key !== 'metadata.name' || values.length !== 1) return false;
  if (operator === 'In') return values[0] === name;
  return operator === 'NotIn' && values[0] !== name;
}

/** Whether a label value satisfies the requirement. `value` is undefined if the node does not have the label. */
function isSatisfied({ operator, values = [] }: Requirement, value: string | undefined): boolean {
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
      return values.length === 1 && isBeyondBound(operator, value, values[0]);
  }
}

/** Whether `value` is greater (`Gt`) or less (`Lt`) than `bound`. Always false if either is not an integer. */
export function isBeyondBound(operator: 'Gt' | 'Lt', value: string | undefined, bound: string | undefined): boolean {
  const [valueNumber, boundNumber] = [parseInteger(value), parseInteger(bound)];
  if (valueNumber === undefined || boundNumber === undefined) return false;
  return operator === 'Gt' ? valueNumber > boundNumber : valueNumber < boundNumber;
}

const parseInteger = (text = ''): bigint | undefined => (/^[+-]?\d+$/.test(text) ? BigInt(text) : undefined);
