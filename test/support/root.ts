import { dirname } from 'node:path';

/** The root directory of the repository. */
export const root = dirname(dirname(import.meta.dirname));
