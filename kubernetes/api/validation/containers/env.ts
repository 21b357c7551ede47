/** Validates a container's environment variables (`ValidateEnv` and `ValidateEnvFrom` of `core/validation`). */
import { containersOf } from '../../pods/containers.ts';
import type { Problem } from '../../problem.ts';
import type { EnvFromSource, EnvVar } from '../../schema/container.ts';
import type { PodSpec } from '../../schema/pod.ts';
import { validateFieldRef, validateResourceFieldRef } from '../fieldRefs.ts';
import {
  configKeyProblems,
  maskTrailingDash,
  dnsSubdomainProblems as subdomain,
  variableNameProblems,
} from '../metadata/nameRules.ts';
import {
  allInvalid,
  invalid,
  notFound,
  required,
  validateDnsSubdomain,
  validateNoBacksteps,
  validateRequiredLabel,
} from '../words.ts';

type ValueSource = NonNullable<EnvVar['valueFrom']>;
type KeyRef = NonNullable<ValueSource['configMapKeyRef']>;
type FileKeyRef = NonNullable<ValueSource['fileKeyRef']>;

const SUPPORTED_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

/** Checks that the variables' names are valid and that each value has at most one source. */
export function validateEnv(env: readonly EnvVar[], path: string): Problem[] {
  return env.flatMap(({ name, value, valueFrom }, index) => {
    const itemPath = `${path}[${index}]`;
    return [
      ...(name === ''
        ? [required(`${itemPath}.name`)]
        : allInvalid(`${itemPath}.name`, name, variableNameProblems(name))),
      ...(valueFrom === undefined ? [] : validateSource(valueFrom, value ?? '', `${itemPath}.valueFrom`)),
    ];
  });
}

function validateSource(source: ValueSource, value: string, path: string): Problem[] {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  return [
    ...(fieldRef ? validateFieldRef(fieldRef, SUPPORTED_FIELDS, `${path}.fieldRef`) : []),
    ...(resourceFieldRef ? validateResourceFieldRef(resourceFieldRef, `${path}.resourceFieldRef`, false) : []),
    ...(configMapKeyRef ? validateKeyRef(configMapKeyRef, `${path}.configMapKeyRef`) : []),
    ...(secretKeyRef ? validateKeyRef(secretKeyRef, `${path}.secretKeyRef`) : []),
    ...(fileKeyRef ? validateFileKeyRef(fileKeyRef, `${path}.fileKeyRef`) : []),
    ...validateSourceCount(Object.keys(source).length, value, path),
  ];
}

function validateSourceCount(count: number, value: string, path: string): Problem[] {
  if (count === 0) {
    const sourceKinds = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    return [invalid(path, '', `must specify one of: ${sourceKinds}`)];
  }
  if (value !== '') return [invalid(path, '', 'may not be specified when `value` is not empty')];
  return count > 1 ? [invalid(path, '', 'may not have more than one field specified at a time')] : [];
}

const validateKeyRef = ({ name = '', key }: KeyRef, path: string): Problem[] => [
  ...validateDnsSubdomain(`${path}.name`, name),
  ...(key === '' ? [required(`${path}.key`)] : allInvalid(`${path}.key`, key, configKeyProblems(key))),
];

const validateFileKeyRef = ({ volumeName, path: file, key }: FileKeyRef, path: string): Problem[] => [
  ...(key === '' ? [required(`${path}.key`)] : allInvalid(`${path}.key`, key, variableNameProblems(key))),
  ...validateRequiredLabel(`${path}.volumeName`, volumeName),
  ...(file === '' ? [required(`${path}.path`)] : validateNoBacksteps(`${path}.path`, file)),
];

/** Checks that prefixes are valid and that each source references exactly one object. */
export function validateEnvFrom(sources: readonly EnvFromSource[], path: string): Problem[] {
  return sources.flatMap(({ prefix = '', configMapRef, secretRef }, index) => {
    const itemPath = `${path}[${index}]`;
    const count = [configMapRef, secretRef].filter((each) => each !== undefined).length;
    return [
      ...(prefix === '' ? [] : allInvalid(`${itemPath}.prefix`, prefix, variableNameProblems(prefix))),
      ...(configMapRef ? validateObjectName(configMapRef.name, `${itemPath}.configMapRef.name`) : []),
      ...(secretRef ? validateObjectName(secretRef.name, `${itemPath}.secretRef.name`) : []),
      ...(count === 0 ? [invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`')] : []),
      ...(count > 1 ? [invalid(path, '', 'may not have more than one field specified at a time')] : []),
    ];
  });
}

/** Checks an object name. Kubernetes accepts a trailing dash here, as in the prefix of a generated name. */
const validateObjectName = (name = '', path: string): Problem[] =>
  name === '' ? [required(path)] : allInvalid(path, name, subdomain(maskTrailingDash(name)));

/** Checks that environment files are in emptyDir volumes (`validateFileKeyRefVolumes`). */
export function validateFileKeyVolumes(spec: PodSpec): Problem[] {
  const volumes = new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]));
  return containersOf(spec).flatMap(({ container, field, index }) =>
    (container.env ?? []).flatMap(({ valueFrom }, position) => {
      const name = valueFrom?.fileKeyRef?.volumeName;
      if (name === undefined) return [];
      const path = `spec.${field}[${index}].env[${position}].valueFrom.fileKeyRef.volumeName`;
      const volume = volumes.get(name);
      if (volume === undefined) return [notFound(path, name)];
      return volume.emptyDir ? [] : [invalid(path, name, 'referenced volume must be of type emptyDir')];
    }),
  );
}
