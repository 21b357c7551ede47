import * as z from 'zod/mini';
import type { PodExtras } from '../pod/show/describe/pod.ts';

const logShape = z.looseObject({ file: z.string(), lines: z.array(z.string()) });
const actorShape = z.looseObject({ name: z.string(), log: z.optional(logShape) });
const sentences = z.optional(z.array(z.string()));
const explanationShape = z.looseObject({
  pod: z.looseObject({ children: z.array(actorShape) }),
  manifestProblems: sentences,
  manifestWarnings: sentences,
});

/** What a pod's explanation has that its object has not: how the logs of its failed containers end, and its manifest. */
export function readPodExtras(answer: unknown): PodExtras {
  const { pod, manifestProblems, manifestWarnings } = explanationShape.parse(answer);
  const logs = new Map(pod.children.flatMap(({ name, log }) => (log ? [[name, log] as const] : [])));
  return { logs, manifestProblems, manifestWarnings };
}
