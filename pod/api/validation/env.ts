import type { Problem } from '../problem.ts';
import type { EnvVar } from '../schema/container.ts';
import { validateResourceField } from './resourceField.ts';
import { forbidden, invalid, pathInVolume, required } from './words.ts';

type FileKey = NonNullable<NonNullable<EnvVar['valueFrom']>['fileKeyRef']>;

const FIELDS =
  /^(metadata\.(name|namespace|uid)|metadata\.(labels|annotations)\['.+'\]|spec\.(nodeName|serviceAccountName)|status\.(hostIPs?|podIPs?))$/;

/** Names that an environment can hold, and one source at most for each value. */
export function validateEnv(env: readonly EnvVar[], path: string): Problem[] {
  return env.flatMap((each, index) => validateVariable(each, `${path}[${index}]`));
}

function validateVariable({ name, value, valueFrom }: EnvVar, path: string): Problem[] {
  return [
    ...(name === '' ? [required(`${path}.name`)] : []),
    ...(/[=\0]|[^ -~]/.test(name)
      ? [
          invalid(
            `${path}.name`,
            name,
            "a valid environment variable name must consist only of printable ASCII characters other than '='",
          ),
        ]
      : []),
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
    ...(fileKeyRef ? validateFileKey(fileKeyRef, `${path}.fileKeyRef`) : []),
    ...(fieldRef && !FIELDS.test(fieldRef.fieldPath)
      ? [invalid(`${path}.fieldRef.fieldPath`, fieldRef.fieldPath, unsupported)]
      : []),
    ...(resourceFieldRef ? validateResourceField(resourceFieldRef, `${path}.resourceFieldRef`, unsupported) : []),
  ];
}

function validateFileKey({ volumeName, path: file, key }: FileKey, path: string): Problem[] {
  return [
    ...(key === '' ? [required(`${path}.key`)] : []),
    ...(volumeName === '' ? [required(`${path}.volumeName`)] : []),
    ...(file === '' ? [required(`${path}.path`)] : pathInVolume(`${path}.path`, file)),
  ];
}
