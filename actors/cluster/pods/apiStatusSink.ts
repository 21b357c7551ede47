/**
 * Sends statuses to the API server. Patches the status of a pod, and deletes a pod that has terminated because of its
 * deletion (C12).
 */
import * as z from 'zod/mini';
import { parseResponse } from '../../../kubeclient/answer.ts';
import type { CallOptions, KubeClient } from '../../../kubeclient/client.ts';
import { isConflict, isForbidden, isInvalidObjectError, isNotFound } from '../../../kubeclient/kubeError.ts';
import { POD, podPath } from '../../../kubeclient/paths.ts';
import type { PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { mirroredHash } from '../../../kubernetes/mirror.ts';
import { mergedStatus } from '../../../kubernetes/status/mergedStatus.ts';
import { type StatusJson, statusPatch } from '../../../kubernetes/status/statusPatch.ts';
import type { StatusPutOptions, StatusReport, StatusSink } from '../../status/statusReports.ts';
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

type ServerPod = z.infer<typeof podSchema>;

interface PatchOptions extends CallOptions {
  /** Undefined if the server already has the reported status. */
  readonly statusPatch: StatusJson | undefined;
  /** The resource version to patch. If the server has a different one, the patch fails with a conflict. */
  readonly ifVersion?: string | undefined;
}

/** Name of the sink that sends statuses to the API server. */
export const API_SINK = 'api';

export class ApiStatusSink implements StatusSink {
  readonly name = API_SINK;
  readonly mustAcknowledge = true;
  /** Non-urgent statuses are delayed by the interval at which the kubelet inspects its containers. */
  readonly patienceMs = 1_000;
  readonly #client: KubeClient;
  readonly #cache: PodCache;
  /** UIDs of pods whose last status patch has an unknown outcome. */
  readonly #uncertainUids = new Set<string>();

  constructor(client: KubeClient, cache: PodCache) {
    this.#client = client;
    this.#cache = cache;
  }

  /**
   * Sends the status of a pod, unless the server no longer has the pod or has a different pod of that name. The status
   * of a static pod is sent once its mirror pod exists.
   */
  async put(report: StatusReport, { isAcknowledged, ...options }: StatusPutOptions): Promise<void> {
    if (report.isStatic ? !this.#cache.isMirrored(report) : this.#cache.wasRemoved(report.uid))
      return this.#forgetPod(report);
    if (isAcknowledged && !this.#uncertainUids.has(report.uid) && this.#cache.statusResponses.hasUnedited(report))
      return;
    const pod = await this.#sendStatus(report, options);
    const isMirror = pod?.metadata.uid !== report.uid;
    if (pod !== undefined && report.ended && !isMirror && pod.metadata.deletionTimestamp !== undefined)
      await this.#deletePod(report, report.uid, options);
    if (pod !== undefined) this.#cache.statusResponses.record(report.uid, pod);
    this.#forgetPod(report);
  }

  #forgetPod({ uid }: StatusReport): void {
    this.#uncertainUids.delete(uid);
  }

  /**
   * Patches the status and returns the resulting pod. Returns undefined if the server has no pod of that name, or a
   * different pod.
   */
  async #sendStatus(report: StatusReport, options: CallOptions): Promise<ServerPod | undefined> {
    const cachedPod = this.#cachedPod(report);
    const statusPatch = cachedPod && createPatch(cachedPod, report);
    const patchedPod = cachedPod && (await this.#patchCached(cachedPod, report, { ...options, statusPatch }));
    if (patchedPod !== undefined) return patchedPod.pod;
    const pod = await this.#getPod(report, options);
    if (pod === undefined || !isPodOfReport(pod, report)) return undefined;
    return await this.#patchPod(pod, report, { ...options, statusPatch: createPatch(pod, report) });
  }

  /**
   * Patches the status only if the server still has the cached version. This avoids overwriting a terminal phase that
   * another client has written, and detects other edits. Returns undefined if the server has a newer version.
   */
  async #patchCached(
    cachedPod: ServerPod,
    report: StatusReport,
    options: PatchOptions,
  ): Promise<{ readonly pod: ServerPod | undefined } | undefined> {
    if (options.statusPatch === undefined) return { pod: await this.#patchPod(cachedPod, report, options) };
    const ifVersion = cachedPod.metadata.resourceVersion;
    if (ifVersion === undefined) return undefined;
    try {
      return { pod: await this.#patchPod(cachedPod, report, { ...options, ifVersion }) };
    } catch (error) {
      if (!isConflict(error)) throw error;
      return undefined;
    }
  }

  /**
   * Returns the cached pod. While the watch is connected, this is the pod in the server's last response or a newer
   * version. Returns undefined for terminated pods, for pods being deleted and after a patch with an unknown outcome,
   * so that the pod is read from the server instead.
   */
  #cachedPod(report: StatusReport): ServerPod | undefined {
    if (report.ended || this.#uncertainUids.has(report.uid)) return undefined;
    const { data } = z.safeParse(podSchema, this.#cache.latestVersion(report));
    return data?.metadata.deletionTimestamp === undefined ? data : undefined;
  }

  #getPod(report: StatusReport, options: CallOptions): Promise<ServerPod | undefined> {
    const path = podPath(report);
    return this.#undefinedIfGone(report, async () =>
      readPod(await this.#client.get(path, { ...options, type: POD }), `GET ${path}`),
    );
  }

  /**
   * Patches the pod. A static pod, unlike a pod from the API server, may restart with the same UID. Because the
   * terminal phase of its mirror pod cannot be reverted, the mirror pod is then deleted and recreated.
   */
  async #patchPod(pod: ServerPod, report: StatusReport, options: PatchOptions): Promise<ServerPod | undefined> {
    const { uid } = pod.metadata;
    if (uid === report.uid) return await this.#patch(pod, report, options);
    try {
      const isRestart = isTerminal(pod.status.phase) && !isTerminal(report.status.phase);
      if (!isRestart) return await this.#patch(pod, report, options);
    } catch (error) {
      if (!isInvalidObjectError(error)) throw error;
    }
    await this.#deletePod(report, uid, options);
    return undefined;
  }

  async #patch(
    pod: ServerPod,
    report: StatusReport,
    { statusPatch, ifVersion, ...options }: PatchOptions,
  ): Promise<ServerPod | undefined> {
    if (statusPatch === undefined) return pod;
    const versionPrecondition = ifVersion === undefined ? {} : { resourceVersion: ifVersion };
    const body = { metadata: { uid: pod.metadata.uid, ...versionPrecondition }, status: statusPatch };
    // The outcome is unknown until the response arrives, so the cached pod must not be used until then.
    this.#uncertainUids.add(report.uid);
    const path = `${podPath(report)}/status`;
    return await this.#undefinedIfGone(report, async () =>
      readPod(await this.#client.patch(path, body, { ...options, type: POD }), `PATCH ${path}`),
    );
  }

  async #deletePod(report: StatusReport, uid: string, options: CallOptions): Promise<void> {
    const deleteOptions = { gracePeriodSeconds: 0, preconditions: { uid } };
    try {
      await this.#undefinedIfGone(report, () => this.#client.delete(podPath(report), deleteOptions, options));
    } catch (error) {
      // Ignore a conflict, because it means that the pod is gone and a different one has its name.
      if (!isConflict(error)) throw error;
    }
  }

  /** Returns the result of `call`, or undefined if the server no longer has the pod. */
  async #undefinedIfGone<T>(report: StatusReport, call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      // While the watch still lists the pod, the error is thrown so that the call is retried.
      if (isNotFound(error) && !this.#cache.has(report)) return undefined;
      // A forbidden request also means that the pod is gone, because the server forbids a node to access pods that no
      // longer exist.
      if (isForbidden(error) && this.#cache.isGone(report)) return undefined;
      throw error;
    }
  }
}

const readPod = (response: unknown, request: string): ServerPod =>
  parseResponse(podSchema, response, { request, expected: 'a Pod' });

const isTerminal = (phase: unknown): boolean => phase === 'Succeeded' || phase === 'Failed';

const createPatch = (pod: ServerPod, { status }: StatusReport): StatusJson | undefined =>
  statusPatch(pod.status, mergedStatus(pod.status, toPlainJson(status)));

/**
 * Whether the server's pod is the reported pod or its mirror pod. The mirror annotation alone does not prove that the
 * pod is a mirror pod.
 */
const isPodOfReport = ({ metadata: { uid, annotations } }: ServerPod, report: StatusReport): boolean =>
  uid === report.uid || (report.isStatic !== false && mirroredHash(annotations) === report.uid);

const toPlainJson = (status: PodStatus): Record<string, unknown> => JSON.parse(JSON.stringify(status));
