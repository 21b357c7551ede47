/** What pods get of an API server beside themselves: as users write it, and where the server has it. */
import { type JsonObject, objectAt, textAt } from '../../apiserver/json.ts';
import { metadataOf } from '../../apiserver/store/metadata.ts';
import type { ResourceName } from '../../apiserver/store/store.ts';

export const OBJECT_KINDS = ['ConfigMap', 'Secret', 'ClusterTrustBundle'] as const;
export type ObjectKind = (typeof OBJECT_KINDS)[number];

/** An object of the namespace of all pods, or of the whole cluster. */
export interface ApiObject {
  readonly of: ObjectKind;
  readonly name: string;
  /** By key; of a trust bundle each text is an anchor. */
  readonly data: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

export const OBJECT_RESOURCES: Readonly<Record<ObjectKind, ResourceName>> = {
  ConfigMap: '/configmaps',
  Secret: '/secrets',
  ClusterTrustBundle: 'certificates.k8s.io/clustertrustbundles',
};

const toBase64 = (text: string): string => Buffer.from(text).toString('base64');

/** No certificate, but what a node looks at of one. */
const anchorOf = (text: string): string =>
  `-----BEGIN CERTIFICATE-----\n${toBase64(text)}\n-----END CERTIFICATE-----\n`;

/** As it is sent to the server. */
export function jsonOfObject({ of, name, data, immutable }: ApiObject): JsonObject {
  const entries = Object.entries(data);
  const metadata = { name };
  if (of === 'ClusterTrustBundle')
    return { metadata, spec: { trustBundle: entries.map(([, text]) => anchorOf(text)).join('') } };
  const texts = of === 'Secret' ? entries.map(([key, text]) => [key, toBase64(text)] as const) : entries;
  return { metadata, data: Object.fromEntries(texts), ...(immutable ? { immutable } : {}) };
}

/** What the server has of an object, as far as a simulation looks at it. */
export interface StoredObject {
  readonly name: string;
  /** Texts by key; of a trust bundle one, by the empty key. */
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
