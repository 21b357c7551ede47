/** Determines the objects that a pod needs according to its manifest. */
import type { Container } from '../../../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../../../kubernetes/api/schema/pod.ts';
import type { Volume } from '../../../../kubernetes/api/schema/volume.ts';
import type { ObjectKind, StoredObject } from '../../cluster/apiObject.ts';
import type { ObjectVersions } from './objectVersions.ts';

type Source = NonNullable<NonNullable<Volume['projected']>['sources']>[number];

/** A service account token in a volume. `seconds` is its lifetime. */
export interface VolumeToken {
  readonly path: string;
  readonly audience: string;
  readonly seconds: number;
}

/** Contents of the files of a volume, by path. */
export type VolumeFiles = ReadonlyMap<string, string>;

/** An object that a pod needs, with the keys that must exist. */
interface Need {
  readonly of: ObjectKind;
  readonly name: string;
  readonly keys: readonly string[];
  readonly optional: boolean;
}

const PRESENT = { keys: [], optional: false } as const;

export const sourcesOf = ({ configMap, secret, projected }: Volume): readonly Source[] => {
  if (configMap !== undefined) return [{ configMap }];
  if (secret !== undefined) return [{ secret: { ...secret, name: secret.secretName ?? '' } }];
  return projected?.sources ?? [];
};

export const tokensOf = (volume: Volume): readonly VolumeToken[] =>
  sourcesOf(volume).flatMap(({ serviceAccountToken: token }) =>
    token === undefined
      ? []
      : [{ path: token.path, audience: token.audience ?? '', seconds: token.expirationSeconds ?? 3_600 }],
  );

/** Returns the paths in a volume whose contents do not come from objects. */
export const otherPaths = (volume: Volume): readonly string[] => [
  ...tokensOf(volume).map(({ path }) => path),
  ...sourcesOf(volume).flatMap(({ downwardAPI }) => downwardAPI?.items?.map(({ path }) => path) ?? []),
];

function needOf({ configMap, secret, clusterTrustBundle }: Source): Need | undefined {
  const object = configMap ?? secret;
  if (object !== undefined) {
    const keys = object.items?.map(({ key }) => key) ?? [];
    const of = configMap ? 'ConfigMap' : 'Secret';
    return { of, name: object.name ?? '', keys, optional: object.optional ?? false };
  }
  if (clusterTrustBundle === undefined) return undefined;
  const { name = '', optional = false } = clusterTrustBundle;
  return { ...PRESENT, of: 'ClusterTrustBundle', name, optional };
}

const isMissing = ({ keys, optional }: Need, object: StoredObject | undefined): boolean =>
  !optional && (object === undefined || keys.some((key) => !object.data.has(key)));

/** Returns the files of a source for one version of its object. */
function filesOf({ configMap, secret, clusterTrustBundle }: Source, object: StoredObject | undefined): VolumeFiles {
  if (clusterTrustBundle !== undefined) return new Map([[clusterTrustBundle.path, object?.data.get('') ?? '']]);
  const { items = [] } = configMap ?? secret ?? {};
  const data: VolumeFiles = object?.data ?? new Map();
  if (items.length === 0) return data;
  return new Map(items.flatMap(({ key, path }) => (data.has(key) ? [[path, data.get(key) ?? '']] : [])));
}

/**
 * Returns all possible contents of a volume. Undefined if an object that it needs may be missing, because the volume
 * then does not change.
 */
export function possibleContents(volume: Volume, versions: ObjectVersions): readonly VolumeFiles[] | undefined {
  let all: readonly VolumeFiles[] = [new Map()];
  for (const source of sourcesOf(volume)) {
    const need = needOf(source);
    if (need === undefined) continue;
    const objects = versions.mayBe(need.of, need.name);
    if (objects.some((object) => isMissing(need, object))) return undefined;
    // If two sources have the same path, the later one takes precedence.
    all = all.flatMap((before) => objects.map((object) => new Map([...before, ...filesOf(source, object)])));
  }
  return all;
}

/** Returns the objects that the `env` variables of a container refer to, each with the name of the variable. */
export const variableNeeds = ({ env = [] }: Container): readonly (Need & { readonly variable: string })[] =>
  env.flatMap(({ name: variable, valueFrom: { configMapKeyRef, secretKeyRef } = {} }) => {
    const from = configMapKeyRef ?? secretKeyRef;
    if (from === undefined) return [];
    const of = configMapKeyRef ? 'ConfigMap' : 'Secret';
    return [{ variable, of, name: from.name ?? '', keys: [from.key], optional: from.optional ?? false }];
  });

const envFromNeeds = ({ envFrom = [] }: Container): readonly Need[] =>
  envFrom.flatMap(({ configMapRef, secretRef }) => {
    const from = configMapRef ?? secretRef;
    const of = configMapRef ? 'ConfigMap' : 'Secret';
    return from ? [{ of, name: from.name ?? '', keys: [], optional: from.optional ?? false }] : [];
  });

/** Whether an object that a pod needs may be missing. */
export function mayMissObject(
  { volumes = [], containers, initContainers = [] }: PodSpec,
  versions: ObjectVersions,
): boolean {
  const all = [...initContainers, ...containers];
  const needs = [
    ...volumes.flatMap(sourcesOf).map(needOf),
    ...all.flatMap((each) => [...variableNeeds(each), ...envFromNeeds(each)]),
  ];
  return needs.some((need) => need && versions.mayBe(need.of, need.name).some((object) => isMissing(need, object)));
}
