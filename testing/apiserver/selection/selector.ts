/** Label and field selectors of lists and watches. */
import { readFieldSelector } from '../../../kubernetes/api/selection/fieldSelector.ts';
import { readLabelSelector } from '../../../kubernetes/api/selection/labelSelector.ts';
import { badRequest } from '../failures/failures.ts';
import { type JsonObject, objectAt } from '../json.ts';
import type { ListOptions } from '../options/listOptions.ts';
import type { Strategy } from '../registry/strategy.ts';

/** Returns a function that selects objects by their labels and fields. Throws a `Failure` for a malformed selector. */
export function selectorOf(
  { labelSelector, fieldSelector }: Pick<ListOptions, 'labelSelector' | 'fieldSelector'>,
  { fields, unknownField }: Pick<Strategy, 'fields' | 'unknownField'>,
): (object: JsonObject) => boolean {
  const byLabels = readLabelSelector(labelSelector);
  if ('problem' in byLabels) throw badRequest(`unable to parse requirement: ${byLabels.problem}`);
  const byFields = readFieldSelector(fieldSelector, fields, unknownField);
  if ('problem' in byFields) throw badRequest(byFields.problem);
  return (object) => byFields.matches(object) && byLabels.matches(labelsOf(object));
}

function labelsOf(object: JsonObject): Readonly<Record<string, string>> {
  const labels = Object.entries(objectAt(objectAt(object, 'metadata'), 'labels'));
  return Object.fromEntries(labels.map(([name, value]) => [name, String(value)]));
}
