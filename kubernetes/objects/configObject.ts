/**
 * Reads and validates ConfigMaps and Secrets from files and from API servers, including the objects of the test API
 * server.
 */

import { lookUp } from '../../base/values/lookUp.ts';
import { parseJson } from '../../base/values/parseJson.ts';
import { formatFirstProblem, type Problem } from '../api/problem.ts';
import { type KindRules, readObject, withoutManagedFields } from '../api/readObject.ts';
import { configMapSchema, secretSchema } from '../api/schema/configObject.ts';
import { configKeyProblems } from '../api/validation/metadata/nameRules.ts';
import { allInvalid, invalid, required, tooLong } from '../api/validation/words.ts';

export type ConfigKind = 'ConfigMap' | 'Secret';

/** Reference from a pod to an object in its own namespace. */
export interface ConfigReference {
  readonly kind: ConfigKind;
  readonly namespace: string;
  readonly name: string;
}

export interface ConfigObject extends ConfigReference {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Whether the object is immutable, in which case no watch is needed. */
  readonly isImmutable: boolean;
  /**
   * Type of a Secret, e.g. `kubernetes.io/dockerconfigjson`, which determines how the data is parsed. Empty for a
   * ConfigMap.
   */
  readonly type: string;
  /**
   * Values by key. Strings come from `data` of a ConfigMap. Buffers come from `binaryData` of a ConfigMap or from a
   * Secret.
   */
  readonly data: ReadonlyMap<string, string | Buffer>;
}

/** A value as it is encoded in the object, i.e. as plain text or base64. */
export type ConfigValue = string | { readonly base64: string };

/** Data fields of each kind with their encoding. In a Secret, a later field overrides an earlier one. */
const DATA_FIELDS = {
  ConfigMap: [
    ['data', 'text'],
    ['binaryData', 'base64'],
  ],
  Secret: [
    ['data', 'base64'],
    ['stringData', 'text'],
  ],
} as const;

type DataField = 'data' | 'binaryData' | 'stringData';

/** An entry in one of the data fields of an object. */
interface DataEntry {
  readonly field: DataField;
  readonly key: string;
  readonly value: ConfigValue;
}

/** An object that matches the schema. */
export interface ParsedConfig {
  readonly kind: ConfigKind;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly isImmutable: boolean;
  /** Type of a Secret. Empty for a ConfigMap. */
  readonly type: string;
  readonly entries: readonly DataEntry[];
}

export type ConfigResult =
  | { readonly config: ParsedConfig; readonly warnings: readonly Problem[] }
  | { readonly problems: readonly Problem[] };

/** Rules for reading objects of each kind. All values of a Secret are confidential, even those of the wrong type. */
const KIND_RULES: Readonly<Record<ConfigKind, KindRules>> = {
  ConfigMap: {},
  Secret: {
    isSecret: ([field]) => field === 'data' || field === 'stringData',
    mismatchHint: ({ type, reason }) =>
      type.kind === 'bytes' && reason === 'format' ? ': plain text belongs in stringData' : '',
  },
};

/** Reads an object of this kind. Unknown fields are removed with a warning. Messages never contain data of a Secret. */
export function readConfig(kind: ConfigKind, value: unknown): ConfigResult {
  if (kind === 'Secret') {
    const result = readObject(secretSchema, value, KIND_RULES[kind]);
    if ('problems' in result) return result;
    const { type = '' } = result.object;
    return toConfig(kind, { ...result.object, type: type === '' ? 'Opaque' : type }, result.warnings);
  }
  const result = readObject(configMapSchema, value, KIND_RULES[kind]);
  return 'problems' in result ? result : toConfig(kind, { ...result.object, type: '' }, result.warnings);
}

interface ConfigFields {
  readonly metadata: ParsedConfig['metadata'];
  readonly type: string;
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: ConfigFields['data'];
  readonly stringData?: ConfigFields['data'];
}

function toConfig(kind: ConfigKind, fields: ConfigFields, warnings: readonly Problem[]): ConfigResult {
  const { metadata, type, immutable = false } = fields;
  const entries = DATA_FIELDS[kind].flatMap(([field, encoding]) =>
    Object.entries(fields[field] ?? {}).map(([key, text]): DataEntry => {
      return { field, key, value: encoding === 'text' ? text : { base64: text } };
    }),
  );
  return { config: { kind, metadata, isImmutable: immutable, type, entries }, warnings };
}

const bytesOf = (value: ConfigValue): Buffer =>
  typeof value === 'string' ? Buffer.from(value) : Buffer.from(value.base64, 'base64');

/** Maximum total size of an object's values in bytes. A larger object is invalid. */
const MAX_CONFIG_BYTES = 1024 * 1024;

/** Required keys of a Secret by its type. `isJson` means that their values must be JSON objects. */
const REQUIRED_KEYS: ReadonlyMap<string, { readonly keys: readonly string[]; readonly isJson?: true }> = new Map([
  ['kubernetes.io/dockercfg', { keys: ['.dockercfg'], isJson: true }],
  ['kubernetes.io/dockerconfigjson', { keys: ['.dockerconfigjson'], isJson: true }],
  ['kubernetes.io/ssh-auth', { keys: ['ssh-privatekey'] }],
  ['kubernetes.io/tls', { keys: ['tls.crt', 'tls.key'] }],
]);

/**
 * Validates an object, except its metadata, like an API server (`ValidateConfigMap` and `ValidateSecret` in
 * `pkg/apis/core/validation/validation.go`). A problem that concerns the whole object has an empty path.
 */
export function validateConfig(config: ParsedConfig): Problem[] {
  const { kind, entries } = config;
  const binaryKeys = new Set(entries.flatMap(({ field, key }) => (field === 'binaryData' ? [key] : [])));
  const keyProblems = entries.flatMap(({ field, key }) => {
    const path = `${field}[${key}]`;
    const isDuplicate = field === 'data' && binaryKeys.has(key);
    return [
      ...allInvalid(path, key, configKeyProblems(key)),
      ...(isDuplicate ? [invalid(path, key, 'duplicate of key present in binaryData')] : []),
    ];
  });
  const values = kind === 'Secret' ? new Map(entries.map(({ key, value }) => [key, value])).values() : valuesOf(config);
  const size = Array.from(values, (value) => bytesOf(value).length).reduce((sum, each) => sum + each, 0);
  const sizeProblems = size > MAX_CONFIG_BYTES ? [tooLong(kind === 'Secret' ? 'data' : '', MAX_CONFIG_BYTES)] : [];
  return [...keyProblems, ...sizeProblems, ...(kind === 'Secret' ? secretProblems(config) : [])];
}

const valuesOf = ({ entries }: ParsedConfig): ConfigValue[] => entries.map(({ value }) => value);

const ACCOUNT_NAME_ANNOTATION = 'kubernetes.io/service-account.name';

function secretProblems({ type, entries, metadata }: ParsedConfig): Problem[] {
  const data = new Map(entries.map(({ key, value }) => [key, value]));
  const missingKeyProblems = (key: string): Problem[] => (data.has(key) ? [] : [required(`data[${key}]`)]);
  if (type === 'kubernetes.io/service-account-token') {
    return lookUp(metadata.annotations ?? {}, ACCOUNT_NAME_ANNOTATION)
      ? []
      : [required(`metadata.annotations[${ACCOUNT_NAME_ANNOTATION}]`)];
  }
  if (type === 'kubernetes.io/basic-auth') {
    const [userProblems, passwordProblems] = [missingKeyProblems('username'), missingKeyProblems('password')];
    return userProblems.length > 0 && passwordProblems.length > 0 ? [...userProblems, ...passwordProblems] : [];
  }
  const { keys = [], isJson = false } = REQUIRED_KEYS.get(type) ?? {};
  return keys.flatMap((key) => {
    const value = data.get(key);
    if (value === undefined || (type === 'kubernetes.io/ssh-auth' && bytesOf(value).length === 0))
      return [required(`data[${key}]`)];
    if (!isJson || isJsonObject(bytesOf(value).toString())) return [];
    return [invalid(`data[${key}]`, '<secret contents redacted>', 'it must be a JSON object')];
  });
}

/** Whether Go's JSON decoder can decode the text into a map. That decoder also accepts null. */
function isJsonObject(text: string): boolean {
  const value = parseJson(text);
  return typeof value === 'object' && !Array.isArray(value);
}

/**
 * Returns the encoded values with their keys. In a Secret, an entry of `stringData` comes after the entry of `data`
 * with the same key and overrides it.
 */
export const toEncodedEntries = (entries: readonly DataEntry[]): (readonly [key: string, value: ConfigValue])[] =>
  entries.map(({ key, value }) => [key, value] as const);

/**
 * Reads an object from an API server. Throws an error, which does not contain any data of the object, if it is invalid.
 */
export function readConfigObject(kind: ConfigKind, object: unknown): ConfigObject {
  const result = readConfig(kind, withoutManagedFields(object, { apiVersion: 'v1', kind }));
  if ('problems' in result) throw new Error(`this is no ${kind}: ${formatFirstProblem(result.problems)}`);
  const { metadata, isImmutable, type, entries } = result.config;
  const { namespace = '', name, uid, resourceVersion = '' } = metadata;
  if (!uid) throw new Error(`this is no ${kind}: metadata.uid: Required value`);
  return {
    kind,
    namespace,
    name,
    uid,
    resourceVersion,
    isImmutable,
    type,
    data: toDataMap(kind, toEncodedEntries(entries)),
  };
}

/** Decodes the data of an object, by key. The values of a Secret are always bytes. */
export function toDataMap(
  kind: ConfigKind,
  entries: readonly (readonly [key: string, value: ConfigValue])[],
): Map<string, string | Buffer> {
  return new Map(
    entries.map(([key, value]) => {
      const isText = typeof value === 'string' && kind === 'ConfigMap';
      return [key, isText ? value : bytesOf(value)] as const;
    }),
  );
}
