/** The files of the page, as the build leaves them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../host/files/fileErrors.ts';

/** A file of the page. */
export interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ['css', 'text/css; charset=utf-8'],
  ['html', 'text/html; charset=utf-8'],
  ['js', 'text/javascript; charset=utf-8'],
  ['json', 'application/json'],
  ['svg', 'image/svg+xml'],
]);

/** `page.js`, `charts/container.running.json`: nothing that leads out of the directory, and nothing hidden. */
const NAME = /^(?:charts\/)?[A-Za-z][\w-]*(?:\.[\w-]+)*\.(css|html|js|json|svg)$/;

/** Undefined where there is no such file. */
export async function assetAt(directory: string, name: string): Promise<Asset | undefined> {
  const extension = NAME.exec(name)?.[1];
  const type = TYPES.get(extension ?? '');
  if (type === undefined) return undefined;
  try {
    return { type, bytes: await readFile(join(directory, name)) };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The page with the snapshot that it begins with, as JSON; undefined where it was not built. */
export async function pageWith(directory: string, snapshot: string): Promise<Buffer | undefined> {
  const page = await assetAt(directory, 'page.html');
  // In JSON a `<` can only be in a text, where this is the same; in HTML it cannot end the element then.
  const json = snapshot.replaceAll('<', '\\u003c');
  return page && Buffer.from(page.bytes.toString('utf8').replace('<!--snapshot-->', () => json));
}
