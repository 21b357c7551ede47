/**
 * Validates the claim template of an ephemeral volume (`ValidatePersistentVolumeClaimTemplate` of `core/validation`).
 */
import type * as z from 'zod/mini';
import { lookUp } from '../../../../base/values/lookUp.ts';
import type { Problem } from '../../problem.ts';
import type { volumeClaimTemplateSchema } from '../../schema/volumeClaim.ts';
import { canonicalQuantity, nanosOf } from '../../values/quantity.ts';
import { validateLabelSelector } from '../metadata/labelSelectors.ts';
import { dnsLabelProblems, dnsSubdomainProblems } from '../metadata/nameRules.ts';
import { type ObjectMeta, validateAnnotations, validateLabels } from '../metadata/objectMeta.ts';
import { validateQuantity } from '../resources/resources.ts';
import { allInvalid, forbidden, invalid, required, validateOneOf, validateRequiredText } from '../words.ts';

type ClaimTemplate = z.infer<typeof volumeClaimTemplateSchema>;
type ClaimSpec = ClaimTemplate['spec'];

export function validateClaimTemplate({ metadata = {}, spec }: ClaimTemplate, path: string): Problem[] {
  return [...validateTemplateMeta(metadata, `${path}.metadata`), ...validateClaimSpec(spec, `${path}.spec`)];
}

/** Checks that only labels and annotations are set, because the claim's other metadata comes from its pod. */
function validateTemplateMeta(metadata: ObjectMeta, path: string): Problem[] {
  const { annotations = {}, labels = {}, ...otherFields } = metadata;
  const isSet = (value: unknown) => !(value === '' || value === 0 || (Array.isArray(value) && value.length === 0));
  return [
    ...validateAnnotations(annotations, `${path}.annotations`),
    ...validateLabels(labels, `${path}.labels`),
    ...Object.entries(otherFields).flatMap(([field, value]) =>
      isSet(value) ? [forbidden(`${path}.${field === 'uid' ? 'uID' : field}`, 'cannot be set')] : [],
    ),
  ];
}

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

function validateClaimSpec(spec: ClaimSpec, path: string): Problem[] {
  const { accessModes = [], selector, resources = {}, storageClassName = '', volumeMode } = spec;
  const { dataSource, dataSourceRef, volumeAttributesClassName = '' } = spec;
  const hasOtherMode = accessModes.some((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode));
  const hasConflictingModes = accessModes.includes('ReadWriteOncePod') && hasOtherMode;
  const fieldPath = `${path}.accessModes`;
  return [
    ...(accessModes.length === 0 ? [required(fieldPath, 'at least 1 access mode is required')] : []),
    ...(selector ? validateLabelSelector(selector, `${path}.selector`) : []),
    ...accessModes.flatMap((mode) => validateOneOf(fieldPath, mode, ACCESS_MODES)),
    ...(hasConflictingModes ? [forbidden(fieldPath, 'may not use ReadWriteOncePod with other access modes')] : []),
    ...validateStorage(lookUp(resources.requests, 'storage'), `${path}.resources[storage]`),
    ...(storageClassName === ''
      ? []
      : allInvalid(`${path}.storageClassName`, storageClassName, dnsSubdomainProblems(storageClassName))),
    ...validateOneOf(`${path}.volumeMode`, volumeMode, ['Block', 'Filesystem']),
    ...(dataSource ? validateDataSource(dataSource, `${path}.dataSource`) : []),
    ...(dataSourceRef ? validateDataSource(dataSourceRef, `${path}.dataSourceRef`) : []),
    ...validateBothSources(spec, path),
    ...(volumeAttributesClassName === ''
      ? []
      : allInvalid(
          `${path}.volumeAttributesClassName`,
          volumeAttributesClassName,
          dnsSubdomainProblems(volumeAttributesClassName),
        )),
  ];
}

function validateStorage(amount: string | undefined, path: string): Problem[] {
  if (amount === undefined) return [required(path)];
  if (nanosOf(amount) <= 0n) return [invalid(path, canonicalQuantity(amount), 'must be greater than zero')];
  return validateQuantity('storage', amount, path);
}

function validateDataSource(
  source: NonNullable<ClaimSpec['dataSource']> | NonNullable<ClaimSpec['dataSourceRef']>,
  path: string,
): Problem[] {
  const { name, kind, apiGroup = '' } = source;
  const namespace = 'namespace' in source ? (source.namespace ?? '') : '';
  const rule = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
  return [
    ...validateRequiredText(`${path}.name`, name),
    ...validateRequiredText(`${path}.kind`, kind),
    ...(apiGroup === '' && kind !== 'PersistentVolumeClaim' ? [invalid(path, kind, rule)] : []),
    ...(apiGroup === '' ? [] : allInvalid(`${path}.apiGroup`, apiGroup, dnsSubdomainProblems(apiGroup))),
    ...(namespace === '' ? [] : allInvalid(`${path}.namespace`, namespace, dnsLabelProblems(namespace))),
  ];
}

function validateBothSources({ dataSource, dataSourceRef }: ClaimSpec, path: string): Problem[] {
  if (dataSource === undefined || dataSourceRef === undefined) return [];
  const { apiGroup, kind, name } = dataSourceRef;
  const isSameSource = dataSource.apiGroup === apiGroup && dataSource.kind === kind && dataSource.name === name;
  if (dataSourceRef.namespace)
    return [invalid(path, {}, 'may not be specified when dataSourceRef.namespace is specified')];
  return isSameSource ? [] : [invalid(path, {}, 'must match dataSourceRef')];
}
