/**
 * Tracks the pods in the API server's responses to status patches, and later versions of these pods from the watch. A
 * status that another client has edited is sent again if the node owns the edited part, e.g. when a controller has
 * marked the pods of an unreachable node unready.
 */
import * as z from 'zod/mini';
import { retainKeys } from '../../../base/values/retainKeys.ts';
import type { KubeObject } from '../../../kubeclient/reflector.ts';
import { mergedStatus } from '../../../kubernetes/status/mergedStatus.ts';
import { statusPatch } from '../../../kubernetes/status/statusPatch.ts';
import type { StatusReport } from '../../status/statusReports.ts';

const podSchema = z.looseObject({
  metadata: z.looseObject({ uid: z.string(), resourceVersion: z.optional(z.string()) }),
  status: z._default(z.record(z.string(), z.unknown()), {}),
});

type ServerPod = z.infer<typeof podSchema>;

interface StatusResponse {
  /** UID of the pod on the node. A mirror pod's UID differs from it. */
  readonly uid: string;
  /** The pod in the server's response, or an unedited later version from the watch. */
  readonly response: ServerPod;
  /** Whether another client has edited the status since the response. */
  readonly wasEdited: boolean;
}

export class StatusResponses {
  /** Keyed by the UID on the server. */
  readonly #responses = new Map<string, StatusResponse>();

  /** Records the server's response to the status of the pod with this UID on the node. */
  record(uid: string, response: ServerPod): void {
    this.#responses.set(response.metadata.uid, { uid, response, wasEdited: false });
  }

  /** Returns the UIDs of the pods whose status on the server differs from the status that was sent. */
  findEdited(objects: readonly KubeObject[]): readonly string[] {
    const editedUids: string[] = [];
    let trackedCount = 0;
    for (const object of objects) {
      const lastResponse = this.#responses.get(object.metadata.uid);
      if (lastResponse === undefined) continue;
      trackedCount += 1;
      // Every watch event leads to a call with all of the node's pods, so skip the unchanged ones.
      if (isLaterVersion(object, lastResponse.response) && this.#isNewlyEdited(object, lastResponse))
        editedUids.push(lastResponse.uid);
    }
    if (trackedCount < this.#responses.size)
      retainKeys(this.#responses, new Set(objects.map(({ metadata: { uid } }) => uid)));
    return editedUids;
  }

  #isNewlyEdited(object: KubeObject, last: StatusResponse): boolean {
    const pod = podSchema.safeParse(object).data;
    if (pod === undefined) return false;
    const isStatusEdited = hasEditedStatus(pod, last.response);
    this.#responses.set(pod.metadata.uid, {
      ...last,
      wasEdited: isStatusEdited,
      ...(isStatusEdited ? {} : { response: pod }),
    });
    return isStatusEdited && !last.wasEdited;
  }

  /** Returns the newer version of the pod, either from the last response or from the watch. */
  latestVersion(uid: string, watched: KubeObject | undefined): unknown {
    const response = this.#responses.get(uid)?.response;
    if (response !== undefined && (watched === undefined || !isLaterVersion(watched, response))) return response;
    return z.safeParse(podSchema, watched).data ?? response;
  }

  /** Whether the server has acknowledged a status of the pod and no other client has edited that status since. */
  hasUnedited({ uid, isStatic }: Pick<StatusReport, 'uid' | 'isStatic'>): boolean {
    const ownResponse = this.#responses.get(uid);
    // Search all responses, because a mirror pod's UID differs from the UID of its static pod.
    const responses = isStatic === false && ownResponse ? [ownResponse] : [...this.#responses.values()];
    return responses.some((each) => each.uid === uid && !each.wasEdited);
  }
}

/**
 * Whether the watched version is later than the version in the response. It may also be the same or an earlier one,
 * because the watch event of a change may arrive before the response.
 */
const isLaterVersion = (
  { metadata: { resourceVersion: watchedVersion } }: Pick<KubeObject, 'metadata'>,
  { metadata: { resourceVersion: responseVersion } }: ServerPod,
) => Number(watchedVersion) > Number(responseVersion);

/** Whether the status differs in a part that the node owns. Ignores fields that the server has never stored. */
const hasEditedStatus = (watched: ServerPod, response: ServerPod): boolean =>
  statusPatch(watched.status, mergedStatus(watched.status, response.status)) !== undefined;
