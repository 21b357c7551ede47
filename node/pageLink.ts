/** The link to the page, where it holds a token: not for the log, which others read, but for whoever may read the file. */
import { mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Where it is kept below a root directory. */
const pageLinkPath = (rootDirectory: string): string => join(rootDirectory, 'statelet', 'page-link');

/** Keeps it for its owner alone; whatever was there before is replaced. Gives its place. */
export async function keepPageLink(rootDirectory: string, url: string): Promise<string> {
  const path = pageLinkPath(rootDirectory);
  await mkdir(dirname(path), { recursive: true, mode: 0o750 });
  await rm(path, { force: true });
  // Nobody else's file, and no link to one.
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(`${url}\n`);
  } finally {
    await handle.close();
  }
  return path;
}
