/**
 * Removes values from request bodies that differ between runs: UIDs, times, versions, IDs, addresses and generated
 * names.
 */
import { lookUp } from '../../../../base/values/lookUp.ts';

export type Json = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const fieldsOf = (value: unknown): Json => (isFields(value) ? value : {});

export const entriesOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isFields) : []);

const ORDER = '$setElementOrder/conditions';

/** The field by which the entries of each list in a status are merged. */
const KEYS: ReadonlyMap<string, string> = new Map([
  ['conditions', 'type'],
  ['podIPs', 'ip'],
  ['hostIPs', 'ip'],
]);

/** Applies a strategic merge patch to a status. Null removes a field, and only lists with a merge key are merged. */
export function mergedStatus(before: Json, patch: Json): Json {
  const changes = Object.entries(patch).flatMap(([name, value]): [string, unknown][] => {
    if (name === ORDER) return [['order', entriesOf(value).map((each) => lookUp(each, 'type'))]];
    if (name.startsWith('$')) return [];
    const key = KEYS.get(name);
    if (key !== undefined) return [[name, mergedList(lookUp(before, name), value, key)]];
    const had = lookUp(before, name);
    return [[name, isFields(value) && isFields(had) ? mergedStatus(had, value) : value]];
  });
  const all = Object.entries({ ...before, ...Object.fromEntries(changes) });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

function mergedList(before: unknown, patch: unknown, key: string): readonly Json[] {
  const had = entriesOf(before);
  const changes = entriesOf(patch);
  const keyOf = (entry: Json) => lookUp(entry, key);
  const called = (all: readonly Json[], entry: Json) => all.find((each) => keyOf(each) === keyOf(entry));
  const gone = changes.filter((entry) => lookUp(entry, '$patch') === 'delete');
  return [
    ...had.map((entry) => mergedStatus(entry, called(changes, entry) ?? {})),
    ...changes.filter((entry) => called(had, entry) === undefined),
  ].filter((entry) => called(gone, entry) === undefined);
}

/** Returns a status as it is compared, one line per part. */
export function momentOf(status: Json): string {
  const parts = Object.entries(status).flatMap(([name, value]) => partsOf(name, value));
  return parts.sort().join('\n');
}

const LISTS = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'];

function partsOf(name: string, value: unknown): string[] {
  if (name === 'conditions') return entriesOf(value).map((each) => `${lookUp(each, 'type')} ${plainText(each)}`);
  if (LISTS.includes(name)) return entriesOf(value).map((each, index) => `${name}[${index}] ${plainText(each)}`);
  return [`${name} ${plainText(value, name)}`];
}

/**
 * Fields whose values differ between runs. Each value is replaced by a placeholder, so only its presence is compared.
 */
const VARYING: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'startTime',
  'podIP',
  'podIPs',
  'imageID',
  'containerID',
  'startedAt',
  'finishedAt',
  'lastTransitionTime',
  'lastProbeTime',
  'deletionTimestamp',
  'renewTime',
  'lastHeartbeatTime',
  'sizeBytes',
  'request',
  'kubernetes.io/config.seen',
  'kubernetes.io/config.hash',
  'kubernetes.io/config.mirror',
]);
/** Fields that are not compared, because they are meaningless or depend on the recording. */
const SILENT: ReadonlySet<string> = new Set(['lastProbeTime', 'lastTransitionTime', 'apiVersion', 'kind']);
const NO_LIMIT = '9007199254740988Ki';

/** Returns a value as text, with its fields in alphabetical order. */
export function plainText(value: unknown, name = ''): string {
  const normalized = plain(value, name);
  return withoutIds(typeof normalized === 'string' ? normalized : (JSON.stringify(normalized) ?? ''));
}

function plain(value: unknown, name: string): unknown {
  if (VARYING.has(name)) return value === '' ? '' : `‹${name}›`;
  if (Array.isArray(value)) return value.map((each) => plain(each, ''));
  if (!isFields(value)) return value;
  const fields = Object.entries(value).filter(([field, of]) => !SILENT.has(field) && !isUnlimited(of) && of !== null);
  return Object.fromEntries(fields.sort(byName).map(([field, of]) => [field, plain(of, field)]));
}

/**
 * Whether a value is the memory limit that the kubelet reports with cgroup v1 and later retracts, although nobody has
 * set a limit.
 */
const isUnlimited = (value: unknown): boolean =>
  value === NO_LIMIT || (isFields(value) && Object.keys(value).length > 0 && Object.values(value).every(isUnlimited));

const byName = ([one]: [string, unknown], [other]: [string, unknown]): number =>
  one === other ? 0 : one < other ? -1 : 1;

const withoutIds = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '‹uid›')
    .replaceAll(/\b[0-9a-f]{32}\b/g, '‹uid›')
    .replaceAll(/\bkube-api-access-[a-z0-9]{5}\b/g, 'kube-api-access-‹suffix›')
    .replaceAll(/\b10\.\d+\.\d+\.\d+\b/g, '‹ip›')
    .replaceAll(/192\.0\.2\.10?\b/g, '‹host ip›')
    .replaceAll('simulated://1.0.0', 'containerd://1.6.20')
    .replaceAll('simulated://Unknown', 'containerd://Unknown')
    .replaceAll('node-1', 'node1');

/** Returns the paths of the fields of a body. */
export const fieldPaths = (value: unknown): string[] =>
  Object.entries(fieldsOf(value)).flatMap(([name, inner]) =>
    isFields(inner) ? fieldPaths(inner).map((path) => `${name}.${path}`) : [name],
  );
