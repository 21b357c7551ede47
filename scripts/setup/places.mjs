import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The directory of the package. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The Node that the package brings along. */
export const node24 = join(root, 'node_modules/node/bin/node');

/** Says in one line on standard error what is being done. */
export function say(line) {
  process.stderr.write(`statelet: ${line}\n`);
}
