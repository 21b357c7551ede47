import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The directory of the package. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Path of the Node.js executable on which the package depends. */
export const node24 = join(root, 'node_modules/node/bin/node');

/** Prints a progress message to standard error. */
export function printProgress(line) {
  process.stderr.write(`statelet: ${line}\n`);
}
