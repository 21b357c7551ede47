import * as z from 'zod/mini';
import { NodeFailure } from '../../../base/failure.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { NodeSummary, PodPaths } from '../../../socket/agent.ts';

/** Validates the fields that a table needs. Other fields are passed through. */
export const podSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string(), uid: z.string() }),
  spec: z.looseObject({ containers: z.array(z.looseObject({ name: z.string() })) }),
});

const listSchema = z.looseObject({ items: z.array(podSchema) });

const watchEventSchema = z.looseObject({
  type: z.enum(['ADDED', 'MODIFIED', 'DELETED', 'ERROR']),
  object: z.unknown(),
});

const statusSchema = z.looseObject({ message: z.string() });

/** Parses a PodList from the agent. */
export function readPodList(response: unknown): Pod[] {
  // Safe cast, because the agent serialized the other fields from this type.
  return listSchema.parse(response).items as unknown as Pod[];
}

/** Parses a line of a watch. Throws a `NodeFailure` for an ERROR event, which ends the watch. */
export function readWatchLine(line: unknown): { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: unknown } {
  const { type, object } = watchEventSchema.parse(line);
  if (type === 'ERROR') throw new NodeFailure('Expired', statusSchema.parse(object).message);
  return { type, object };
}

/** Parses a watch event of a pod. */
export function readWatchEvent(line: unknown): { type: 'ADDED' | 'MODIFIED' | 'DELETED'; pod: Pod } {
  const { type, object } = readWatchLine(line);
  // Safe cast, as in `readPodList`.
  return { type, pod: podSchema.parse(object) as unknown as Pod };
}

const podPathsSchema = z.looseObject({
  pod: podSchema,
  podLogs: z.string(),
  logs: z.string(),
  manifest: z.optional(z.string()),
});

/** Parses the current state of a pod and the paths of its logs and manifest. */
export function readPodPaths(response: unknown): PodPaths & { readonly pod: Pod } {
  // Safe cast, as in `readPodList`.
  return podPathsSchema.parse(response) as unknown as PodPaths & { pod: Pod };
}

const problemSchema = z.looseObject({
  file: z.string(),
  path: z.string(),
  message: z.string(),
  pod: z.optional(z.string()),
  until: z.optional(z.string()),
});

const nodeSchema = z.looseObject({
  name: z.string(),
  simulated: z.boolean(),
  problems: z.array(problemSchema),
  warnings: z.array(problemSchema),
});

/** Parses the fields of the node that a list of pods needs, including the problems and warnings of manifests. */
export function readNode(response: unknown): Pick<NodeSummary, 'name' | 'simulated' | 'problems' | 'warnings'> {
  const { name, simulated, problems, warnings } = nodeSchema.parse(response);
  // Safe casts, because zod omits missing optional fields instead of setting them to undefined.
  return {
    name,
    simulated,
    problems: problems as NodeSummary['problems'],
    warnings: warnings as NodeSummary['warnings'],
  };
}
