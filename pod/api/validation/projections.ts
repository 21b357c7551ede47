import type { Problem } from '../problem.ts';
import type { Volume } from '../schema/volume.ts';
import { validateResourceField } from './resourceField.ts';
import { forbidden, invalid, pathInVolume, required } from './words.ts';

type DownwardApi = NonNullable<Volume['downwardAPI']>;
type Item = NonNullable<DownwardApi['items']>[number];
type Source = NonNullable<NonNullable<Volume['projected']>['sources']>[number];
type Keys = NonNullable<NonNullable<Volume['configMap']>['items']>;

const FIELDS = /^metadata\.(name|namespace|uid|labels|annotations|(labels|annotations)\['.+'\])$/;
const SHORTEST_TOKEN_SECONDS = 600;
const LONGEST_TOKEN_SECONDS = 2 ** 32;
const MODE_RULE = 'file mode must be a number between 0 and 0777 (octal), both inclusive';

/** What a downwardAPI volume shows: each item at a path within the volume, of one field that files can show. */
export function validateDownwardApi({ items = [], defaultMode }: DownwardApi, path: string): Problem[] {
  return [
    ...validateMode(defaultMode, `${path}.defaultMode`),
    ...items.flatMap((item, index) => validateItem(item, `${path}.items[${index}]`)),
  ];
}

/** What a volume shows of a ConfigMap or a Secret: one that is named, by its items each at a path within the volume. */
export function validateObject(
  { items, defaultMode }: Pick<NonNullable<Volume['configMap']>, 'items' | 'defaultMode'>,
  named: { readonly field: 'name' | 'secretName'; readonly name: string | undefined },
  path: string,
): Problem[] {
  return [
    ...(named.name ? [] : [required(`${path}.${named.field}`)]),
    ...validateMode(defaultMode, `${path}.defaultMode`),
    ...validateKeys(items, path),
  ];
}

function validateKeys(items: Keys = [], path: string): Problem[] {
  return items.flatMap(({ key, path: file, mode }, index) => {
    const at = `${path}.items[${index}]`;
    return [
      ...(key === '' ? [required(`${at}.key`)] : []),
      ...(file === '' ? [required(`${at}.path`)] : ownPath(`${at}.path`, file)),
      ...validateMode(mode, `${at}.mode`),
    ];
  });
}

/** What a projected volume shows: one kind for each source, and no path twice. */
export function validateProjected(
  { sources = [], defaultMode }: NonNullable<Volume['projected']>,
  path: string,
): Problem[] {
  const seen = new Set<string>();
  return [
    ...validateMode(defaultMode, `${path}.defaultMode`),
    ...sources.flatMap((source, index) => {
      const at = `${path}.sources[${index}]`;
      const taken = pathsOf(source).flatMap(({ file, told }) => {
        const isTaken = seen.has(file);
        seen.add(file);
        return isTaken ? [invalid(path, told, 'conflicting duplicate paths')] : [];
      });
      return [
        ...Object.keys(source)
          .slice(1)
          .map((kind) => forbidden(`${at}.${kind}`, 'may not specify more than 1 volume type per source')),
        ...validateSource(source, at),
        ...taken,
      ];
    }),
  ];
}

/** The paths that a source shows something at, with what the API server tells of one that is taken. */
function pathsOf({ secret, configMap, downwardAPI, clusterTrustBundle: bundle }: Source) {
  const ofKeys = (named: { readonly name?: string; readonly items?: Keys } | undefined) =>
    (named?.items ?? []).map(({ path: file }) => ({ file, told: named?.name ?? '' }));
  const own = [...(downwardAPI?.items ?? []), ...(bundle ? [bundle] : [])];
  return [...ofKeys(secret), ...ofKeys(configMap), ...own.map(({ path: file }) => ({ file, told: file }))].filter(
    ({ file }) => file !== '',
  );
}

function validateSource(source: Source, at: string): Problem[] {
  const { secret, configMap, downwardAPI, serviceAccountToken: token, clusterTrustBundle: bundle } = source;
  const object = (kind: 'secret' | 'configMap', { name, items }: NonNullable<Source['configMap']>) =>
    validateObject({ ...(items ? { items } : {}) }, { field: 'name', name }, `${at}.${kind}`);
  return [
    ...(secret ? object('secret', secret) : []),
    ...(configMap ? object('configMap', configMap) : []),
    ...(downwardAPI ? validateDownwardApi(downwardAPI, `${at}.downwardAPI`) : []),
    ...(token ? validateToken(token, `${at}.serviceAccountToken`) : []),
    ...(bundle ? validateOwnPath(bundle.path, `${at}.clusterTrustBundle.path`) : []),
  ];
}

function validateToken(
  { path, expirationSeconds: seconds = 3600 }: NonNullable<Source['serviceAccountToken']>,
  at: string,
): Problem[] {
  const wrong =
    seconds < SHORTEST_TOKEN_SECONDS
      ? 'may not specify a duration less than 10 minutes'
      : seconds > LONGEST_TOKEN_SECONDS
        ? 'may not specify a duration larger than 2^32 seconds'
        : undefined;
  return [
    ...(wrong === undefined ? [] : [invalid(`${at}.expirationSeconds`, seconds, wrong)]),
    ...validateOwnPath(path, `${at}.path`),
  ];
}

const validateOwnPath = (file: string, path: string): Problem[] =>
  file === '' ? [required(path)] : ownPath(path, file);

function validateItem({ path: file, mode, fieldRef, resourceFieldRef }: Item, path: string): Problem[] {
  const unsupported = 'is not a field supported in volumes';
  return [
    ...(file === '' ? [required(`${path}.path`)] : ownPath(`${path}.path`, file)),
    ...validateMode(mode, `${path}.mode`),
    ...(fieldRef && resourceFieldRef
      ? [invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')]
      : []),
    ...(fieldRef || resourceFieldRef ? [] : [required(path, 'one of fieldRef and resourceFieldRef is required')]),
    ...(fieldRef && !FIELDS.test(fieldRef.fieldPath)
      ? [invalid(`${path}.fieldRef.fieldPath`, fieldRef.fieldPath, unsupported)]
      : []),
    ...(resourceFieldRef ? validateResourceField(resourceFieldRef, `${path}.resourceFieldRef`, unsupported) : []),
    ...(resourceFieldRef && !resourceFieldRef.containerName
      ? [required(`${path}.resourceFieldRef.containerName`)]
      : []),
  ];
}

/** Names that begin with two dots are the volume's own. */
function ownPath(path: string, file: string): Problem[] {
  const problems = pathInVolume(path, file);
  if (problems.length > 0 || !file.startsWith('..')) return problems;
  return [invalid(path, file, "must not start with '..'")];
}

function validateMode(mode: number | undefined, path: string): Problem[] {
  return mode === undefined || (mode >= 0 && mode <= 0o777) ? [] : [invalid(path, mode, MODE_RULE)];
}
