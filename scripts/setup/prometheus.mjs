import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root, say } from './places.mjs';
import { unpackPrograms } from './unpackPrograms.mjs';

const directory = join(root, '.cache/prometheus');

/**
 * Fetches the Prometheus of Debian that the tests scrape a node with: it is unpacked below .cache/prometheus and not
 * installed, so that the host runs none. What cannot be fetched is told; the test fails then.
 */
export async function fetchPrometheus() {
  if (['prometheus', 'promtool'].every((program) => existsSync(join(directory, program)))) return;
  say('fetching prometheus of bookworm');
  try {
    await unpackPrograms({ release: 'bookworm', name: 'prometheus', directory });
  } catch (error) {
    say(`prometheus could not be fetched: ${error.message}`);
  }
}
