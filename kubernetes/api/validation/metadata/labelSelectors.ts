/** Validates label selectors (`meta/v1/validation/validation.go` of apimachinery). */
import type * as z from 'zod/mini';
import type { Problem } from '../../problem.ts';
import type { labelSelectorSchema } from '../../schema/selector.ts';
import { allInvalid, forbidden, invalid, required } from '../words.ts';
import { labelKeyProblems, labelValueProblems } from './nameRules.ts';
import { validateLabels } from './objectMeta.ts';

export type LabelSelector = z.infer<typeof labelSelectorSchema>;
type Requirement = NonNullable<LabelSelector['matchExpressions']>[number];

export function validateLabelSelector(selector: LabelSelector, path: string): Problem[] {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return [
    ...validateLabels(matchLabels, `${path}.matchLabels`),
    ...matchExpressions.flatMap((each, index) => validateRequirement(each, `${path}.matchExpressions[${index}]`)),
  ];
}

function validateRequirement({ key, operator, values = [] }: Requirement, path: string): Problem[] {
  return [
    ...validateOperator(operator, values, path),
    ...allInvalid(`${path}.key`, key, labelKeyProblems(key)),
    ...validateLabelValues(values, path),
  ];
}

export const validateLabelValues = (values: readonly string[], path: string): Problem[] =>
  values.flatMap((value, index) => allInvalid(`${path}.values[${index}]`, value, labelValueProblems(value)));

/** Checks that the operator is valid and has the right number of values. */
export function validateOperator(operator: string, values: readonly string[], path: string): Problem[] {
  const fieldPath = `${path}.values`;
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? [] : [required(fieldPath, "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
        ? []
        : [forbidden(fieldPath, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    default:
      return [invalid(`${path}.operator`, operator, 'not a valid selector operator')];
  }
}
