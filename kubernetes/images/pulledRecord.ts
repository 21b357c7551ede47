/**
 * Reads and writes image pull records. An `ImagePullIntent` says that the node is about to pull an image, and an
 * `ImagePulledRecord` says with which credentials the node has pulled an image. The format is the kubelet's, so that a
 * kubelet can take over the records.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { lookUp } from '../../base/values/lookUp.ts';
import { parseJson } from '../../base/values/parseJson.ts';
import type { Credential } from './keyring.ts';

const stringSchema = z.string();
const accountSchema = z.strictObject({ uid: stringSchema, namespace: stringSchema, name: stringSchema });
const secretSchema = z.strictObject({
  uid: stringSchema,
  namespace: stringSchema,
  name: stringSchema,
  credentialHash: stringSchema,
});
const credentialsSchema = z.strictObject({
  kubernetesSecrets: z.exactOptional(z.array(secretSchema)),
  kubernetesServiceAccounts: z.exactOptional(z.array(accountSchema)),
  nodePodsAccessible: z.exactOptional(z.boolean()),
});
const apiVersionSchema = z.enum(['kubelet.config.k8s.io/v1beta1', 'kubelet.config.k8s.io/v1alpha1']);
const intentSchema = z.strictObject({
  kind: z.literal('ImagePullIntent'),
  apiVersion: apiVersionSchema,
  image: stringSchema,
});
/**
 * Schema of a record. It is strict, because an unknown field could be a restriction. A record with an unknown field is
 * therefore not accepted as proof.
 */
const recordSchema = z.strictObject({
  kind: z.literal('ImagePulledRecord'),
  apiVersion: apiVersionSchema,
  lastUpdatedTime: z.nullable(stringSchema),
  imageRef: stringSchema,
  credentialMapping: z.exactOptional(z.nullable(z.record(stringSchema, credentialsSchema))),
});

type Account = z.output<typeof accountSchema>;
type Secret = z.output<typeof secretSchema>;
/**
 * The credentials with which an image was pulled. `nodePodsAccessible` is set for a pull without credentials or with
 * the node's own credentials.
 */
export type PullCredentials = z.output<typeof credentialsSchema>;

export interface PulledRecord {
  /** The image's reference in the runtime. */
  readonly imageRef: string;
  /** Pull credentials by image name, i.e. the name as in specs, but without tag and digest. */
  readonly credentialsByImage: Readonly<Record<string, PullCredentials>>;
}

/** Returns the file name of a record or an intent. */
export const recordFileName = (name: string): string => `sha256-${createHash('sha256').update(name).digest('hex')}`;

const RECORD_VERSION = { apiVersion: 'kubelet.config.k8s.io/v1beta1' };

export const formatIntent = (image: string): string =>
  toGoJsonLine({ kind: 'ImagePullIntent', ...RECORD_VERSION, image });

/** Returns the image of an intent, or undefined if the content is invalid. */
export function readIntent(content: string): string | undefined {
  const result = z.safeParse(intentSchema, parseJson(content));
  return result.success ? result.data.image : undefined;
}

export function formatRecord({ imageRef, credentialsByImage }: PulledRecord, now: number): string {
  const names = Object.keys(credentialsByImage).sort();
  const lastUpdatedTime = `${new Date(now).toISOString().slice(0, 19)}Z`;
  const credentialMapping = Object.fromEntries(names.map((name) => [name, lookUp(credentialsByImage, name)]));
  return toGoJsonLine({
    kind: 'ImagePulledRecord',
    ...RECORD_VERSION,
    lastUpdatedTime,
    imageRef,
    ...(names.length > 0 ? { credentialMapping } : {}),
  });
}

/** Parses a record. Returns undefined if the content is invalid. */
export function readRecord(content: string): PulledRecord | undefined {
  const result = z.safeParse(recordSchema, parseJson(content));
  return result.success
    ? { imageRef: result.data.imageRef, credentialsByImage: result.data.credentialMapping ?? {} }
    : undefined;
}

/** Returns the recorded form of the credential that was used for a pull. Undefined means an anonymous pull. */
export function pullCredentialsOf(credential: Credential | undefined): PullCredentials {
  const source = credential?.source;
  if (credential === undefined || source === undefined) return { nodePodsAccessible: true };
  const { kind, uid, namespace, name } = source;
  return kind === 'secret'
    ? { kubernetesSecrets: [{ uid, namespace, name, credentialHash: credentialHash(credential) }] }
    : { kubernetesServiceAccounts: [{ uid, namespace, name }] };
}

/**
 * Determines whether a pod's credentials prove its access to an image with recorded pull credentials
 * (`MustAttemptImagePull` in `pkg/kubelet/images/pullmanager/image_pull_manager.go`). Returns undefined if there is no
 * proof. The same credential in any Secret, the same Secret with a changed credential, and the same service account are
 * accepted as proof. `learned` contains a Secret to add to the record, and is undefined if there is nothing to add.
 */
export function findProof(
  recordedCredentials: PullCredentials,
  podCredentials: readonly Credential[],
): { readonly learned: PullCredentials | undefined } | undefined {
  const { kubernetesSecrets: secrets = [], kubernetesServiceAccounts: accounts = [] } = recordedCredentials;
  const isRecordFull = secrets.length >= MAX_SECRETS;
  for (const credential of podCredentials) {
    const { kubernetesSecrets: [podSecret] = [] } = pullCredentialsOf(credential);
    if (podSecret === undefined) continue;
    const sameHashSecrets = secrets.filter(({ credentialHash }) => credentialHash === podSecret.credentialHash);
    const addedCredentials = isRecordFull ? undefined : { kubernetesSecrets: [podSecret] };
    if (sameHashSecrets.length > 0) {
      return { learned: sameHashSecrets.some((each) => isSameAccount(each, podSecret)) ? undefined : addedCredentials };
    }
    // Like the kubelet, require a pull if the record is full, because the changed credential cannot be added to it.
    if (!isRecordFull && secrets.some((each) => isSameAccount(each, podSecret))) return { learned: addedCredentials };
  }
  const podAccount = podCredentials.find(({ source }) => source?.kind === 'serviceAccount')?.source;
  return podAccount && accounts.some((each) => isSameAccount(each, podAccount)) ? { learned: undefined } : undefined;
}

/**
 * Maximum number of Secrets and of service accounts in a record. Without this limit, short-lived namespaces would let
 * the record grow indefinitely. The kubelet limits only the Secrets that it adds without a pull
 * (`writeRecordWhileMatchingLimit`).
 */
const MAX_SECRETS = 100;

const isSameAccount = (a: Account, b: Account): boolean =>
  a.uid === b.uid && a.namespace === b.namespace && a.name === b.name;

/**
 * Adds the credentials of a pull to a record. Returns the same object if nothing changes. An image that is accessible
 * to all pods of the node remains so.
 */
export function withPullCredentials(record: PulledRecord, name: string, added: PullCredentials): PulledRecord {
  const previous = lookUp(record.credentialsByImage, name);
  const updatedCredentials = previous === undefined ? added : mergeCredentials(previous, added);
  return updatedCredentials === previous
    ? record
    : { ...record, credentialsByImage: { ...record.credentialsByImage, [name]: updatedCredentials } };
}

function mergeCredentials(previous: PullCredentials, added: PullCredentials): PullCredentials {
  if (previous.nodePodsAccessible) return previous;
  if (added.nodePodsAccessible) return { nodePodsAccessible: true };
  const secrets = mergeSorted(previous.kubernetesSecrets ?? [], added.kubernetesSecrets ?? []);
  const accounts = mergeSorted(previous.kubernetesServiceAccounts ?? [], added.kubernetesServiceAccounts ?? []);
  const updatedCredentials = {
    ...(secrets.length > 0 ? { kubernetesSecrets: secrets } : {}),
    ...(accounts.length > 0 ? { kubernetesServiceAccounts: accounts } : {}),
  };
  return JSON.stringify(updatedCredentials) === JSON.stringify(previous) ? previous : updatedCredentials;
}

/**
 * Merges two lists, sorted and without duplicates. Entries in `added` replace those in `previous`. If the result
 * exceeds the maximum, the first entries in `previous` are dropped. Pods that rely on a dropped entry must pull the
 * image again, which takes time but does not expose the image.
 */
function mergeSorted<T extends Account | Secret>(previous: readonly T[], added: readonly T[]): T[] {
  const unreplacedEntries = previous.filter((each) => !added.some((newer) => isSameAccount(each, newer)));
  const droppedCount = Math.max(0, unreplacedEntries.length + added.length - MAX_SECRETS);
  const keyOf = ({ namespace, name, uid }: T) => `${namespace}/${name}/${uid}`;
  return [...unreplacedEntries.slice(droppedCount), ...added].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** Returns the hash of a credential as the kubelet computes it for its records. */
export function credentialHash({ username, password, email = '' }: Credential): string {
  const entries = Object.entries({ username, password, email }).filter(([, value]) => value !== '');
  return createHash('sha256')
    .update(toGoJson(Object.fromEntries(entries)))
    .digest('hex');
}

const toGoJsonLine = (value: object): string => `${toGoJson(value)}\n`;

/** Formats JSON like Go, which escapes characters that are special in HTML. */
const toGoJson = (value: object): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
