/**
 * Parses large manifests in a worker thread. The parent requests the results in batches so that neither side handles
 * too much data at once.
 */
import { parentPort } from 'node:worker_threads';
import { type ManifestText, parseAllManifests, type ReadManifest } from './manifestText.ts';

/** Content to parse, or a request for the next batch of results. */
export type ReadingTask = ManifestText | 'more';

/**
 * A batch of results, each a `ReadManifest` in JSON, because parsing JSON is faster than a structured clone. An empty
 * batch marks the end.
 */
export type ManifestBatch = readonly string[];

/** Number of characters after which a batch is sent. A single manifest may be longer. */
const BATCH_CHARACTERS = 32_768;

// Disable stack traces, because the traces of thousands of YAML errors are useless and would take most of the time.
Error.stackTraceLimit = 0;

let remainingManifests: Iterator<ReadManifest> = [].values();

parentPort?.on('message', (task: ReadingTask) => {
  if (task !== 'more') remainingManifests = parseAllManifests(task)[Symbol.iterator]();
  const batch: string[] = [];
  let length = 0;
  while (length < BATCH_CHARACTERS) {
    const { value, done } = remainingManifests.next();
    if (done) break;
    const manifestJson = JSON.stringify(value);
    batch.push(manifestJson);
    length += manifestJson.length;
  }
  parentPort?.postMessage(batch);
});
