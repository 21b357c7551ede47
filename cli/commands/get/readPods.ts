import * as z from 'zod/mini';
import { NodeFailure } from '../../../base/failure.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { NodeSummary, PodPaths } from '../../../socket/agent.ts';

/** As much of a pod as a table cannot do without; the rest is as the agent wrote it. */
export const podShape = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string(), uid: z.string() }),
  spec: z.looseObject({ containers: z.array(z.looseObject({ name: z.string() })) }),
});

const listShape = z.looseObject({ items: z.array(podShape) });

const eventShape = z.looseObject({ type: z.enum(['ADDED', 'MODIFIED', 'DELETED', 'ERROR']), object: z.unknown() });

const statusShape = z.looseObject({ message: z.string() });

/** The pods of a PodList from the agent's socket. */
export function readPodList(answer: unknown): Pod[] {
  // The agent wrote the other fields from this very type.
  return listShape.parse(answer).items as unknown as Pod[];
}

/** What a watch at the agent's socket tells; throws a `NodeFailure` with its message when that is the watch's end. */
export function readWatched(line: unknown): { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: unknown } {
  const { type, object } = eventShape.parse(line);
  if (type === 'ERROR') throw new NodeFailure('Expired', statusShape.parse(object).message);
  return { type, object };
}

/** A watch event of a pod. */
export function readWatchEvent(line: unknown): { type: 'ADDED' | 'MODIFIED' | 'DELETED'; pod: Pod } {
  const { type, object } = readWatched(line);
  // As above.
  return { type, pod: podShape.parse(object) as unknown as Pod };
}

const placesShape = z.looseObject({
  pod: podShape,
  podLogs: z.string(),
  logs: z.string(),
  manifest: z.optional(z.string()),
});

/** A pod as it is now, and where its things lie. */
export function readPlaces(answer: unknown): PodPaths & { readonly pod: Pod } {
  // As above.
  return placesShape.parse(answer) as unknown as PodPaths & { pod: Pod };
}

const problemShape = z.looseObject({
  file: z.string(),
  path: z.string(),
  message: z.string(),
  pod: z.optional(z.string()),
  until: z.optional(z.string()),
});

const nodeShape = z.looseObject({
  name: z.string(),
  simulated: z.boolean(),
  problems: z.array(problemShape),
  warnings: z.array(problemShape),
});

/** The properties of the node that a list of pods shows, and the problems and warnings of its manifests. */
export function readNode(answer: unknown): Pick<NodeSummary, 'name' | 'simulated' | 'problems' | 'warnings'> {
  const { name, simulated, problems, warnings } = nodeShape.parse(answer);
  // Safe casts: zod leaves an absent field absent.
  return {
    name,
    simulated,
    problems: problems as NodeSummary['problems'],
    warnings: warnings as NodeSummary['warnings'],
  };
}
