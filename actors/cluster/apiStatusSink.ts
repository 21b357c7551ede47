/** The API server as a sink of statuses: a pod's status is patched, and what has ended on its account is deleted (C12). */
import * as z from 'zod/mini';
import type { CallOptions, KubeClient } from '../../kube/client.ts';
import { isConflict, isForbidden, isNotFound } from '../../kube/kubeError.ts';
import { podPath } from '../../kube/paths.ts';
import type { PodStatus } from '../../pod/api/schema/status.ts';
import { mirroredHash } from '../../pod/mirror.ts';
import { mergedStatus } from '../../pod/status/mergedStatus.ts';
import { statusPatch } from '../../pod/status/statusPatch.ts';
import type { StatusReport, StatusSink } from '../status/statusReports.ts';
import type { PodCache } from './podCache.ts';

const podSchema = z.looseObject({
  metadata: z.looseObject({
    uid: z.string(),
    resourceVersion: z.optional(z.string()),
    annotations: z.optional(z.record(z.string(), z.string())),
    deletionTimestamp: z.optional(z.string()),
  }),
  status: z._default(z.record(z.string(), z.unknown()), {}),
});

type SeenPod = z.infer<typeof podSchema>;

export class ApiStatusSink implements StatusSink {
  readonly name = 'api';
  readonly mustAcknowledge = true;
  /** As often as a kubelet looks what its containers do. */
  readonly patienceMs = 1_000;
  readonly #client: KubeClient;
  readonly #cache: PodCache;
  /** The pods of which nobody knows what the server made of the last status. */
  readonly #uncertain = new Set<string>();

  constructor(client: KubeClient, cache: PodCache) {
    this.#client = client;
    this.#cache = cache;
  }

  /**
   * Of a pod that the server does not know, or under another UID, nobody wants to hear any more. A static pod is heard of
   * as soon as it has a mirror, whose status is the static pod's.
   */
  async put(report: StatusReport, options: CallOptions): Promise<void> {
    if (report.isStatic ? !this.#cache.isMirrored(report.uid) : this.#cache.hasLeft(report.uid)) return;
    if (!this.#uncertain.has(report.uid) && this.#cache.told.hasIt(report)) return;
    const path = podPath(report);
    const pod = this.#known(report) ?? (await this.#get(path, report.uid, options));
    if (pod === undefined || !shows(pod, report.uid)) return;
    this.#uncertain.add(report.uid);
    const told = await this.#patch(path, pod, report, options);
    this.#uncertain.delete(report.uid);
    const isMirror = pod.metadata.uid !== report.uid;
    if (told !== undefined && report.ended && !isMirror && told.metadata.deletionTimestamp !== undefined)
      await this.#delete(path, report.uid, options);
    if (told !== undefined) this.#cache.told.note(report, told);
  }

  /**
   * The pod as the server is known to have it: only the node writes what the patch is about, and the UID in that says of
   * which pod it is. Of one that has ended, or is being deleted, only the server itself says how far that has come.
   */
  #known({ uid, ended }: StatusReport): SeenPod | undefined {
    if (ended || this.#uncertain.has(uid)) return undefined;
    const { data } = z.safeParse(podSchema, this.#cache.lastSeen(uid));
    return data?.metadata.deletionTimestamp === undefined ? data : undefined;
  }

  #get(path: string, uid: string, options: CallOptions): Promise<SeenPod | undefined> {
    return this.#orGone(uid, async () => z.parse(podSchema, await this.#client.get(path, options)));
  }

  /** The pod as the server has it then. */
  async #patch(path: string, pod: SeenPod, { uid, status }: StatusReport, options: CallOptions) {
    const patch = statusPatch(pod.status, mergedStatus(pod.status, jsonOf(status)));
    if (patch === undefined) return pod;
    const body = { metadata: { uid: pod.metadata.uid }, status: patch };
    const patched = async () => z.parse(podSchema, await this.#client.patch(`${path}/status`, body, options));
    return await this.#orGone(uid, patched);
  }

  async #delete(path: string, uid: string, options: CallOptions): Promise<void> {
    const how = { gracePeriodSeconds: 0, preconditions: { uid } };
    try {
      await this.#orGone(uid, () => this.#client.delete(path, how, options));
    } catch (error) {
      // Another pod has its name by now.
      if (!isConflict(error)) throw error;
    }
  }

  /** Undefined: the server has it no more. */
  async #orGone<T>(uid: string, call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      if (isNotFound(error)) return undefined;
      // Of a pod that is not there any more a node must not ask.
      if (isForbidden(error) && this.#cache.isGone(uid)) return undefined;
      throw error;
    }
  }
}

/** Whether the server's pod is this one, or its mirror. */
const shows = ({ metadata: { uid, annotations } }: SeenPod, wanted: string): boolean =>
  uid === wanted || mirroredHash(annotations) === wanted;

const jsonOf = (status: PodStatus): Record<string, unknown> => JSON.parse(JSON.stringify(status));
