import * as z from 'zod/mini';
import type { LogTails } from '../pod/logTail.ts';

const logShape = z.looseObject({ file: z.string(), lines: z.array(z.string()) });
const actorShape = z.looseObject({ name: z.string(), log: z.optional(logShape) });
const explanationShape = z.looseObject({ pod: z.looseObject({ children: z.array(actorShape) }) });

/** How the logs of a pod's failed containers end, out of its explanation. */
export function readLogs(answer: unknown): LogTails {
  const { children } = explanationShape.parse(answer).pod;
  return new Map(children.flatMap(({ name, log }) => (log ? [[name, log] as const] : [])));
}
