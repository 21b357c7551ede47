import { lookUp } from '../../base/lookUp.ts';
import type { PodSpec } from '../api/schema/pod.ts';
import type { AdmissionNode } from './node.ts';

type Terms = NonNullable<
  NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>['nodeSelectorTerms'];
type Requirement = NonNullable<Terms[number]['matchExpressions']>[number];

type NodeIdentity = Pick<AdmissionNode, 'name' | 'labels'>;

/**
 * Returns why the node does not satisfy the pod's nodeSelector or required node affinity, naming the label and its value
 * on the node, or undefined if it does: `needs a node with label zone=b, but this node has zone=a`.
 */
export function nodeMismatch({ nodeSelector = {}, affinity }: PodSpec, node: NodeIdentity): string | undefined {
  for (const [key, value] of Object.entries(nodeSelector)) {
    if (lookUp(node.labels, key) !== value) {
      return `needs a node with label ${key}=${value}, but this node ${labelText(key, node)}`;
    }
  }
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (terms === undefined || terms.some((term) => unmetOf(term, node) === undefined)) return undefined;
  const unmet = new Set(terms.map((term) => unmetOf(term, node)));
  return `needs a node with ${[...unmet].join(', or with ')}`;
}

const labelText = (key: string, { labels }: NodeIdentity): string => {
  const value = lookUp(labels, key);
  return value === undefined ? 'has no such label' : `has ${key}=${value}`;
};

/**
 * Returns the first requirement of a term that the node does not satisfy, in words, or undefined if it satisfies all. A
 * term without any requirement matches no node.
 */
function unmetOf({ matchExpressions = [], matchFields = [] }: Terms[number], node: NodeIdentity): string | undefined {
  if (matchExpressions.length + matchFields.length === 0) return 'a term that has requirements';
  const expression = matchExpressions.find((requirement) => !holds(requirement, lookUp(node.labels, requirement.key)));
  if (expression) return `label ${requirementText(expression)} (this node ${labelText(expression.key, node)})`;
  const field = matchFields.find((requirement) => !fieldHolds(requirement, node.name));
  return field && `field ${requirementText(field)} (this node is ${node.name})`;
}

const requirementText = ({ key, operator, values = [] }: Requirement): string =>
  `${key} ${operator}${values.length === 0 ? '' : ` [${values.join(', ')}]`}`;

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
