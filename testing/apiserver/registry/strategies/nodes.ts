/** Strategies of nodes (`registry/core/node` of kubernetes, `ValidateNode` and `ValidateNodeUpdate`). */

import { isJsonEqual } from '../../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../../base/values/lookUp.ts';
import { labelKeyProblems, labelValueProblems } from '../../../../kubernetes/api/validation/metadata/nameRules.ts';
import { parseQuantity } from '../../../../kubernetes/api/values/quantity.ts';
import { duplicate, forbidden, invalidValue, notSupported, required } from '../../failures/causes.ts';
import type { Cause } from '../../failures/failures.ts';
import { type JsonObject, objectAt, textAt } from '../../json.ts';
import { plainStrategy, type Strategy, withSelectors } from '../strategy.ts';
import { listAt, objectsAt, specOf, statusOf, withFields, withFieldsOf } from './parts.ts';

const NANO = 1_000_000_000n;
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;

/** The default of `allocatable` is `capacity`. */
function defaulted(node: JsonObject): JsonObject {
  const status = statusOf(node);
  const capacity = lookUp(status, 'capacity');
  if (capacity === undefined || lookUp(status, 'allocatable') !== undefined) return node;
  return { ...node, status: { ...status, allocatable: capacity } };
}

function taintCauses(node: JsonObject): Cause[] {
  const seen = new Set<string>();
  return objectsAt(specOf(node), 'taints').flatMap((taint, index) => {
    const field = `metadata.taints[${index}]`;
    const [key, value, effect] = [textAt(taint, 'key'), textAt(taint, 'value'), textAt(taint, 'effect')];
    const pair = `${effect} ${key}`;
    const causes = [
      ...labelKeyProblems(key).map((why) => invalidValue(`${field}.key`, key, why)),
      ...labelValueProblems(value).map((why) => invalidValue(`${field}.value`, value, why)),
      ...effectCauses(`${field}.effect`, effect),
      ...(seen.has(pair) ? [duplicateTaint(field, taint)] : []),
    ];
    seen.add(pair);
    return causes;
  });
}

function effectCauses(field: string, effect: string): Cause[] {
  if (EFFECTS.some((each) => each === effect)) return [];
  return effect === '' ? [required(field)] : [notSupported(field, effect, EFFECTS)];
}

const duplicateTaint = (field: string, taint: JsonObject): Cause =>
  duplicate(
    field,
    {
      Key: textAt(taint, 'key'),
      Value: textAt(taint, 'value'),
      Effect: textAt(taint, 'effect'),
      TimeAdded: lookUp(taint, 'timeAdded') ?? null,
    },
    'taints must be unique by key and effect pair',
  );

/** Resources with integer quantities. */
const INTEGER_RESOURCES: ReadonlySet<string> = new Set(['pods']);

const resourceCauses = (node: JsonObject): Cause[] =>
  ['capacity', 'allocatable'].flatMap((list) =>
    Object.entries(objectAt(statusOf(node), list)).flatMap(([name, value]) => {
      const nanos = parseQuantity(String(value)) ?? 0n;
      const isOdd = INTEGER_RESOURCES.has(name) && nanos % NANO !== 0n;
      return isOdd ? [invalidValue(`status.${list}.${name}`, value, 'must be an integer')] : [];
    }),
  );

function addressCauses(node: JsonObject): Cause[] {
  const addresses = objectsAt(statusOf(node), 'addresses');
  return addresses.flatMap((address, index) => {
    const isRepeated = addresses.findIndex((each) => isJsonEqual(each, address)) < index;
    const shown = { Type: textAt(address, 'type'), Address: textAt(address, 'address') };
    return isRepeated ? [duplicate(`status.addresses[${index}]`, shown)] : [];
  });
}

function setOnceCauses(node: JsonObject, before: JsonObject): Cause[] {
  const [spec, had] = [specOf(node), specOf(before)];
  const [cidrs, hadCidrs] = [listAt(spec, 'podCIDRs'), listAt(had, 'podCIDRs')];
  const once = (field: string, what: string): Cause =>
    forbidden(`spec.${field}`, `node updates may not change ${what} except from "" to valid`);
  const provider = textAt(had, 'providerID');
  return [
    ...(hadCidrs.length > 0 && !isJsonEqual(cidrs, hadCidrs) ? [once('podCIDRs', 'podCIDR')] : []),
    ...(provider !== '' && provider !== textAt(spec, 'providerID') ? [once('providerID', 'providerID')] : []),
  ];
}

const nodeCauses = (node: JsonObject): Cause[] => [...taintCauses(node), ...resourceCauses(node)];

const updateCauses = (node: JsonObject, before: JsonObject): Cause[] => [
  ...resourceCauses(node),
  ...addressCauses(node),
  ...setOnceCauses(node, before),
  ...taintCauses(node),
];

export const nodeStrategy: Strategy = {
  ...plainStrategy,
  ...withSelectors([['spec.unschedulable', (node) => String(lookUp(specOf(node), 'unschedulable') ?? false)]]),
  defaulted,
  createCauses: nodeCauses,
  updated: (node, before) => withFieldsOf(node, before, ['status']),
  // The kube-apiserver validates the whole node and then the update.
  updateCauses: (node, before) => [...nodeCauses(node), ...updateCauses(node, before)],
};

export const nodeStatusStrategy: Strategy = {
  ...nodeStrategy,
  updated: (node, before) => {
    const kept = withFieldsOf(node, before, ['spec']);
    // Dynamic kubelet configuration no longer exists.
    return { ...kept, status: withFields(statusOf(kept), { config: undefined }) };
  },
  updateCauses,
  checksWhole: false,
};
