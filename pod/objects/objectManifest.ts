/** ConfigMaps and Secrets as they are written in files, read without an API server. No message shows what a Secret holds. */
import { createHash } from 'node:crypto';
import { fieldPath, type Problem } from '../api/problem.ts';
import { configKey } from '../api/validation/nameRules.ts';
import { dnsLabel, dnsSubdomain, invalid } from '../api/validation/words.ts';
import { nearest } from '../show/nearest.ts';
import { quotingHint, writtenAt } from '../yaml/written.ts';
import type { ConfigKind, ConfigObject, ConfigReference } from './configObject.ts';

type Value = string | { readonly base64: string };

/** An object as it was written, checked; plain data. */
export interface ObjectManifest extends ConfigReference {
  readonly isImmutable: boolean;
  readonly type: string;
  /** A list: as names of a plain object, `__proto__` would be lost. */
  readonly data: readonly (readonly [key: string, value: Value])[];
}

export type ObjectManifestResult =
  | { readonly object: ObjectManifest; readonly warnings: readonly Problem[] }
  /** `reference` is what it would have been, as far as it says so. */
  | { readonly problems: readonly Problem[]; readonly reference?: ConfigReference };

/** As much as an API server stores of one. */
const MOST_BYTES = 1024 * 1024;

/** The fields of each kind, and how the values of those that hold data are written. */
const FIELDS = {
  ConfigMap: { data: 'text', binaryData: 'base64' },
  Secret: { data: 'base64', stringData: 'text' },
} as const satisfies Record<ConfigKind, Record<string, 'text' | 'base64'>>;

const COMMON = ['apiVersion', 'kind', 'metadata', 'immutable'];

/** What a Secret of a type has to hold. */
const KEYS: ReadonlyMap<string, readonly string[]> = new Map([
  ['kubernetes.io/dockercfg', ['.dockercfg']],
  ['kubernetes.io/dockerconfigjson', ['.dockerconfigjson']],
  ['kubernetes.io/ssh-auth', ['ssh-privatekey']],
  ['kubernetes.io/tls', ['tls.crt', 'tls.key']],
]);

/** Reads a document of this kind. */
export function readObjectManifest(kind: ConfigKind, document: object): ObjectManifestResult {
  const fields = ownFields(document);
  const [immutable, type] = [fields.get('immutable'), fields.get('type')];
  const named = namedIn(kind, fields.get('metadata'));
  if (!('reference' in named)) return { problems: named.problems };
  const { reference } = named;
  const read = Object.entries(FIELDS[kind]).map(([field, form]) => readData(document, field, form));
  const data = merged(kind, read);
  const problems = [
    ...(fields.get('apiVersion') === 'v1'
      ? []
      : [{ path: 'apiVersion', message: 'Unsupported value: supported values: "v1"' }]),
    ...named.problems,
    ...expected('immutable', immutable, 'boolean'),
    ...(kind === 'Secret' ? expected('type', type, 'string') : []),
    ...read.flatMap((each) => each.problems),
    ...data.problems,
  ];
  const isImmutable = immutable === true;
  const object = { ...reference, isImmutable, type: typeOf(kind, type), data: [...data.entries] };
  const found = problems.length > 0 ? problems : contentProblems(object);
  return found.length > 0 ? { problems: found, reference } : { object, warnings: unknownFields(kind, document) };
}

const typeOf = (kind: ConfigKind, type: unknown): string =>
  kind === 'ConfigMap' ? '' : typeof type === 'string' && type !== '' ? type : 'Opaque';

/** Only of its own: what a document is said to be comes from outside. */
const ownFields = (value: unknown): ReadonlyMap<string, unknown> =>
  new Map<string, unknown>(isObject(value) ? Object.entries(value) : []);

function namedIn(
  kind: ConfigKind,
  metadata: unknown,
): { readonly problems: Problem[]; readonly reference?: ConfigReference } {
  const own = ownFields(metadata);
  const [name, namespace] = [own.get('name') ?? '', own.get('namespace') ?? ''];
  if (typeof name !== 'string' || typeof namespace !== 'string') {
    const fields = [['metadata.name', name] as const, ['metadata.namespace', namespace] as const];
    return { problems: fields.flatMap(([path, value]) => expected(path, value, 'string')) };
  }
  if (name === '') return { problems: [{ path: 'metadata.name', message: 'Required value' }] };
  const reference = { kind, namespace: namespace || 'default', name };
  const wrong = [...dnsSubdomain('metadata.name', name), ...dnsLabel('metadata.namespace', reference.namespace)];
  return { problems: wrong, reference };
}

interface ReadData {
  readonly field: string;
  readonly entries: ReadonlyMap<string, Value>;
  readonly problems: readonly Problem[];
}

function readData(document: object, field: string, form: 'text' | 'base64'): ReadData {
  const written = ownFields(document).get(field) ?? {};
  if (!isObject(written) || Array.isArray(written))
    return { field, entries: new Map(), problems: expected(field, written, 'object') };
  const problems: Problem[] = [];
  const entries = new Map<string, Value>();
  for (const [key, value] of ownFields(written)) {
    const path = fieldPath([field, key]);
    problems.push(...configKey(key).map((why) => invalid(path, key, why)));
    // Go reads null as the empty text.
    const text = value ?? '';
    if (typeof text !== 'string') problems.push({ path, message: notText(written, key, text, form) });
    else if (form === 'text') entries.set(key, text);
    else if (isBase64(text)) entries.set(key, { base64: text });
    else problems.push({ path, message: `Invalid value: illegal base64 data${HINTS.get(field) ?? ''}` });
  }
  return { field, entries, problems };
}

/** Explains that a value has to be quoted. Data in base64 is secret, so that its text is not repeated. */
function notText(fields: object, key: string, value: unknown, form: 'text' | 'base64'): string {
  const written = writtenAt(fields, [key]);
  const hint = written === undefined ? '' : quotingHint(written, form === 'base64');
  return `expected string, got ${kindOf(value)}: quote it${hint}`;
}

const HINTS: ReadonlyMap<string, string> = new Map([['data', ': plain text belongs in stringData']]);

/** Of a Secret the texts count more; a ConfigMap has each key once. */
function merged(kind: ConfigKind, read: readonly ReadData[]) {
  const entries = new Map<string, Value>();
  const problems: Problem[] = [];
  for (const { entries: own } of read) {
    for (const [key, value] of own) {
      if (kind === 'ConfigMap' && entries.has(key))
        problems.push(invalid(fieldPath(['data', key]), key, 'duplicate of key present in binaryData'));
      entries.set(key, value);
    }
  }
  return { entries, problems };
}

function contentProblems({ kind, type, data }: ObjectManifest): Problem[] {
  const size = data.reduce((sum, [, value]) => sum + bytesOf(value).length, 0);
  const keys = new Set(data.map(([key]) => key));
  const missing = kind === 'Secret' ? (KEYS.get(type) ?? []).filter((key) => !keys.has(key)) : [];
  return [
    ...(size > MOST_BYTES ? [{ path: 'data', message: `Too long: may not be more than ${MOST_BYTES} bytes` }] : []),
    ...missing.map((key) => ({ path: fieldPath(['data', key]), message: 'Required value' })),
  ];
}

function unknownFields(kind: ConfigKind, document: object): Problem[] {
  const known = [...COMMON, ...Object.keys(FIELDS[kind]), ...(kind === 'Secret' ? ['type'] : [])];
  return Object.keys(document)
    .filter((field) => !known.includes(field))
    .map((field) => {
      const meant = nearest(field, known);
      return { path: field, message: `unknown field${meant === undefined ? '' : `, did you mean "${meant}"?`}` };
    });
}

/** As Go reads it: padded, and perhaps in several lines. */
const isBase64 = (text: string): boolean => {
  const digits = text.replace(/[\r\n]/g, '');
  return digits.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(digits);
};

const bytesOf = (value: Value): Buffer =>
  typeof value === 'string' ? Buffer.from(value) : Buffer.from(value.base64, 'base64');

const expected = (path: string, value: unknown, kind: 'boolean' | 'string' | 'object'): Problem[] =>
  value === null || value === undefined || (kindOf(value) as string) === kind
    ? []
    : [{ path, message: `expected ${kind}, got ${kindOf(value)}` }];

const kindOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value);

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The object that pods are given of it. It is the same one for as long as it is there, and another version with other data. */
export function objectOfManifest(manifest: ObjectManifest): ConfigObject {
  const { kind, namespace, name, isImmutable, type } = manifest;
  const uid = digest([kind, namespace, name]);
  const resourceVersion = digest([isImmutable, type, [...manifest.data].sort(byKey)]);
  const data = manifest.data.map(([key, value]) => {
    // A Secret has bytes, however they were written.
    const isText = typeof value === 'string' && kind === 'ConfigMap';
    return [key, isText ? value : bytesOf(value)] as const;
  });
  return { kind, namespace, name, uid, resourceVersion, isImmutable, type, data: new Map(data) };
}

const byKey = ([one]: readonly [string, Value], [other]: readonly [string, Value]): number => (one < other ? -1 : 1);

const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
