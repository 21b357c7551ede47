/** `statelet charts --open`: the page of all charts in the user's browser. It needs no node, and no server. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError } from '../node/config/configError.ts';
import { packageDirectory } from '../node/places.ts';
import { lookUp } from '../pod/lookUp.ts';

/** Where the page is looked for, and how the desktop is asked to open an address. */
export interface Desktop {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Rejects where nothing on this host can open it. */
  open(url: string): Promise<void>;
}

const ownDesktop: Desktop = {
  directory: join(packageDirectory(), 'dist', 'web'),
  environment: process.env,
  open: openByDesktop,
};

/** Says where the page is, and opens it where there is a desktop. */
export async function openCharts(
  { name, output }: { readonly name?: string; readonly output?: string },
  write: (text: string) => unknown,
  { directory, environment, open }: Desktop = ownDesktop,
): Promise<void> {
  if (output !== undefined) throw new ConfigError('--open and --output do not go together');
  const file = join(directory, 'charts.html');
  if (!existsSync(file))
    throw new ConfigError(`--open: ${file} does not exist, expected the built page: npm run build`);
  const url = `${pathToFileURL(file).href}${name === undefined ? '' : `#${encodeURIComponent(name)}`}`;
  write(`${url}\n`);
  const hasDesktop = ['DISPLAY', 'WAYLAND_DISPLAY'].some((each) => lookUp(environment, each));
  // Where nothing can open it, whoever reads the address can.
  if (hasDesktop) await open(url).catch(() => {});
}

/** Once it has begun it lives on without this process, and so does the browser that it begins. */
function openByDesktop(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('xdg-open', [url], { stdio: 'ignore', detached: true });
    child.unref();
    child.once('error', reject);
    child.once('spawn', resolve);
  });
}
