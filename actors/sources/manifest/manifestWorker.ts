/** The thread that reads large manifests. It is asked for each part of what it gives, so that nobody gets too much at once. */
import { parentPort } from 'node:worker_threads';
import { allManifestsIn, type ManifestText, type ReadManifest } from './manifestText.ts';

/** A text to read, or that more is wanted of the one that is being read. */
export type ReadingTask = ManifestText | 'more';

/** Some manifests of the text, each a `ReadManifest` in JSON, which is parsed faster than a copy is made; none: there are no more. */
export type ReadingNews = readonly string[];

/** One more manifest than this many characters at a time; one may have more by itself. */
const ENOUGH = 32_768;

// Nobody sees where in the parser one of thousands of errors was made, but it costs most of the time.
Error.stackTraceLimit = 0;

let rest: Iterator<ReadManifest> = [].values();

parentPort?.on('message', (task: ReadingTask) => {
  if (task !== 'more') rest = allManifestsIn(task)[Symbol.iterator]();
  const some: string[] = [];
  let length = 0;
  while (length < ENOUGH) {
    const { value, done } = rest.next();
    if (done) break;
    const json = JSON.stringify(value);
    some.push(json);
    length += json.length;
  }
  parentPort?.postMessage(some);
});
