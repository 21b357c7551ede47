/** `-l` and `--field-selector`: which objects are meant. */

import { readFieldSelector, type SelectableFields } from '../../../kubernetes/api/selection/fieldSelector.ts';
import { readLabelSelector } from '../../../kubernetes/api/selection/labelSelector.ts';
import type { ReadSelector } from '../../../kubernetes/api/selection/readSelector.ts';
import { ConfigError } from '../../../node/config/configError.ts';

export interface SelectionOptions {
  readonly selector?: string;
  readonly fieldSelector?: string;
}

interface Labelled {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

/** Whether an object is one of those that were asked for; throws of a selector that is none, before any agent is asked. */
export function selection<Selected extends Labelled>(
  { selector = '', fieldSelector = '' }: SelectionOptions,
  fields: SelectableFields<Selected>,
): (object: Selected) => boolean {
  const hasLabels = read('--selector', readLabelSelector(selector));
  const hasFields = read('--field-selector', readFieldSelector(fieldSelector, fields));
  return (object) => hasLabels(object.metadata.labels) && hasFields(object);
}

function read<Selected>(flag: string, selector: ReadSelector<Selected>): (selected: Selected) => boolean {
  if ('problem' in selector) throw new ConfigError(`${flag}: ${selector.problem}`);
  return selector.matches;
}
