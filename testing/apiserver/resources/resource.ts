/** The resources of the API server, as discovery describes them. */
import { createHash } from 'node:crypto';
import type { ResourceName } from '../store/store.ts';

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

export interface Subresource {
  readonly name: string;
  readonly kind: string;
  readonly verbs: readonly Verb[];
  /** The group and version of the kind, if they differ from those of the resource. */
  readonly of?: { readonly group: string; readonly version: string };
}

export interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural, as in paths. */
  readonly name: string;
  readonly singular: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly Subresource[];
}

/** The verbs of stored resources, in the order of discovery. */
export const STORED_VERBS: readonly Verb[] = [
  ...(['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const),
];

/** The group and version as in `apiVersion`. */
export const groupVersion = ({ group, version }: Pick<Resource, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`;

/** The name under which objects are stored. Events have two groups and are stored once. */
export const storedAs = ({ group, name }: Pick<Resource, 'group' | 'name'>): ResourceName =>
  group === 'events.k8s.io' ? `/${name}` : `${group}/${name}`;

/** The hash of a storage version in discovery (`StorageVersionHash` of apiserver). */
export const storageVersionHash = ({ group, version, kind }: Pick<Resource, 'group' | 'version' | 'kind'>): string =>
  createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64');
