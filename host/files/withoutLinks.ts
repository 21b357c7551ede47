import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** A path without symbolic links, as far as it exists. */
export function withoutLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path === dirname(path) ? path : join(withoutLinks(dirname(path)), basename(path));
  }
}
