/**
 * What the API server was told of each pod, and has had since: what others make of a status that is the node's to tell is
 * told again, as a node that was not heard of for a while comes back to pods that a controller has marked unready.
 */
import * as z from 'zod/mini';
import { retainKeys } from '../../../base/retainKeys.ts';
import { sameValue } from '../../../base/sameValue.ts';
import type { KubeObject } from '../../../kubeclient/reflector.ts';
import { mergedStatus } from '../../../kubernetes/status/mergedStatus.ts';
import { statusPatch } from '../../../kubernetes/status/statusPatch.ts';
import type { StatusReport } from '../../status/statusReports.ts';

const seenSchema = z.looseObject({
  metadata: z.looseObject({ uid: z.string(), resourceVersion: z.optional(z.string()) }),
  status: z._default(z.record(z.string(), z.unknown()), {}),
});

type SeenPod = z.infer<typeof seenSchema>;

interface Told {
  readonly report: StatusReport;
  /** What the server had then. */
  readonly answer: SeenPod;
  /** What others have made of it since. */
  readonly edited: boolean;
}

export class ToldStatuses {
  /** By the UID that the server has: a mirror's is not that of its pod. */
  readonly #told = new Map<string, Told>();

  note(report: StatusReport, answer: SeenPod): void {
    this.#told.set(answer.metadata.uid, { report, answer, edited: false });
  }

  /** Of all pods that the server has, the UIDs of those whose status is not as it was told. */
  editedIn(objects: readonly KubeObject[]): readonly string[] {
    const found: string[] = [];
    let known = 0;
    for (const object of objects) {
      const told = this.#told.get(object.metadata.uid);
      if (told === undefined) continue;
      known += 1;
      // Each change of one pod shows all: those that have not changed are not read again.
      if (isLater(object, told.answer) && this.#isNewlyEdited(object, told)) found.push(told.report.uid);
    }
    if (known < this.#told.size) retainKeys(this.#told, new Set(objects.map(({ metadata: { uid } }) => uid)));
    return found;
  }

  #isNewlyEdited(object: KubeObject, told: Told): boolean {
    const seen = seenSchema.safeParse(object).data;
    if (seen === undefined) return false;
    const edited = isEdited(seen, told.answer);
    this.#told.set(seen.metadata.uid, { ...told, edited, ...(edited ? {} : { answer: seen }) });
    return edited && !told.edited;
  }

  /** What is newer of the answer to what was told last of a pod and what was seen of it. */
  lastAnswer(uid: string, seen: KubeObject | undefined): unknown {
    const answer = this.#told.get(uid)?.answer;
    if (answer !== undefined && (seen === undefined || !isLater(seen, answer))) return answer;
    return z.safeParse(seenSchema, seen).data ?? answer;
  }

  /** Whether the server was told just this, and has it still. */
  hasIt(report: StatusReport): boolean {
    const own = this.#told.get(report.uid);
    // A mirror has another UID than its pod.
    const told = report.isStatic === false && own ? [own] : [...this.#told.values()];
    return told.some((each) => each.report.uid === report.uid && !each.edited && sameValue(each.report, report));
  }
}

/** An answer may come after what the watch tells of it. */
const isLater = (
  { metadata: { resourceVersion: seen } }: Pick<KubeObject, 'metadata'>,
  { metadata: { resourceVersion: told } }: SeenPod,
) => Number(seen) > Number(told);

/** Whether it says something else of what is for the node to say: what a server never kept it cannot have lost. */
const isEdited = (seen: SeenPod, answer: SeenPod): boolean =>
  statusPatch(seen.status, mergedStatus(seen.status, answer.status)) !== undefined;
