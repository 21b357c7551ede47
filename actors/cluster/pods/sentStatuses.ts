/**
 * Tracks the statuses that were sent to the API server and later versions from the server. A status that another client
 * has edited is sent again if the node owns the edited part, e.g. when a controller has marked the pods of an
 * unreachable node unready.
 */
import * as z from 'zod/mini';
import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
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

interface SentStatus {
  readonly report: StatusReport;
  /** The pod in the server's response. */
  readonly response: ServerPod;
  /** Whether another client has edited the status since the response. */
  readonly wasEdited: boolean;
}

export class SentStatuses {
  /** Keyed by the UID at the server. A mirror pod's UID differs from the UID of its static pod. */
  readonly #sentStatuses = new Map<string, SentStatus>();

  record(report: StatusReport, response: ServerPod): void {
    this.#sentStatuses.set(response.metadata.uid, { report, response, wasEdited: false });
  }

  /** Returns the UIDs of the pods whose status at the server differs from the sent one. */
  findEdited(objects: readonly KubeObject[]): readonly string[] {
    const editedUids: string[] = [];
    let trackedCount = 0;
    for (const object of objects) {
      const sentStatus = this.#sentStatuses.get(object.metadata.uid);
      if (sentStatus === undefined) continue;
      trackedCount += 1;
      // Every event of the watch passes all objects, so skip the unchanged ones.
      if (isLaterVersion(object, sentStatus.response) && this.#isNewlyEdited(object, sentStatus))
        editedUids.push(sentStatus.report.uid);
    }
    if (trackedCount < this.#sentStatuses.size)
      retainKeys(this.#sentStatuses, new Set(objects.map(({ metadata: { uid } }) => uid)));
    return editedUids;
  }

  #isNewlyEdited(object: KubeObject, sent: SentStatus): boolean {
    const pod = podSchema.safeParse(object).data;
    if (pod === undefined) return false;
    const isStatusEdited = hasEditedStatus(pod, sent.response);
    this.#sentStatuses.set(pod.metadata.uid, {
      ...sent,
      wasEdited: isStatusEdited,
      ...(isStatusEdited ? {} : { response: pod }),
    });
    return isStatusEdited && !sent.wasEdited;
  }

  /** Returns the newer of the last response and the last version from the watch. */
  latestVersion(uid: string, watched: KubeObject | undefined): unknown {
    const response = this.#sentStatuses.get(uid)?.response;
    if (response !== undefined && (watched === undefined || !isLaterVersion(watched, response))) return response;
    return z.safeParse(podSchema, watched).data ?? response;
  }

  /** Whether this report was the last one sent for the pod and has not been edited since. */
  isCurrent(report: StatusReport): boolean {
    const sentStatus = this.#sentStatuses.get(report.uid);
    // Search all statuses, because a mirror pod's UID differs from the UID of its static pod.
    const statuses = report.isStatic === false && sentStatus ? [sentStatus] : [...this.#sentStatuses.values()];
    return statuses.some(
      (each) => each.report.uid === report.uid && !each.wasEdited && isJsonEqual(each.report, report),
    );
  }
}

/**
 * Whether the watched version is later than the response, which may arrive after the watch event of the same change.
 */
const isLaterVersion = (
  { metadata: { resourceVersion: watchedVersion } }: Pick<KubeObject, 'metadata'>,
  { metadata: { resourceVersion: responseVersion } }: ServerPod,
) => Number(watchedVersion) > Number(responseVersion);

/** Whether the status differs in a part that the node owns. Ignores fields that the server has never stored. */
const hasEditedStatus = (watched: ServerPod, response: ServerPod): boolean =>
  statusPatch(watched.status, mergedStatus(watched.status, response.status)) !== undefined;
