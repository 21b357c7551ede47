/** Gathers the files that a volume shows, of its pod and of what its pod gets of a cluster. */

import { messageOf, NodeFailure } from '../base/failure.ts';
import { containersOf } from '../kubernetes/api/containers.ts';
import type { Pod } from '../kubernetes/api/schema/pod.ts';
import {
  cleanFiles,
  downwardFiles,
  modeOf,
  type ObjectProjection,
  objectFiles,
  type ProjectedFile,
  type Projection,
  projectionsOf,
  refuseUnlessOptional,
} from '../kubernetes/environment/projection.ts';
import type { MountedPath } from '../kubernetes/mountedVolume.ts';
import type { ConfigKind, ConfigObject } from '../kubernetes/objects/configObject.ts';
import { ObjectNotFound, type PodToken, type TokenRequest } from '../kubernetes/objects/podObjects.ts';
import type { VolumeMount } from './plugin.ts';

/** What goes into a volume, with how its tokens get on. */
export interface Payload extends Pick<MountedPath, 'renewAt' | 'goodUntil' | 'failure'> {
  readonly files: readonly ProjectedFile[];
}

type Part = Payload | { readonly problem: string };

/** As a kubelet gives what only its own pod may read. */
const PRIVATE_FILE = 0o600;
const TOKEN_SECONDS = 3600;

/** The files of a volume, one for each path. Fails with `FailedMount`, of several parts in the words for all of them. */
export async function payloadOf(request: VolumeMount): Promise<Payload> {
  const parts = await Promise.all(projectionsOf(request.volume).map((each) => partOf(request, each)));
  request.signal.throwIfAborted();
  const problems = [...new Set(parts.flatMap((part) => ('problem' in part ? [part.problem] : [])))];
  const [problem, ...more] = problems;
  if (problem !== undefined)
    throw new NodeFailure('FailedMount', more.length > 0 ? `[${problems.join(', ')}]` : problem);
  const payloads = parts.flatMap((part) => ('problem' in part ? [] : [part]));
  return { files: cleanFiles(payloads.flatMap(({ files }) => files)), ...tokensOf(payloads) };
}

/** What comes first of all that is shown, and the last that failed. */
function tokensOf(payloads: readonly Payload[]): Omit<Payload, 'files'> {
  const renewals = payloads.flatMap(({ renewAt }) => renewAt ?? []);
  const ends = payloads.flatMap(({ goodUntil }) => goodUntil ?? []);
  const failure = payloads
    .flatMap((each) => each.failure ?? [])
    .toSorted((one, other) => one.at - other.at)
    .at(-1);
  return {
    ...(renewals.length === 0 ? {} : { renewAt: Math.min(...renewals) }),
    ...(ends.length === 0 ? {} : { goodUntil: Math.min(...ends) }),
    ...(failure === undefined ? {} : { failure }),
  };
}

async function partOf(request: VolumeMount, source: Projection): Promise<Part> {
  try {
    return await readPart(request, source);
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

async function readPart(request: VolumeMount, source: Projection): Promise<Payload> {
  const { pod, volume, allocatable, objects, tokens, trustBundles, signal } = request;
  const { downwardAPI, configMap, secret, serviceAccountToken: token, clusterTrustBundle } = source;
  const mode = modeOf(volume);
  if (downwardAPI) return { files: downwardFiles(pod, volume, { ...downwardAPI, allocatable }) };
  if (configMap && objects) return { files: await ofObject(request, 'ConfigMap', { ...configMap, mode }) };
  if (secret && objects) return { files: await ofObject(request, 'Secret', { ...secret, mode }) };
  if (token && tokens) {
    const { path, audience = '', expirationSeconds = TOKEN_SECONDS } = token;
    const asked: TokenRequest = { audience, expirationSeconds };
    return ofToken(pod, await tokens.get(pod, asked, { signal }), { path, mode });
  }
  if (clusterTrustBundle && trustBundles) {
    const text = await trustBundles.get(pod, clusterTrustBundle, { signal });
    return { files: [ownFile(pod, text, { path: clusterTrustBundle.path, mode })] };
  }
  refuseUnlessOptional(volume, source);
  return { files: [] };
}

async function ofObject(
  { pod, objects, signal }: VolumeMount,
  kind: ConfigKind,
  projection: ObjectProjection & { readonly mode: number },
): Promise<ProjectedFile[]> {
  const found: ConfigObject | undefined = await objects
    ?.get(pod, kind, projection.name ?? '', { signal })
    .catch((error) => {
      if (error instanceof ObjectNotFound && projection.optional) return undefined;
      throw error;
    });
  return objectFiles(kind, found, projection);
}

const ofToken = (pod: Pod, { token, renewAt, goodUntil, failure }: PodToken, place: Place): Payload => ({
  files: [ownFile(pod, token, place)],
  renewAt,
  ...(goodUntil === undefined ? {} : { goodUntil }),
  ...(failure === undefined ? {} : { failure }),
});

interface Place {
  readonly path: string;
  /** Where everybody in the pod may be somebody else. */
  readonly mode: number;
}

/** A file for the pod alone: where all of it is one user it is theirs, and where it has a group that may read it. */
function ownFile(pod: Pod, text: string, { path, mode }: Place): ProjectedFile {
  const owner = userOf(pod);
  const isPrivate = owner !== undefined || pod.spec.securityContext?.fsGroup !== undefined;
  return {
    path,
    data: Buffer.from(text),
    mode: isPrivate ? PRIVATE_FILE : mode,
    ...(owner === undefined ? {} : { owner }),
  };
}

/** The user of all its containers, if each names one and they are the same. */
function userOf({ spec }: Pod): number | undefined {
  const users = containersOf(spec).map(
    ({ container }) => container.securityContext?.runAsUser ?? spec.securityContext?.runAsUser,
  );
  const [first] = users;
  return users.every((user) => user === first) ? first : undefined;
}
