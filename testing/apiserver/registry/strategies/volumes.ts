/**
 * Strategies of PersistentVolumes and PersistentVolumeClaims (`registry/core/persistentvolume{,claim}` of kubernetes).
 */

import { lookUp } from '../../../../base/values/lookUp.ts';
import { rfc3339 } from '../../../../kubernetes/api/values/rfc3339.ts';
import { notSupported, required } from '../../failures/causes.ts';
import type { Cause } from '../../failures/failures.ts';
import { type JsonObject, objectAt, textAt } from '../../json.ts';
import { plainStrategy, type Strategy } from '../strategy.ts';
import { listAt, specOf, withFields, withFieldsOf } from './parts.ts';

/** The fields of a volume's spec that are not sources. */
const NO_SOURCES: ReadonlySet<string> = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
]);

function volumeDefaulted(volume: JsonObject): JsonObject {
  const spec = specOf(volume);
  const hostPath = lookUp(spec, 'hostPath');
  return {
    ...volume,
    spec: withFields(spec, {
      persistentVolumeReclaimPolicy: textAt(spec, 'persistentVolumeReclaimPolicy') || 'Retain',
      volumeMode: textAt(spec, 'volumeMode') || 'Filesystem',
      ...(hostPath === undefined ? {} : { hostPath: { type: '', ...objectAt(spec, 'hostPath') } }),
    }),
  };
}

function volumeCauses(volume: JsonObject): Cause[] {
  const spec = specOf(volume);
  const capacity = lookUp(spec, 'capacity');
  const hasSource = Object.keys(spec).some((name) => !NO_SOURCES.has(name));
  return [
    ...(listAt(spec, 'accessModes').length === 0 ? [required('spec.accessModes')] : []),
    ...(capacity === undefined ? [required('spec.capacity'), notSupported('spec.capacity', null, ['storage'])] : []),
    ...(hasSource ? [] : [required('spec', 'must specify a volume type')]),
  ];
}

export const volumeStrategy: Strategy = {
  ...plainStrategy,
  defaulted: volumeDefaulted,
  created: (volume, { clock }) => ({
    ...volume,
    status: { phase: 'Pending', lastPhaseTransitionTime: rfc3339(clock.now()) },
  }),
  updated: (volume, before) => withFieldsOf(volume, before, ['status']),
  createCauses: volumeCauses,
  updateCauses: volumeCauses,
  returnsDeleted: true,
};

function claimCauses(claim: JsonObject): Cause[] {
  const spec = specOf(claim);
  const requests = objectAt(objectAt(spec, 'resources'), 'requests');
  return [
    ...(listAt(spec, 'accessModes').length === 0
      ? [required('spec.accessModes', 'at least 1 access mode is required')]
      : []),
    ...(lookUp(requests, 'storage') === undefined ? [required('spec.resources[storage]')] : []),
  ];
}

export const claimStrategy: Strategy = {
  ...plainStrategy,
  defaulted: (claim) => {
    const spec = specOf(claim);
    return { ...claim, spec: withFields(spec, { volumeMode: textAt(spec, 'volumeMode') || 'Filesystem' }) };
  },
  created: (claim) => ({ ...claim, status: { phase: 'Pending' } }),
  updated: (claim, before) => withFieldsOf(claim, before, ['status']),
  createCauses: claimCauses,
  updateCauses: claimCauses,
  returnsDeleted: true,
};
