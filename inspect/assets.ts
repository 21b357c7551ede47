/** Reads the files of the inspection page from the output directory of the build. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../host/files/fileErrors.ts';

export interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
}

const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['css', 'text/css; charset=utf-8'],
  ['html', 'text/html; charset=utf-8'],
  ['js', 'text/javascript; charset=utf-8'],
  ['json', 'application/json'],
  ['svg', 'image/svg+xml'],
]);

/**
 * Matches names such as `page.js` and `charts/container.running.json`. Excludes hidden files and paths outside of the
 * directory.
 */
const FILE_NAME_PATTERN = /^(?:charts\/)?[A-Za-z][\w-]*(?:\.[\w-]+)*\.(css|html|js|json|svg)$/;

/** Reads a file of the page. Returns undefined if it does not exist. */
export async function readAsset(directory: string, name: string): Promise<Asset | undefined> {
  const extension = FILE_NAME_PATTERN.exec(name)?.[1];
  const type = CONTENT_TYPES.get(extension ?? '');
  if (type === undefined) return undefined;
  try {
    return { type, bytes: await readFile(join(directory, name)) };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Returns the page with its first snapshot embedded as JSON. Returns undefined if the page was not built. */
export async function readPage(directory: string, snapshot: string): Promise<Buffer | undefined> {
  const page = await readAsset(directory, 'page.html');
  // Escape `<`, because a string that contains `</script>` would otherwise end the script element. The result is valid
  // JSON, because `<` occurs only inside strings.
  const snapshotJson = snapshot.replaceAll('<', '\\u003c');
  return page && Buffer.from(page.bytes.toString('utf8').replace('<!--snapshot-->', () => snapshotJson));
}
