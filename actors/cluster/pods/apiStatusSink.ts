/** The API server as a sink of statuses: a pod's status is patched, and what has ended on its account is deleted (C12). */
import * as z from 'zod/mini';
import { parseResponse } from '../../../kubeclient/answer.ts';
import type { CallOptions, KubeClient } from '../../../kubeclient/client.ts';
import { isConflict, isForbidden, isInvalid, isNotFound } from '../../../kubeclient/kubeError.ts';
import { POD, podPath } from '../../../kubeclient/paths.ts';
import type { PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { mirroredHash } from '../../../kubernetes/mirror.ts';
import { mergedStatus } from '../../../kubernetes/status/mergedStatus.ts';
import { type StatusJson, statusPatch } from '../../../kubernetes/status/statusPatch.ts';
import type { StatusReport, StatusSink } from '../../status/statusReports.ts';
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

interface Patching extends CallOptions {
  /** Undefined: it has all of it. */
  readonly change: StatusJson | undefined;
  /** Only this version of the pod is changed: another is a conflict. */
  readonly ifVersion?: string | undefined;
}

/** By this name statuses are put at the API server. */
export const API_SINK = 'api';

export class ApiStatusSink implements StatusSink {
  readonly name = API_SINK;
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
    if (report.isStatic ? !this.#cache.isMirrored(report) : this.#cache.hasLeft(report.uid))
      return this.#forget(report);
    if (!this.#uncertain.has(report.uid) && this.#cache.told.hasIt(report)) return;
    const told = await this.#tell(report, options);
    const isMirror = told?.metadata.uid !== report.uid;
    if (told !== undefined && report.ended && !isMirror && told.metadata.deletionTimestamp !== undefined)
      await this.#delete(report, report.uid, options);
    if (told !== undefined) this.#cache.told.note(report, told);
    this.#forget(report);
  }

  /** Nothing of it is uncertain any more. */
  #forget({ uid }: StatusReport): void {
    this.#uncertain.delete(uid);
  }

  /** The pod as the server has it then; undefined: it has none, or another of that name. */
  async #tell(report: StatusReport, options: CallOptions): Promise<SeenPod | undefined> {
    const known = this.#known(report);
    const change = known && patchOf(known, report);
    const told = known && (await this.#tellKnown(known, report, { ...options, change }));
    if (told !== undefined) return told.pod;
    const pod = await this.#get(report, options);
    if (pod === undefined || !shows(pod, report)) return undefined;
    return await this.#write(pod, report, { ...options, change: patchOf(pod, report) });
  }

  /**
   * It is told of the very version that is known: others may write too, and how they say that a pod has come out is not to
   * be taken back, nor may what they write of the rest stay unnoticed in the answer. Undefined: the server has another
   * version by now.
   */
  async #tellKnown(
    known: SeenPod,
    report: StatusReport,
    how: Patching,
  ): Promise<{ readonly pod: SeenPod | undefined } | undefined> {
    if (how.change === undefined) return { pod: await this.#write(known, report, how) };
    const ifVersion = known.metadata.resourceVersion;
    if (ifVersion === undefined) return undefined;
    try {
      return { pod: await this.#write(known, report, { ...how, ifVersion }) };
    } catch (error) {
      if (!isConflict(error)) throw error;
      return undefined;
    }
  }

  /**
   * The pod as the server is known to have it: while the watch is heard that is the last answer, or what came after it. Of
   * one that has ended, or is being deleted, only the server itself says how far that has come.
   */
  #known(report: StatusReport): SeenPod | undefined {
    if (report.ended || this.#uncertain.has(report.uid)) return undefined;
    const { data } = z.safeParse(podSchema, this.#cache.lastSeen(report));
    return data?.metadata.deletionTimestamp === undefined ? data : undefined;
  }

  #get(report: StatusReport, options: CallOptions): Promise<SeenPod | undefined> {
    const path = podPath(report);
    return this.#orGone(report, async () =>
      readPod(await this.#client.get(path, { ...options, type: POD }), `GET ${path}`),
    );
  }

  /**
   * A static pod may begin anew under its UID, which no pod of a server can: its mirror still says how it has ended, and goes.
   * The next one says how it is.
   */
  async #write(pod: SeenPod, report: StatusReport, how: Patching): Promise<SeenPod | undefined> {
    const { uid } = pod.metadata;
    if (uid === report.uid) return await this.#patch(pod, report, how);
    try {
      const beginsAnew = isTerminal(pod.status.phase) && !isTerminal(report.status.phase);
      if (!beginsAnew) return await this.#patch(pod, report, how);
    } catch (error) {
      if (!isInvalid(error)) throw error;
    }
    await this.#delete(report, uid, how);
    return undefined;
  }

  async #patch(
    pod: SeenPod,
    report: StatusReport,
    { change, ifVersion, ...options }: Patching,
  ): Promise<SeenPod | undefined> {
    if (change === undefined) return pod;
    const version = ifVersion === undefined ? {} : { resourceVersion: ifVersion };
    const body = { metadata: { uid: pod.metadata.uid, ...version }, status: change };
    // Until there is an answer nobody knows what the server has made of it.
    this.#uncertain.add(report.uid);
    const path = `${podPath(report)}/status`;
    return await this.#orGone(report, async () =>
      readPod(await this.#client.patch(path, body, { ...options, type: POD }), `PATCH ${path}`),
    );
  }

  async #delete(report: StatusReport, uid: string, options: CallOptions): Promise<void> {
    const how = { gracePeriodSeconds: 0, preconditions: { uid } };
    try {
      await this.#orGone(report, () => this.#client.delete(podPath(report), how, options));
    } catch (error) {
      // Another pod has its name by now.
      if (!isConflict(error)) throw error;
    }
  }

  /** Undefined: the server has it no more. */
  async #orGone<T>(report: StatusReport, call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      // One that the server has not told the end of is looked for again.
      if (isNotFound(error) && !this.#cache.has(report)) return undefined;
      // Of a pod that is not there any more a node must not ask.
      if (isForbidden(error) && this.#cache.isGone(report)) return undefined;
      throw error;
    }
  }
}

const readPod = (answer: unknown, asked: string): SeenPod =>
  parseResponse(podSchema, answer, { request: asked, expected: 'a Pod' });

const isTerminal = (phase: unknown): boolean => phase === 'Succeeded' || phase === 'Failed';

const patchOf = (pod: SeenPod, { status }: StatusReport): StatusJson | undefined =>
  statusPatch(pod.status, mergedStatus(pod.status, jsonOf(status)));

/** Whether the server's pod is this one, or its mirror: which somebody may only have marked as such. */
const shows = ({ metadata: { uid, annotations } }: SeenPod, report: StatusReport): boolean =>
  uid === report.uid || (report.isStatic !== false && mirroredHash(annotations) === report.uid);

const jsonOf = (status: PodStatus): Record<string, unknown> => JSON.parse(JSON.stringify(status));
