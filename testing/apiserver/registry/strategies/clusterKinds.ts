/**
 * Strategies of smaller kinds: runtime and priority classes, CSI nodes, disruption budgets, leases and service
 * accounts.
 */

import { isJsonEqual } from '../../../../base/values/isJsonEqual.ts';
import { lookUp } from '../../../../base/values/lookUp.ts';
import { readRuntimeClass, validateRuntimeClass } from '../../../../kubernetes/api/runtimeClass.ts';
import { causeOf, forbidden, invalidValue, required } from '../../failures/causes.ts';
import type { Cause } from '../../failures/failures.ts';
import { type JsonObject, objectAt, textAt } from '../../json.ts';
import { withMetadata } from '../../store/metadata.ts';
import { plainStrategy, type Strategy } from '../strategy.ts';
import { IMMUTABLE, immutableCauses, objectsAt, specOf, withFieldsOf } from './parts.ts';

export const runtimeClassStrategy: Strategy = {
  ...plainStrategy,
  updatesUnconditionally: false,
  createCauses: (object) => {
    const read = readRuntimeClass(object);
    return ('problems' in read ? read.problems : validateRuntimeClass(read.object)).map(causeOf);
  },
  updateCauses: (object, before) => immutableCauses(object, before, ['handler']),
};

const withFirstGeneration = (object: JsonObject): JsonObject => withMetadata(object, { generation: 1 });

export const priorityClassStrategy: Strategy = {
  ...plainStrategy,
  defaulted: (object) => ({
    ...object,
    preemptionPolicy: textAt(object, 'preemptionPolicy') || 'PreemptLowerPriority',
  }),
  created: withFirstGeneration,
  updateCauses: (object, before) =>
    lookUp(object, 'value') === lookUp(before, 'value') ? [] : [forbidden('value', 'may not be changed in an update.')],
};

function driverCauses(object: JsonObject): Cause[] {
  return objectsAt(specOf(object), 'drivers').flatMap((driver, index) =>
    ['name', 'nodeID'].flatMap((name) =>
      textAt(driver, name) === '' ? [required(`spec.drivers[${index}].${name}`)] : [],
    ),
  );
}

/** A CSINode's drivers can be added and removed, but not changed. */
function changedDriverCauses(object: JsonObject, before: JsonObject): Cause[] {
  const had = objectsAt(specOf(before), 'drivers');
  return objectsAt(specOf(object), 'drivers').flatMap((driver) => {
    const same = had.find((each) => textAt(each, 'name') === textAt(driver, 'name'));
    if (same === undefined || isJsonEqual({ ...same, allocatable: 0 }, { ...driver, allocatable: 0 })) return [];
    const shown = {
      Name: textAt(driver, 'name'),
      NodeID: textAt(driver, 'nodeID'),
      TopologyKeys: lookUp(driver, 'topologyKeys') ?? null,
      Allocatable: lookUp(driver, 'allocatable') ?? null,
    };
    return [invalidValue('spec.drivers', shown, IMMUTABLE)];
  });
}

export const csiNodeStrategy: Strategy = {
  ...plainStrategy,
  updatesUnconditionally: false,
  createCauses: driverCauses,
  updateCauses: (object, before) => [...driverCauses(object), ...changedDriverCauses(object, before)],
};

export const disruptionBudgetStrategy: Strategy = {
  ...plainStrategy,
  created: (object) => withFirstGeneration({ ...object, status: NO_DISRUPTIONS }),
  updated: (object, before) => withFieldsOf(object, before, ['status']),
};

const NO_DISRUPTIONS = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };

/** The strategy of the status of a kind without specific rules. */
export const plainStatusStrategy: Strategy = {
  ...plainStrategy,
  updated: (object, before) => withFieldsOf({ ...before, metadata: objectAt(object, 'metadata') }, object, ['status']),
};

/** A lease can be created by an update. */
export const leaseStrategy: Strategy = { ...plainStrategy, createsOnUpdate: true, updatesUnconditionally: false };

export const serviceAccountStrategy: Strategy = { ...plainStrategy, returnsDeleted: true };
