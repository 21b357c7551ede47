/** Collects the files of a volume from the pod and from objects of the cluster. */

import { messageOf, NodeFailure } from '../../base/failure.ts';
import { containersOf } from '../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import {
  defaultModeOf,
  downwardFiles,
  normalizeFiles,
  type ObjectProjection,
  objectFiles,
  type ProjectedFile,
  type Projection,
  projectionsOf,
  throwUnlessOptional,
} from '../../kubernetes/environment/projection.ts';
import type { MountedPath } from '../../kubernetes/mountedVolume.ts';
import type { ConfigKind, ConfigObject } from '../../kubernetes/objects/configObject.ts';
import { ObjectNotFound, type PodToken, type TokenRequest } from '../../kubernetes/objects/podObjects.ts';
import type { VolumeMount } from './plugin.ts';

/** Files of a volume, and the renewal state of the tokens among them. */
export interface Payload extends Pick<MountedPath, 'renewAt' | 'goodUntil' | 'failure'> {
  readonly files: readonly ProjectedFile[];
}

type SourceResult = Payload | { readonly problem: string };

/** Mode of a file that only the pod's user or group may read. The kubelet sets the same mode. */
const PRIVATE_FILE_MODE = 0o600;
const DEFAULT_TOKEN_SECONDS = 3600;

/** Returns the files of a volume. Fails with `FailedMount`, whose message contains the problems of all sources. */
export async function collectPayload(request: VolumeMount): Promise<Payload> {
  const sourceResults = await Promise.all(
    projectionsOf(request.volume).map((projection) => tryReadSource(request, projection)),
  );
  request.signal.throwIfAborted();
  const problems = [...new Set(sourceResults.flatMap((result) => ('problem' in result ? [result.problem] : [])))];
  const [problem, ...otherProblems] = problems;
  if (problem !== undefined)
    throw new NodeFailure('FailedMount', otherProblems.length > 0 ? `[${problems.join(', ')}]` : problem);
  const payloads = sourceResults.flatMap((result) => ('problem' in result ? [] : [result]));
  return { files: normalizeFiles(payloads.flatMap(({ files }) => files)), ...summarizeTokens(payloads) };
}

/** Returns the earliest renewal and expiry times of the tokens, and the latest failure. */
function summarizeTokens(payloads: readonly Payload[]): Omit<Payload, 'files'> {
  const renewalTimes = payloads.flatMap(({ renewAt }) => renewAt ?? []);
  const expiryTimes = payloads.flatMap(({ goodUntil }) => goodUntil ?? []);
  const failure = payloads
    .flatMap((payload) => payload.failure ?? [])
    .toSorted((a, b) => a.at - b.at)
    .at(-1);
  return {
    ...(renewalTimes.length === 0 ? {} : { renewAt: Math.min(...renewalTimes) }),
    ...(expiryTimes.length === 0 ? {} : { goodUntil: Math.min(...expiryTimes) }),
    ...(failure === undefined ? {} : { failure }),
  };
}

async function tryReadSource(request: VolumeMount, source: Projection): Promise<SourceResult> {
  try {
    return await readSource(request, source);
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

async function readSource(request: VolumeMount, source: Projection): Promise<Payload> {
  const { pod, volume, allocatable, objects, tokens, trustBundles, signal } = request;
  const { downwardAPI, configMap, secret, serviceAccountToken: token, clusterTrustBundle } = source;
  const mode = defaultModeOf(volume);
  if (downwardAPI) return { files: downwardFiles(pod, volume, { ...downwardAPI, allocatable }) };
  if (configMap && objects) return { files: await readObject(request, 'ConfigMap', { ...configMap, mode }) };
  if (secret && objects) return { files: await readObject(request, 'Secret', { ...secret, mode }) };
  if (token && tokens) {
    const { path, audience = '', expirationSeconds = DEFAULT_TOKEN_SECONDS } = token;
    const tokenRequest: TokenRequest = { audience, expirationSeconds };
    return tokenPayload(pod, await tokens.get(pod, tokenRequest, { signal }), { path, mode });
  }
  if (clusterTrustBundle && trustBundles) {
    const trustBundle = await trustBundles.get(pod, clusterTrustBundle, { signal });
    return { files: [podFile(pod, trustBundle, { path: clusterTrustBundle.path, mode })] };
  }
  throwUnlessOptional(volume, source);
  return { files: [] };
}

async function readObject(
  { pod, objects, signal }: VolumeMount,
  kind: ConfigKind,
  projection: ObjectProjection & { readonly mode: number },
): Promise<ProjectedFile[]> {
  const object: ConfigObject | undefined = await objects
    ?.get(pod, kind, projection.name ?? '', { signal })
    .catch((error) => {
      if (error instanceof ObjectNotFound && projection.optional) return undefined;
      throw error;
    });
  return objectFiles(kind, object, projection);
}

const tokenPayload = (pod: Pod, { token, renewAt, goodUntil, failure }: PodToken, location: FileLocation): Payload => ({
  files: [podFile(pod, token, location)],
  renewAt,
  ...(goodUntil === undefined ? {} : { goodUntil }),
  ...(failure === undefined ? {} : { failure }),
});

interface FileLocation {
  readonly path: string;
  /** Mode of the file if access cannot be restricted to a user or group. */
  readonly mode: number;
}

/**
 * Creates a file that only the pod can read, if possible. If all containers run as the same user, the file belongs to
 * that user. If the pod has an fsGroup, that group can read the file. If neither applies, the file has the given mode.
 */
function podFile(pod: Pod, contents: string, { path, mode }: FileLocation): ProjectedFile {
  const owner = commonUser(pod);
  const isOwnerOnly = owner !== undefined || pod.spec.securityContext?.fsGroup !== undefined;
  return {
    path,
    data: Buffer.from(contents),
    mode: isOwnerOnly ? PRIVATE_FILE_MODE : mode,
    ...(owner === undefined ? {} : { owner }),
  };
}

/** Returns the user that all containers run as, or undefined if they run as different users. */
function commonUser({ spec }: Pod): number | undefined {
  const users = containersOf(spec).map(
    ({ container }) => container.securityContext?.runAsUser ?? spec.securityContext?.runAsUser,
  );
  const [first] = users;
  return users.every((user) => user === first) ? first : undefined;
}
