import * as z from 'zod/mini';
import type { PodExtras } from '../../../show/describe/pod.ts';
import type { LogTail } from '../../../show/logTail.ts';

const logSchema = z.looseObject({ file: z.string(), lines: z.array(z.string()) });
const actorSchema = z.looseObject({ name: z.string(), log: z.optional(logSchema) });
const sentencesSchema = z.optional(z.array(z.string()));
const explanationSchema = z.looseObject({
  pod: z.looseObject({ children: z.array(actorSchema) }),
  manifestProblems: sentencesSchema,
  manifestWarnings: sentencesSchema,
});

/**
 * Parses the parts of a pod's explanation that the pod object does not contain: the last log lines of failed
 * containers, and manifest problems.
 */
export function readPodExtras(response: unknown): PodExtras {
  const { pod, manifestProblems, manifestWarnings } = explanationSchema.parse(response);
  const logs = new Map(pod.children.flatMap(({ name, log }) => (log ? [[name, log] as const] : [])));
  return { logs, manifestProblems, manifestWarnings };
}

const answerSchema = z.looseObject({
  answer: z.string(),
  actor: z.optional(z.looseObject({ log: z.optional(logSchema) })),
});

/** Parses the summary sentence of an explanation and, for a container, the last lines of its log. */
export function readAnswerAndLog(response: unknown): { readonly answer: string; readonly log?: LogTail } {
  const { answer: sentence, actor } = answerSchema.parse(response);
  return { answer: sentence, ...(actor?.log ? { log: actor.log } : {}) };
}
