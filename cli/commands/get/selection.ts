/** Selects objects by the flags `-l` and `--field-selector`. */

import { readFieldSelector, type SelectableFields } from '../../../kubernetes/api/selection/fieldSelector.ts';
import { readLabelSelector } from '../../../kubernetes/api/selection/labelSelector.ts';
import type { ReadSelector } from '../../../kubernetes/api/selection/readSelector.ts';
import { ConfigError } from '../../../node/config/configError.ts';

export interface SelectionOptions {
  readonly selector?: string;
  readonly fieldSelector?: string;
}

interface SelectableObject {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

/**
 * Returns a predicate for objects that match both the label selector and the field selector. Throws a `ConfigError` for
 * an invalid selector.
 */
export function createSelection<Selected extends SelectableObject>(
  { selector = '', fieldSelector = '' }: SelectionOptions,
  fields: SelectableFields<Selected>,
): (object: Selected) => boolean {
  const matchesLabels = expectSelector('--selector', readLabelSelector(selector));
  const matchesFields = expectSelector('--field-selector', readFieldSelector(fieldSelector, fields));
  return (object) => matchesLabels(object.metadata.labels) && matchesFields(object);
}

function expectSelector<Selected>(flag: string, selector: ReadSelector<Selected>): (selected: Selected) => boolean {
  if ('problem' in selector) throw new ConfigError(`${flag}: ${selector.problem}`);
  return selector.matches;
}
