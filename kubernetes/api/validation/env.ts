/** Checks of the variables of a container (`ValidateEnv` and `ValidateEnvFrom` of `core/validation`). */
import { containersOf } from '../containers.ts';
import type { Problem } from '../problem.ts';
import type { EnvFromSource, EnvVar } from '../schema/container.ts';
import type { PodSpec } from '../schema/pod.ts';
import { validateFieldRef, validateResourceFieldRef } from './fieldRefs.ts';
import { beginningOfName, configKey, dnsSubdomain as subdomain, variableName } from './nameRules.ts';
import { allInvalid, dnsSubdomain, invalid, noBacksteps, notFound, required, requiredLabel } from './words.ts';

type ValueSource = NonNullable<EnvVar['valueFrom']>;
type KeyRef = NonNullable<ValueSource['configMapKeyRef']>;
type FileKeyRef = NonNullable<ValueSource['fileKeyRef']>;

const FIELDS = [
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

/** Checks that names can be in an environment and that each value has at most one source. */
export function validateEnv(env: readonly EnvVar[], path: string): Problem[] {
  return env.flatMap(({ name, value, valueFrom }, index) => {
    const at = `${path}[${index}]`;
    return [
      ...(name === '' ? [required(`${at}.name`)] : allInvalid(`${at}.name`, name, variableName(name))),
      ...(valueFrom === undefined ? [] : validateSource(valueFrom, value ?? '', `${at}.valueFrom`)),
    ];
  });
}

function validateSource(source: ValueSource, value: string, path: string): Problem[] {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  return [
    ...(fieldRef ? validateFieldRef(fieldRef, FIELDS, `${path}.fieldRef`) : []),
    ...(resourceFieldRef ? validateResourceFieldRef(resourceFieldRef, `${path}.resourceFieldRef`, false) : []),
    ...(configMapKeyRef ? validateKeyRef(configMapKeyRef, `${path}.configMapKeyRef`) : []),
    ...(secretKeyRef ? validateKeyRef(secretKeyRef, `${path}.secretKeyRef`) : []),
    ...(fileKeyRef ? validateFileKeyRef(fileKeyRef, `${path}.fileKeyRef`) : []),
    ...validateNumberOfSources(Object.keys(source).length, value, path),
  ];
}

function validateNumberOfSources(count: number, value: string, path: string): Problem[] {
  if (count === 0) {
    const kinds = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    return [invalid(path, '', `must specify one of: ${kinds}`)];
  }
  if (value !== '') return [invalid(path, '', 'may not be specified when `value` is not empty')];
  return count > 1 ? [invalid(path, '', 'may not have more than one field specified at a time')] : [];
}

const validateKeyRef = ({ name = '', key }: KeyRef, path: string): Problem[] => [
  ...dnsSubdomain(`${path}.name`, name),
  ...(key === '' ? [required(`${path}.key`)] : allInvalid(`${path}.key`, key, configKey(key))),
];

const validateFileKeyRef = ({ volumeName, path: file, key }: FileKeyRef, path: string): Problem[] => [
  ...(key === '' ? [required(`${path}.key`)] : allInvalid(`${path}.key`, key, variableName(key))),
  ...requiredLabel(`${path}.volumeName`, volumeName),
  ...(file === '' ? [required(`${path}.path`)] : noBacksteps(`${path}.path`, file)),
];

/** Checks that prefixes can begin a name and that each source names one object. */
export function validateEnvFrom(sources: readonly EnvFromSource[], path: string): Problem[] {
  return sources.flatMap(({ prefix = '', configMapRef, secretRef }, index) => {
    const at = `${path}[${index}]`;
    const count = [configMapRef, secretRef].filter((each) => each !== undefined).length;
    return [
      ...(prefix === '' ? [] : allInvalid(`${at}.prefix`, prefix, variableName(prefix))),
      ...(configMapRef ? validateObjectName(configMapRef.name, `${at}.configMapRef.name`) : []),
      ...(secretRef ? validateObjectName(secretRef.name, `${at}.secretRef.name`) : []),
      ...(count === 0 ? [invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`')] : []),
      ...(count > 1 ? [invalid(path, '', 'may not have more than one field specified at a time')] : []),
    ];
  });
}

/** Kubernetes accepts a dash at the end here, as in the beginning of a name. */
const validateObjectName = (name = '', path: string): Problem[] =>
  name === '' ? [required(path)] : allInvalid(path, name, subdomain(beginningOfName(name)));

/** Checks that files with variables are in volumes of type emptyDir (`validateFileKeyRefVolumes`). */
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
