import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { printProgress, root } from './places.mjs';
import { unpackPrograms } from './unpackPrograms.mjs';

const cacheDirectory = join(root, '.cache/prometheus');

/**
 * Downloads Debian's Prometheus, which a test uses to scrape a node, and unpacks it in .cache/prometheus without
 * installing it, so that no service starts. Reports a failure instead of throwing, because the test fails without
 * Prometheus anyway.
 */
export async function fetchPrometheus() {
  if (['prometheus', 'promtool'].every((program) => existsSync(join(cacheDirectory, program)))) return;
  printProgress('fetching prometheus of bookworm');
  try {
    await unpackPrograms({ release: 'bookworm', name: 'prometheus', directory: cacheDirectory });
  } catch (error) {
    printProgress(`prometheus could not be fetched: ${error.message}`);
  }
}
