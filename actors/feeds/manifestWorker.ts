/** The thread that reads large manifests: it posts them one by one, so that taking them in never takes long. */
import { parentPort } from 'node:worker_threads';
import { answerLimits, podLimits } from './manifestLimits.ts';
import { manifestsIn, type ReadManifest, refused, type TextKind, tooLarge } from './manifestText.ts';

/** A text to read; the thread reads one at a time. */
export interface ReadingTask {
  readonly text: string;
  readonly kind: TextKind;
}

/** A manifest of the text, or that there is no other one. */
export type ReadingNews = { readonly manifest: ReadManifest } | { readonly done: true };

// Nobody sees where in the parser one of thousands of errors was made, but it costs most of the time.
Error.stackTraceLimit = 0;

parentPort?.on('message', ({ text, kind }: ReadingTask) => {
  const read = manifestsIn(text, kind, kind === 'file' ? podLimits : answerLimits);
  const { manifests } = 'beyond' in read ? refused(tooLarge(read.beyond)) : read;
  const tell = (news: ReadingNews) => parentPort?.postMessage(news);
  for (const manifest of manifests) tell({ manifest });
  tell({ done: true });
});
