/**
 * What a node writes down of its pulls: that it is about to pull an image (`ImagePullIntent`), and with whose credentials
 * it has pulled one (`ImagePulledRecord`). In the words of a kubelet, which may go on with them.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { lookUp } from '../../base/lookUp.ts';
import { parsedJson } from '../../base/parsedJson.ts';
import type { Credential } from './keyring.ts';

const text = z.string();
const account = z.strictObject({ uid: text, namespace: text, name: text });
const secret = z.strictObject({ uid: text, namespace: text, name: text, credentialHash: text });
const credentials = z.strictObject({
  kubernetesSecrets: z.exactOptional(z.array(secret)),
  kubernetesServiceAccounts: z.exactOptional(z.array(account)),
  nodePodsAccessible: z.exactOptional(z.boolean()),
});
const apiVersion = z.enum(['kubelet.config.k8s.io/v1beta1', 'kubelet.config.k8s.io/v1alpha1']);
const intent = z.strictObject({ kind: z.literal('ImagePullIntent'), apiVersion, image: text });
/** What is not known in it could be a condition: such a record proves nothing. */
const record = z.strictObject({
  kind: z.literal('ImagePulledRecord'),
  apiVersion,
  lastUpdatedTime: z.nullable(text),
  imageRef: text,
  credentialMapping: z.exactOptional(z.nullable(z.record(text, credentials))),
});

type Account = z.output<typeof account>;
type Secret = z.output<typeof secret>;
/** With whose credentials an image was pulled; `nodePodsAccessible`: with none, or with the node's own. */
export type PullCredentials = z.output<typeof credentials>;

export interface PulledRecord {
  /** As the runtime knows the image. */
  readonly imageRef: string;
  /** By the image's name without tag and digest, as specs have it. */
  readonly pulledWith: Readonly<Record<string, PullCredentials>>;
}

/** The name of the file that has it. */
export const recordFile = (name: string): string => `sha256-${createHash('sha256').update(name).digest('hex')}`;

const HEAD = { apiVersion: 'kubelet.config.k8s.io/v1beta1' };

export const intentText = (image: string): string => goLine({ kind: 'ImagePullIntent', ...HEAD, image });

/** The image of an intent; undefined for what is none. */
export function readIntent(content: string): string | undefined {
  const read = z.safeParse(intent, parsedJson(content));
  return read.success ? read.data.image : undefined;
}

export function recordText({ imageRef, pulledWith }: PulledRecord, now: number): string {
  const names = Object.keys(pulledWith).sort();
  const lastUpdatedTime = `${new Date(now).toISOString().slice(0, 19)}Z`;
  const credentialMapping = Object.fromEntries(names.map((name) => [name, lookUp(pulledWith, name)]));
  return goLine({
    kind: 'ImagePulledRecord',
    ...HEAD,
    lastUpdatedTime,
    imageRef,
    ...(names.length > 0 ? { credentialMapping } : {}),
  });
}

/** Undefined for what is none. */
export function readRecord(content: string): PulledRecord | undefined {
  const read = z.safeParse(record, parsedJson(content));
  return read.success ? { imageRef: read.data.imageRef, pulledWith: read.data.credentialMapping ?? {} } : undefined;
}

/** What a pull with a credential, or without any, has proved. */
export function provedBy(credential: Credential | undefined): PullCredentials {
  const source = credential?.source;
  if (credential === undefined || source === undefined) return { nodePodsAccessible: true };
  const { kind, uid, namespace, name } = source;
  return kind === 'secret'
    ? { kubernetesSecrets: [{ uid, namespace, name, credentialHash: credentialHash(credential) }] }
    : { kubernetesServiceAccounts: [{ uid, namespace, name }] };
}

/**
 * Reports whether a pod's credentials prove its right to an image that was pulled with `known` (`MustAttemptImagePull` in
 * `pkg/kubelet/images/pullmanager/image_pull_manager.go`). Undefined if they do not. A match is the same credential in any
 * Secret, the same Secret with a changed credential, or the same service account. `learned` is a Secret to add to the record.
 */
export function provenBy(
  known: PullCredentials,
  pods: readonly Credential[],
): { readonly learned: PullCredentials | undefined } | undefined {
  const { kubernetesSecrets: secrets = [], kubernetesServiceAccounts: accounts = [] } = known;
  const isFull = secrets.length >= MAX_SECRETS;
  for (const credential of pods) {
    const { kubernetesSecrets: [mine] = [] } = provedBy(credential);
    if (mine === undefined) continue;
    const withSameHash = secrets.filter(({ credentialHash }) => credentialHash === mine.credentialHash);
    const learned = isFull ? undefined : { kubernetesSecrets: [mine] };
    if (withSameHash.length > 0) {
      return { learned: withSameHash.some((each) => isSame(each, mine)) ? undefined : learned };
    }
    // A full record cannot take the changed credential, so like the kubelet, require a pull.
    if (!isFull && secrets.some((each) => isSame(each, mine))) return { learned };
  }
  const mine = pods.find(({ source }) => source?.kind === 'serviceAccount')?.source;
  return mine && accounts.some((each) => isSame(each, mine)) ? { learned: undefined } : undefined;
}

/**
 * Maximum number of Secrets, and of service accounts, in a record, so that short-lived namespaces do not let it grow
 * without bound. A kubelet applies the limit only to Secrets that it learns without a pull (`writeRecordWhileMatchingLimit`).
 */
const MAX_SECRETS = 100;

const isSame = (a: Account, b: Account): boolean => a.uid === b.uid && a.namespace === b.namespace && a.name === b.name;

/** What is known after a pull; the same object where it was known before. What any pod may use stays so. */
export function withProof(known: PulledRecord, name: string, proved: PullCredentials): PulledRecord {
  const before = lookUp(known.pulledWith, name);
  const after = before === undefined ? proved : merged(before, proved);
  return after === before ? known : { ...known, pulledWith: { ...known.pulledWith, [name]: after } };
}

function merged(before: PullCredentials, proved: PullCredentials): PullCredentials {
  if (before.nodePodsAccessible) return before;
  if (proved.nodePodsAccessible) return { nodePodsAccessible: true };
  const secrets = inOrder(before.kubernetesSecrets ?? [], proved.kubernetesSecrets ?? []);
  const accounts = inOrder(before.kubernetesServiceAccounts ?? [], proved.kubernetesServiceAccounts ?? []);
  const after = {
    ...(secrets.length > 0 ? { kubernetesSecrets: secrets } : {}),
    ...(accounts.length > 0 ? { kubernetesServiceAccounts: accounts } : {}),
  };
  return JSON.stringify(after) === JSON.stringify(before) ? before : after;
}

/**
 * Merges two lists, sorted and with one entry for each object, in which `proved` replaces older entries. Beyond the
 * maximum, older entries are dropped: their pods have to pull again, which costs time but reveals nothing.
 */
function inOrder<T extends Account | Secret>(before: readonly T[], proved: readonly T[]): T[] {
  const others = before.filter((each) => !proved.some((one) => isSame(each, one)));
  const dropped = Math.max(0, others.length + proved.length - MAX_SECRETS);
  const keyOf = ({ namespace, name, uid }: T) => `${namespace}/${name}/${uid}`;
  return [...others.slice(dropped), ...proved].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** The kubelet's hash of a credential, as its records have it. */
export function credentialHash({ username, password, email = '' }: Credential): string {
  const entries = Object.entries({ username, password, email }).filter(([, value]) => value !== '');
  return createHash('sha256')
    .update(goJson(Object.fromEntries(entries)))
    .digest('hex');
}

const goLine = (value: object): string => `${goJson(value)}\n`;

/** JSON as Go writes it: without what means something in HTML. */
const goJson = (value: object): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
