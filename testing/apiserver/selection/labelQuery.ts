/**
 * Label selectors in objects, with `matchLabels` and `matchExpressions` (`LabelSelectorAsSelector` of apimachinery).
 */
import { lookUp } from '../../../base/values/lookUp.ts';
import { isList, isObject, type Json, type JsonObject, objectAt, textAt } from '../json.ts';

/** Whether a selector matches the labels of an object. A missing selector matches nothing, an empty one everything. */
export function selects(selector: Json | undefined, object: JsonObject): boolean {
  if (!isObject(selector)) return false;
  const labels = objectAt(objectAt(object, 'metadata'), 'labels');
  const expressions = lookUp(selector, 'matchExpressions');
  return (
    Object.entries(objectAt(selector, 'matchLabels')).every(([name, value]) => lookUp(labels, name) === value) &&
    (isList(expressions) ? expressions : []).every((each) => isObject(each) && matches(each, labels))
  );
}

function matches(expression: JsonObject, labels: JsonObject): boolean {
  const value = lookUp(labels, textAt(expression, 'key'));
  const values = lookUp(expression, 'values');
  const isIn = value !== undefined && isList(values) && values.includes(value);
  switch (textAt(expression, 'operator')) {
    case 'In':
      return isIn;
    case 'NotIn':
      return !isIn;
    case 'Exists':
      return value !== undefined;
    default:
      return value === undefined;
  }
}
