/** Opens pages in the user's browser if there is a desktop. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { lookUp } from '../../../base/values/lookUp.ts';

export interface Desktop {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Rejects if no program can open the URL. */
  open(url: string): Promise<void>;
}

/** Opens a URL that the command prints as well. Does nothing without a desktop. */
export async function openOnDesktop(
  url: string,
  { environment = process.env, open = runXdgOpen }: Partial<Desktop> = {},
): Promise<void> {
  const hasDesktop = ['DISPLAY', 'WAYLAND_DISPLAY'].some((each) => lookUp(environment, each));
  if (hasDesktop) await open(url).catch(() => {});
}

/**
 * Opens a link that contains a token. The browser opens an owner-only file that redirects to the link, because every
 * user of the host can read the command line of a process. The returned function removes the file.
 */
export async function openSecretLink(url: string, desktop: Partial<Desktop> = {}): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-link-'));
  const file = join(directory, 'page.html');
  // The URL needs no escaping, because a normalized URL contains no quotes.
  const html = `<!doctype html><meta http-equiv="refresh" content="0; url=${new URL(url).href}">\n`;
  await writeFile(file, html, { mode: 0o600 });
  await openOnDesktop(pathToFileURL(file).href, desktop);
  return () => rm(directory, { recursive: true, force: true });
}

/** Starts xdg-open detached, so that the browser outlives this process. */
function runXdgOpen(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('xdg-open', [url], { stdio: 'ignore', detached: true });
    child.unref();
    child.once('error', reject);
    child.once('spawn', resolve);
  });
}
