/** Objects that pods use from an API server, as users write them and as the server stores them. */
import { type JsonObject, objectAt, textAt } from '../../apiserver/json.ts';
import { metadataOf } from '../../apiserver/store/metadata.ts';
import type { ResourceName } from '../../apiserver/store/store.ts';

export const OBJECT_KINDS = ['ConfigMap', 'Secret', 'ClusterTrustBundle'] as const;
export type ObjectKind = (typeof OBJECT_KINDS)[number];

/** An object in the namespace of all pods, or a cluster-scoped one. */
export interface ApiObject {
  readonly of: ObjectKind;
  readonly name: string;
  /** Keyed by data key. For a ClusterTrustBundle, each value is one trust anchor. */
  readonly data: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

export const OBJECT_RESOURCES: Readonly<Record<ObjectKind, ResourceName>> = {
  ConfigMap: '/configmaps',
  Secret: '/secrets',
  ClusterTrustBundle: 'certificates.k8s.io/clustertrustbundles',
};

const toBase64 = (text: string): string => Buffer.from(text).toString('base64');

/** Returns a PEM block that passes the node's checks, although it contains no certificate. */
const anchorOf = (text: string): string =>
  `-----BEGIN CERTIFICATE-----\n${toBase64(text)}\n-----END CERTIFICATE-----\n`;

/** Returns the request body that creates or updates the object. */
export function jsonOfObject({ of, name, data, immutable }: ApiObject): JsonObject {
  const entries = Object.entries(data);
  const metadata = { name };
  if (of === 'ClusterTrustBundle')
    return { metadata, spec: { trustBundle: entries.map(([, text]) => anchorOf(text)).join('') } };
  const texts = of === 'Secret' ? entries.map(([key, text]) => [key, toBase64(text)] as const) : entries;
  return { metadata, data: Object.fromEntries(texts), ...(immutable ? { immutable } : {}) };
}

/** The stored fields that a simulation needs. */
export interface StoredObject {
  readonly name: string;
  /** Values by key. A trust bundle has one value with an empty key. */
  readonly data: ReadonlyMap<string, string>;
  readonly isImmutable: boolean;
}

export function storedObject(of: ObjectKind, object: JsonObject): StoredObject {
  const { name = '' } = metadataOf(object);
  if (of === 'ClusterTrustBundle')
    return { name, data: new Map([['', textAt(objectAt(object, 'spec'), 'trustBundle')]]), isImmutable: false };
  const isSecret = of === 'Secret';
  const data = Object.entries(objectAt(object, 'data')).map(
    ([key, value]) => [key, isSecret ? Buffer.from(String(value), 'base64').toString() : String(value)] as const,
  );
  return { name, data: new Map(data), isImmutable: object.immutable === true };
}
