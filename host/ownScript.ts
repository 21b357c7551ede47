/** Where a script of this program lies that runs by itself, in a thread or a process. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The file of a script: in its folder among the sources, or in the bundle that was made of them. */
export function ownScript(folder: string, name: string): string {
  const source = join(folder, `${name}.ts`);
  if (existsSync(source)) return source;
  const beside = join(folder, `${name}.mjs`);
  // The bundle's parts lie one directory below it.
  return existsSync(beside) ? beside : join(dirname(folder), `${name}.mjs`);
}
