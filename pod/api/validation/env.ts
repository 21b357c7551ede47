import type { Problem } from '../problem.ts';
import type { EnvFromSource, EnvVar } from '../schema/container.ts';
import { configKey } from './nameRules.ts';
import { validateResourceField } from './resourceField.ts';
import { dnsSubdomain, forbidden, invalid, pathInVolume, required } from './words.ts';

type KeyRef = NonNullable<NonNullable<EnvVar['valueFrom']>['configMapKeyRef']>;
type FileKey = NonNullable<NonNullable<EnvVar['valueFrom']>['fileKeyRef']>;

const FIELDS =
  /^(metadata\.(name|namespace|uid)|metadata\.(labels|annotations)\['.+'\]|spec\.(nodeName|serviceAccountName)|status\.(hostIPs?|podIPs?))$/;

/** Names that an environment can hold, and one source at most for each value. */
export function validateEnv(env: readonly EnvVar[], path: string): Problem[] {
  return env.flatMap((each, index) => validateVariable(each, `${path}[${index}]`));
}

/** Prefixes that a name can begin with, and one named object for each. */
export function validateEnvFrom(sources: readonly EnvFromSource[], path: string): Problem[] {
  return sources.flatMap(({ prefix = '', configMapRef, secretRef }, index) => {
    const at = `${path}[${index}]`;
    const named = { configMapRef, secretRef };
    const kinds = (['configMapRef', 'secretRef'] as const).filter((kind) => named[kind] !== undefined);
    return [
      ...validateName(prefix, `${at}.prefix`),
      ...kinds.flatMap((kind) => dnsSubdomain(`${at}.${kind}.name`, named[kind]?.name ?? '')),
      ...(kinds.length === 0 ? [invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`')] : []),
      ...(kinds.length > 1 ? [invalid(path, '', 'may not have more than one field specified at a time')] : []),
    ];
  });
}

function validateName(name: string, path: string): Problem[] {
  if (!/[=\0]|[^ -~]/.test(name)) return [];
  return [
    invalid(
      path,
      name,
      "a valid environment variable name must consist only of printable ASCII characters other than '='",
    ),
  ];
}

function validateVariable({ name, value, valueFrom }: EnvVar, path: string): Problem[] {
  return [
    ...(name === '' ? [required(`${path}.name`)] : []),
    ...validateName(name, `${path}.name`),
    ...(valueFrom === undefined ? [] : validateSource(valueFrom, value, `${path}.valueFrom`)),
  ];
}

function validateSource(source: NonNullable<EnvVar['valueFrom']>, value: string | undefined, path: string): Problem[] {
  const kinds = Object.keys(source);
  const { fieldRef, resourceFieldRef, fileKeyRef } = source;
  const unsupported = 'is not a field supported in environment variables';
  return [
    ...(value ? [invalid(path, '', 'may not be specified when `value` is not empty')] : []),
    ...(kinds.length === 0 ? [required(path, 'must specify one of the sources')] : []),
    ...kinds
      .slice(1)
      .map((kind) => forbidden(`${path}.${kind}`, 'may not have more than one field specified at a time')),
    ...(['configMapKeyRef', 'secretKeyRef'] as const).flatMap((kind) =>
      validateKeyRef(source[kind], `${path}.${kind}`),
    ),
    ...(fileKeyRef ? validateFileKey(fileKeyRef, `${path}.fileKeyRef`) : []),
    ...(fieldRef && !FIELDS.test(fieldRef.fieldPath)
      ? [invalid(`${path}.fieldRef.fieldPath`, fieldRef.fieldPath, unsupported)]
      : []),
    ...(resourceFieldRef ? validateResourceField(resourceFieldRef, `${path}.resourceFieldRef`, unsupported) : []),
  ];
}

function validateKeyRef(reference: KeyRef | undefined, path: string): Problem[] {
  if (reference === undefined) return [];
  const { name = '', key } = reference;
  return [
    ...dnsSubdomain(`${path}.name`, name),
    ...(key === '' ? [required(`${path}.key`)] : configKey(key).map((why) => invalid(`${path}.key`, key, why))),
  ];
}

function validateFileKey({ volumeName, path: file, key }: FileKey, path: string): Problem[] {
  return [
    ...(key === '' ? [required(`${path}.key`)] : []),
    ...(volumeName === '' ? [required(`${path}.volumeName`)] : []),
    ...(file === '' ? [required(`${path}.path`)] : pathInVolume(`${path}.path`, file)),
  ];
}
