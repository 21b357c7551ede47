/** Evaluates label selectors in fields of API objects (`LabelSelectorAsSelector` of k8s.io/apimachinery). */
import type * as z from 'zod/mini';
import { lookUp } from '../../../base/values/lookUp.ts';
import type { labelSelectorSchema } from '../schema/selector.ts';

type LabelSelector = z.infer<typeof labelSelectorSchema>;
type Labels = Readonly<Record<string, string>>;
type Requirement = NonNullable<LabelSelector['matchExpressions']>[number];

/**
 * Whether the selector matches an object with these labels. An empty selector matches all objects, and an undefined one
 * matches none.
 */
export function isSelected(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => lookUp(labels, key) === value) &&
    matchExpressions.every((each) => isFulfilled(each, labels))
  );
}

function isFulfilled({ key, operator, values = [] }: Requirement, labels: Labels): boolean {
  const value = lookUp(labels, key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    default:
      return value === undefined;
  }
}
