/** Locates scripts of this program that run in a separate thread or process. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns the path of a script, which is next to the sources or in the bundle. */
export function scriptPath(folder: string, name: string): string {
  const source = join(folder, `${name}.ts`);
  if (existsSync(source)) return source;
  const bundledPath = join(folder, `${name}.mjs`);
  // If this code is in a chunk of the bundle, `folder` is a subdirectory, and the script is in its parent directory.
  return existsSync(bundledPath) ? bundledPath : join(dirname(folder), `${name}.mjs`);
}
