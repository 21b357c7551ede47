/** ConfigMaps and Secrets: the reader and the checks for objects of files, of an API server and of the test API server. */

import { lookUp } from '../../base/lookUp.ts';
import { parsedJson } from '../../base/parsedJson.ts';
import { fieldPath, firstProblem, type Problem } from '../api/problem.ts';
import { type KindRules, readObject, withoutManagedFields } from '../api/readObject.ts';
import { configMapSchema, secretSchema } from '../api/schema/configObject.ts';
import { configKey } from '../api/validation/nameRules.ts';
import { allInvalid, invalid, required, tooLong } from '../api/validation/words.ts';

export type ConfigKind = 'ConfigMap' | 'Secret';

/** What a pod names: always an object of its own namespace. */
export interface ConfigReference {
  readonly kind: ConfigKind;
  readonly namespace: string;
  readonly name: string;
}

export interface ConfigObject extends ConfigReference {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Whether it never changes again, so that nobody needs to follow it. */
  readonly isImmutable: boolean;
  /** The type of a Secret, which says how to read its data, as in `kubernetes.io/dockerconfigjson`. Empty for a ConfigMap. */
  readonly type: string;
  /** The values by key. Strings are a ConfigMap's `data`; bytes its `binaryData`, or a Secret's `data`. */
  readonly data: ReadonlyMap<string, string | Buffer>;
}

/** A value as it was written. */
export type Value = string | { readonly base64: string };

/** The fields of data of each kind, and how their values are written. Of a Secret a later field overrides an earlier one. */
const FIELDS = {
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

/** An entry of the data of an object, and the field that it is in. */
interface Entry {
  readonly field: DataField;
  readonly key: string;
  readonly value: Value;
}

/** An object whose types are right. */
export interface ReadConfig {
  readonly kind: ConfigKind;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly isImmutable: boolean;
  /** Empty for a ConfigMap. */
  readonly type: string;
  readonly entries: readonly Entry[];
}

export type ConfigResult =
  | { readonly config: ReadConfig; readonly warnings: readonly Problem[] }
  | { readonly problems: readonly Problem[] };

/** The values of a Secret's fields are secret, also those of a wrong type. */
const RULES: Readonly<Record<ConfigKind, KindRules>> = {
  ConfigMap: {},
  Secret: { isSecret: ([field]) => field === 'data' || field === 'stringData' },
};

/** Reads an object of this kind. Unknown fields are left out with a warning. No message repeats what a Secret contains. */
export function readConfig(kind: ConfigKind, value: unknown): ConfigResult {
  if (kind === 'Secret') {
    const read = readObject(secretSchema, value, RULES[kind]);
    if ('problems' in read) return read;
    const { type = '' } = read.object;
    return configOf(kind, { ...read.object, type: type === '' ? 'Opaque' : type }, read.warnings);
  }
  const read = readObject(configMapSchema, value, RULES[kind]);
  return 'problems' in read ? read : configOf(kind, { ...read.object, type: '' }, read.warnings);
}

interface Fields {
  readonly metadata: ReadConfig['metadata'];
  readonly type: string;
  readonly immutable?: boolean;
  readonly data?: readonly (readonly [key: string, text: string])[];
  readonly binaryData?: Fields['data'];
  readonly stringData?: Fields['data'];
}

function configOf(kind: ConfigKind, fields: Fields, warnings: readonly Problem[]): ConfigResult {
  const { metadata, type, immutable = false } = fields;
  const entries = FIELDS[kind].flatMap(([field, form]) =>
    (fields[field] ?? []).map(([key, text]): Entry => {
      return { field, key, value: form === 'text' ? text : { base64: text } };
    }),
  );
  const problems = entries.flatMap(({ field, key, value }) =>
    typeof value === 'string' || isBase64(value.base64) ? [] : [notBase64(kind, field, key)],
  );
  if (problems.length > 0) return { problems: [...problems, ...warnings] };
  return { config: { kind, metadata, isImmutable: immutable, type, entries }, warnings };
}

/** Whether Go decodes the text: it needs the padding, and ignores line breaks. */
function isBase64(text: string): boolean {
  const digits = text.replace(/[\r\n]/g, '');
  return digits.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(digits);
}

function notBase64(kind: ConfigKind, field: DataField, key: string): Problem {
  const hint = kind === 'Secret' ? ': plain text belongs in stringData' : '';
  return { path: fieldPath([field, key]), message: `Invalid value: illegal base64 data${hint}` };
}

/** The bytes of a value. */
const bytesOf = (value: Value): Buffer =>
  typeof value === 'string' ? Buffer.from(value) : Buffer.from(value.base64, 'base64');

/** Maximum size of all values of an object, in bytes. */
const MAX_BYTES = 1024 * 1024;

/** The keys that a Secret of a type must have, and whether their values are JSON objects. */
const REQUIRED_KEYS: ReadonlyMap<string, { readonly keys: readonly string[]; readonly isJson?: true }> = new Map([
  ['kubernetes.io/dockercfg', { keys: ['.dockercfg'], isJson: true }],
  ['kubernetes.io/dockerconfigjson', { keys: ['.dockerconfigjson'], isJson: true }],
  ['kubernetes.io/ssh-auth', { keys: ['ssh-privatekey'] }],
  ['kubernetes.io/tls', { keys: ['tls.crt', 'tls.key'] }],
]);

/**
 * Checks an object as an API server does, beside its metadata (`ValidateConfigMap` and `ValidateSecret` in
 * `pkg/apis/core/validation/validation.go`). The path of a problem of the whole object is empty.
 */
export function validateConfig(config: ReadConfig): Problem[] {
  const { kind, entries } = config;
  const binary = new Set(entries.flatMap(({ field, key }) => (field === 'binaryData' ? [key] : [])));
  const ofKeys = entries.flatMap(({ field, key }) => {
    const path = `${field}[${key}]`;
    const isTwice = field === 'data' && binary.has(key);
    return [
      ...allInvalid(path, key, configKey(key)),
      ...(isTwice ? [invalid(path, key, 'duplicate of key present in binaryData')] : []),
    ];
  });
  const values = kind === 'Secret' ? new Map(entries.map(({ key, value }) => [key, value])).values() : valuesOf(config);
  const size = Array.from(values, (value) => bytesOf(value).length).reduce((sum, each) => sum + each, 0);
  const tooLarge = size > MAX_BYTES ? [tooLong(kind === 'Secret' ? 'data' : '', MAX_BYTES)] : [];
  return [...ofKeys, ...tooLarge, ...(kind === 'Secret' ? secretProblems(config) : [])];
}

const valuesOf = ({ entries }: ReadConfig): Value[] => entries.map(({ value }) => value);

const ACCOUNT_NAME = 'kubernetes.io/service-account.name';

function secretProblems({ type, entries, metadata }: ReadConfig): Problem[] {
  const data = new Map(entries.map(({ key, value }) => [key, value]));
  const missing = (key: string): Problem[] => (data.has(key) ? [] : [required(`data[${key}]`)]);
  if (type === 'kubernetes.io/service-account-token') {
    return lookUp(metadata.annotations ?? {}, ACCOUNT_NAME) ? [] : [required(`metadata.annotations[${ACCOUNT_NAME}]`)];
  }
  if (type === 'kubernetes.io/basic-auth') {
    const [user, password] = [missing('username'), missing('password')];
    return user.length > 0 && password.length > 0 ? [...user, ...password] : [];
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

/** Whether Go decodes the text into a map. It accepts null. */
function isJsonObject(text: string): boolean {
  const value = parsedJson(text);
  return typeof value === 'object' && !Array.isArray(value);
}

/** The values as they were written, by key; of a Secret, `stringData` overrides `data`. */
export const written = (entries: readonly Entry[]): (readonly [key: string, value: Value])[] =>
  entries.map(({ key, value }) => [key, value] as const);

/** Reads what an API server has of an object; throws what is wrong with it, without anything that it contains. */
export function readConfigObject(kind: ConfigKind, object: unknown): ConfigObject {
  const read = readConfig(kind, withoutManagedFields(object, { apiVersion: 'v1', kind }));
  if ('problems' in read) throw new Error(`this is no ${kind}: ${firstProblem(read.problems)}`);
  const { metadata, isImmutable, type, entries } = read.config;
  const { namespace = '', name, uid, resourceVersion = '' } = metadata;
  if (!uid) throw new Error(`this is no ${kind}: metadata.uid: Required value`);
  return { kind, namespace, name, uid, resourceVersion, isImmutable, type, data: dataOf(kind, written(entries)) };
}

/** The data of an object by key. A Secret has bytes, however they were written. */
export function dataOf(
  kind: ConfigKind,
  entries: readonly (readonly [key: string, value: Value])[],
): Map<string, string | Buffer> {
  return new Map(
    entries.map(([key, value]) => {
      const isText = typeof value === 'string' && kind === 'ConfigMap';
      return [key, isText ? value : bytesOf(value)] as const;
    }),
  );
}
