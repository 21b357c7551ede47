import * as z from 'zod/mini';
import type { PodExtras } from '../../../show/describe/pod.ts';
import type { LogTail } from '../../../show/logTail.ts';

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

const answerShape = z.looseObject({
  answer: z.string(),
  actor: z.optional(z.looseObject({ log: z.optional(logShape) })),
});

/** The sentence of an explanation of anything, and how the log of a container ends. */
export function readAnswer(answer: unknown): { readonly answer: string; readonly log?: LogTail } {
  const { answer: sentence, actor } = answerShape.parse(answer);
  return { answer: sentence, ...(actor?.log ? { log: actor.log } : {}) };
}
